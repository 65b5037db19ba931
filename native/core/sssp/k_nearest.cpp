// The k nearest of some facilities for every vertex, and how far they are.
//
// Every vertex keeps up to k labels (distance, facility), no two of the same facility, ordered by
// distance and then by the order of the facilities. A label that enters a vertex is passed on along
// the vertex's arcs; one that is pushed out need not be, since the k before it stay before it. So
// the work is that of k searches, however many facilities there are.
//
// Labels wait in buckets of distances, as in delta-stepping (Meyer and Sanders 2003). A round has
// two steps on all cores: drop the labels of the bucket that were pushed out in the meantime; pass
// on the others. What enters during a round is passed on in a later one, and to keep the first k of
// a set does not depend on the order in which they come: so neither does the answer, not even where
// rounding makes two distances equal.
//
// The nearest facility alone follows from the distances to it, by any search: `nearest_owners`.
//
// U. Meyer and P. Sanders, "Delta-stepping: a parallelizable shortest path algorithm", 2003.
#include <algorithm>
#include <atomic>
#include <memory>
#include <vector>

#include "parallel/team.hpp"
#include "sssp/buckets.hpp"
#include "sssp/delta_stepping.hpp"
#include "sssp/near.hpp"

namespace kleene::sssp {
namespace {

// The lists of labels, which several threads add to.
template <class Id, class Value>
class LabelLists {
 public:
  LabelLists(const Labels<Id, Value>& labels, std::int64_t n)
      : labels_(labels),
        locks_(std::make_unique<std::atomic<bool>[]>(static_cast<std::size_t>(n))) {}

  // Adds a label to a vertex; false if it does not belong to the first k, or its facility is there
  // already and not farther. May be called by all threads at once.
  bool add(Id v, Value distance, Id facility) {
    const std::int64_t k = labels_.k;
    Value* const distances = labels_.distances + v * k;
    // The last distance never rises: what is beyond it now will be.
    if (distance > std::atomic_ref(distances[k - 1]).load(std::memory_order_relaxed)) return false;
    const Lock lock(locks_[v]);
    Id* const facilities = labels_.facilities + v * k;
    const std::int64_t old = std::find(facilities, facilities + k, facility) - facilities;
    if (old < k && !(distance < distances[old])) return false;
    std::int64_t at = std::min(old, k - 1);  // of the label that makes room
    if (old == k && !is_before(distance, facility, distances[at], facilities[at])) return false;
    for (; at > 0 && is_before(distance, facility, distances[at - 1], facilities[at - 1]); --at) {
      store(distances[at], distances[at - 1]);
      facilities[at] = facilities[at - 1];
    }
    store(distances[at], distance);
    facilities[at] = facility;
    return true;
  }

  void prefetch(Id v) const {
    __builtin_prefetch(&labels_.distances[(v + 1) * labels_.k - 1]);
    __builtin_prefetch(&labels_.facilities[v * labels_.k]);
    __builtin_prefetch(&locks_[v]);
  }

  // Is this label still there? Not while other threads add.
  bool holds(Id v, Value distance, Id facility) const {
    const Id* const facilities = labels_.facilities + v * labels_.k;
    const std::int64_t at = std::find(facilities, facilities + labels_.k, facility) - facilities;
    return at < labels_.k && labels_.distances[v * labels_.k + at] == distance;
  }

 private:
  class Lock {
   public:
    explicit Lock(std::atomic<bool>& held) : held_(held) {
      while (held_.exchange(true, std::memory_order_acquire)) yield_core();
    }
    ~Lock() { held_.store(false, std::memory_order_release); }
    Lock(const Lock&) = delete;
    Lock& operator=(const Lock&) = delete;

   private:
    std::atomic<bool>& held_;
  };

  static bool is_before(Value distance, Id facility, Value other_distance, Id other_facility) {
    return distance < other_distance || (distance == other_distance && facility < other_facility);
  }

  static void store(Value& place, Value value) {
    std::atomic_ref(place).store(value, std::memory_order_relaxed);
  }

  const Labels<Id, Value> labels_;
  const std::unique_ptr<std::atomic<bool>[]> locks_;  // one per vertex
};

template <class Id, class Value>
class KNearest {
 public:
  KNearest(const Arcs<Id>& arcs, const Value* lengths, Value limit, const Labels<Id, Value>& labels,
           int threads)
      : arcs_(arcs),
        lengths_(lengths),
        limit_(limit),
        width_(delta_width(arcs, lengths ? mean_length(arcs, lengths) : 1.0)),
        lists_(labels, arcs.n),
        buckets_(static_cast<std::size_t>(threads)) {
    for (auto& own : buckets_) own.make();
  }

  void search(const Facilities<Id>& facilities, int threads, Monitor& monitor) {
    for (std::int64_t i = 0; i < facilities.count; ++i) {
      enter(facilities.vertices[i], 0, static_cast<Id>(i), buckets_[0]);
    }
    run_team(threads, monitor, [&](Team::Worker& worker) {
      for (;;) {
        if (worker.is_leader()) advance_alone(worker, monitor);
        worker.barrier();
        if (frontier_.empty()) return;
        const auto size = static_cast<std::int64_t>(frontier_.size());
        worker.loop(size, kGrain,
                    [&](std::int64_t begin, std::int64_t end) { drop_if_gone(begin, end); });
        auto& own = buckets_[static_cast<std::size_t>(worker.thread())];
        worker.loop(size, kGrain,
                    [&](std::int64_t begin, std::int64_t end) { pass_on(begin, end, own); });
      }
    });
  }

 private:
  struct Place {
    Id vertex;
    Id facility;  // kDropped once the vertex has no such label any more
  };
  using Item = Entry<Place, Value>;
  using Items = std::vector<Item>;

  static constexpr Id kDropped = -1;
  static constexpr std::int64_t kGrain = 128;  // labels
  static constexpr std::size_t kLarge = 512;   // labels worth sharing
  static constexpr std::int64_t kAhead = 4;    // labels between two steps of prefetching
  static constexpr std::int64_t kAheadArcs = 16;

  // ---- steps of a round ------------------------------------------------------------------------

  // Labels lie all over the graph, and almost all time is spent waiting for memory: that of labels
  // to come is prefetched.
  void drop_if_gone(std::int64_t begin, std::int64_t end) {
    for (std::int64_t i = begin; i < end; ++i) {
      if (i + kAhead < end) lists_.prefetch(at(i + kAhead).vertex.vertex);
      drop_if_gone(at(i));
    }
  }

  void pass_on(std::int64_t begin, std::int64_t end, Buckets<Place, Value>& own) {
    for (std::int64_t i = begin; i < end; ++i) {
      if (i + 3 * kAhead < end) prefetch_offsets(at(i + 3 * kAhead));
      if (i + 2 * kAhead < end) prefetch_arcs(at(i + 2 * kAhead));
      if (i + kAhead < end) prefetch_heads(at(i + kAhead));
      pass_on(at(i), own);
    }
  }

  Item& at(std::int64_t i) { return frontier_[static_cast<std::size_t>(i)]; }

  void prefetch_offsets(const Item& item) const {
    __builtin_prefetch(&arcs_.offsets[item.vertex.vertex]);
  }

  void prefetch_arcs(const Item& item) const {
    const std::int64_t arc = arcs_.offsets[item.vertex.vertex];
    __builtin_prefetch(&arcs_.neighbors[arc]);
    if (lengths_) __builtin_prefetch(&lengths_[arc]);
  }

  void prefetch_heads(const Item& item) const {
    const std::int64_t begin = arcs_.offsets[item.vertex.vertex];
    const std::int64_t end = std::min(arcs_.offsets[item.vertex.vertex + 1], begin + kAheadArcs);
    for (std::int64_t i = begin; i < end; ++i) lists_.prefetch(arcs_.neighbors[i]);
  }

  void drop_if_gone(Item& item) const {
    const auto [vertex, facility] = item.vertex;
    if (!lists_.holds(vertex, item.distance, facility)) item.vertex.facility = kDropped;
  }

  void pass_on(const Item& item, Buckets<Place, Value>& own) {
    const auto [vertex, facility] = item.vertex;
    if (facility == kDropped) return;
    for (std::int64_t i = arcs_.offsets[vertex]; i < arcs_.offsets[vertex + 1]; ++i) {
      const Value through = item.distance + (lengths_ ? lengths_[i] : Value{1});
      if (!(through > limit_)) enter(arcs_.neighbors[i], through, facility, own);
    }
  }

  void enter(Id v, Value distance, Id facility, Buckets<Place, Value>& own) {
    if (lists_.add(v, distance, facility)) {
      own.slots[static_cast<std::size_t>(scale_.slot(distance))].push_back(
          {distance, {v, facility}});
    }
  }

  // ---- between shared rounds, one thread -------------------------------------------------------

  // Does the rounds of few labels alone, until one is worth sharing or nothing is left.
  void advance_alone(Team::Worker& worker, Monitor& monitor) {
    for (gather(); !frontier_.empty() && frontier_.size() < kLarge; gather()) {
      const auto size = static_cast<std::int64_t>(frontier_.size());
      drop_if_gone(0, size);
      pass_on(0, size, buckets_[0]);
      monitor.advance(frontier_.size());
      worker.poll(size);
    }
    monitor.advance(frontier_.size());
  }

  // Collects the nearest bucket of all threads; nothing is left when it is empty.
  void gather() {
    frontier_.clear();
    for (;;) {
      int next = kSlots;
      for (const auto& own : buckets_) next = std::min(next, own.first(current_));
      current_ = next;
      if (current_ < kSlots) break;
      if (!move_window()) return;
    }
    for (auto& own : buckets_) {
      Items& items = own.slots[static_cast<std::size_t>(current_)];
      frontier_.insert(frontier_.end(), items.begin(), items.end());
      items.clear();
    }
  }

  // The window is empty: moves it to the nearest of the far labels; false when there are none.
  bool move_window() {
    Items far;
    for (auto& own : buckets_) {
      for (const Item& item : own.far()) {
        if (lists_.holds(item.vertex.vertex, item.distance, item.vertex.facility)) {
          far.push_back(item);
        }
      }
      own.far().clear();
    }
    if (far.empty()) return false;
    const auto quarter = far.begin() + static_cast<std::ptrdiff_t>(far.size() / 4);
    std::nth_element(far.begin(), quarter, far.end(), ByDistance{});
    const Value base = std::min_element(far.begin(), quarter + 1, ByDistance{})->distance;
    const double reach = static_cast<double>(quarter->distance) - static_cast<double>(base);
    scale_ = BucketScale<Value>(base, std::max(width_, 2 * reach / kSlots));
    current_ = 0;
    for (const Item& item : far) {
      buckets_[0].slots[static_cast<std::size_t>(scale_.slot(item.distance))].push_back(item);
    }
    return true;
  }

  const Arcs<Id> arcs_;
  const Value* const lengths_;
  const Value limit_;
  const double width_;
  LabelLists<Id, Value> lists_;
  std::vector<Buckets<Place, Value>> buckets_;  // by the thread that fills them
  Items frontier_;                              // the labels of this round
  BucketScale<Value> scale_{0, width_};
  int current_ = 0;  // bucket
};

}  // namespace

template <class Id, class Value>
void k_nearest(const Arcs<Id>& arcs, const Value* lengths, const Facilities<Id>& facilities,
               Value limit, const Labels<Id, Value>& labels, int threads, Monitor& monitor) {
  if (arcs.n == 0 || labels.k == 0) return;
  KNearest<Id, Value>(arcs, lengths, limit, labels, threads).search(facilities, threads, monitor);
}

template <class Id, class Value>
void nearest_owners(const Arcs<Id>& arcs, const Value* lengths, const Facilities<Id>& facilities,
                    const Value* distances, Id* owners, Monitor& monitor) {
  constexpr std::uint64_t kPollEvery = 1024;  // vertices
  std::uint64_t steps = 0;
  std::vector<Id> pending;
  for (std::int64_t i = 0; i < facilities.count; ++i) {
    const auto owner = static_cast<Id>(i);
    const auto claim = [&](Id v) {
      owners[v] = owner;
      pending.push_back(v);
    };
    if (owners[facilities.vertices[i]] < 0) claim(facilities.vertices[i]);
    while (!pending.empty()) {
      const Id u = pending.back();
      pending.pop_back();
      if (++steps % kPollEvery == 0) monitor.poll();
      for (std::int64_t arc = arcs.offsets[u]; arc < arcs.offsets[u + 1]; ++arc) {
        const Id v = arcs.neighbors[arc];
        if (owners[v] >= 0 || distances[v] == kNoPath<Value>) continue;
        const Value length = lengths ? lengths[arc] : Value{1};
        if (static_cast<Value>(distances[u] + length) == distances[v]) claim(v);
      }
    }
  }
}

#define KLEENE_K_NEAREST(Id, Value)                                                                \
  template void k_nearest(const Arcs<Id>&, const Value*, const Facilities<Id>&, Value,             \
                          const Labels<Id, Value>&, int, Monitor&);                                \
  template void nearest_owners(const Arcs<Id>&, const Value*, const Facilities<Id>&, const Value*, \
                               Id*, Monitor&);
#define KLEENE_K_NEAREST_OF(Id)      \
  KLEENE_K_NEAREST(Id, std::int32_t) \
  KLEENE_K_NEAREST(Id, std::int64_t) \
  KLEENE_K_NEAREST(Id, float)        \
  KLEENE_K_NEAREST(Id, double)
KLEENE_K_NEAREST_OF(std::int32_t)
KLEENE_K_NEAREST_OF(std::int64_t)

}  // namespace kleene::sssp
