// Delta-stepping: buckets of distances are settled in increasing order, each by all cores.
//
//   while some bucket is not empty
//     take the nearest bucket, and relax the arcs of its vertices on all cores;
//     vertices that get nearer go into buckets of the thread that relaxed them;
//     those that go into the current bucket are relaxed by the same thread at once (bucket fusion),
//     so that threads synchronise once per bucket and not once per round;
//   while buckets are small, one thread settles them without synchronisation.
//
// An entry holds the distance that it was entered with. It is stale, and dropped, once the vertex
// has a smaller one, so no vertex is relaxed twice at the same distance. Buckets are never copied:
// threads take pieces of one another's.
//
// U. Meyer and P. Sanders, "Delta-stepping: a parallelizable shortest path algorithm", 2003.
// Y. Zhang et al., "Optimizing ordered graph algorithms with GraphIt", 2020 (bucket fusion).
#pragma once

#include <algorithm>
#include <atomic>
#include <limits>
#include <memory>
#include <vector>

#include "parallel/helper_team.hpp"
#include "sssp/buckets.hpp"
#include "sssp/sssp.hpp"
#include "sssp/tentative_distances.hpp"

namespace kleene::sssp {

template <class Id, class Value>
class DeltaStepping {
 public:
  DeltaStepping(const Problem<Id, Value>& problem, int threads, double width)
      : arcs_(problem.outgoing),
        lengths_(problem.lengths),
        width_(width),
        threads_(threads),
        many_arcs_(problem.outgoing.count() >= 8 * problem.outgoing.n),
        buckets_(static_cast<std::size_t>(threads)),
        frontiers_(static_cast<std::size_t>(threads)),
        cursors_(static_cast<std::size_t>(threads)) {}

  Value search(const Problem<Id, Value>& problem, ResultRow<Id, Value> row,
               CancelCheck check_cancelled, Monitor& monitor) {
    begin(problem, row);
    if (advance_alone(check_cancelled)) {
      HelperTeam helpers(threads_, monitor);
      helpers.run([&] {
        do {
          helpers.share([&](int thread) { relax_bucket(thread, CancelCheck(monitor, thread)); });
        } while (advance_alone(check_cancelled));
      });
    }
    return finish(problem.stop, row);
  }

 private:
  using Item = Entry<Id, Value>;
  using Items = std::vector<Item>;

  struct alignas(64) Cursor {
    std::atomic<std::size_t> next{0};
  };

  // Tuning; measured on two Sapphire Rapids cores.
  static constexpr std::size_t kLarge = 256;       // entries worth sharing,
  static constexpr std::int64_t kManyArcs = 8192;  // or arcs
  static constexpr std::size_t kFused = 1024;      // more entries than this go back to be shared
  static constexpr std::size_t kPiece = 64;        // entries a thread takes at a time, at most
  static constexpr std::size_t kAhead = 4;         // entries between two steps of prefetching
  static constexpr std::int64_t kAheadArcs = 16;   // arcs

  void begin(const Problem<Id, Value>& problem, ResultRow<Id, Value> row) {
    for (auto& own : buckets_) own.clear();
    distances_ = TentativeDistances<Id, Value>(row);
    limit_ = problem.stop.limit;
    has_targets_ = problem.stop.targets != nullptr;
    pending_.assign(problem.stop.targets, problem.stop.targets + problem.stop.target_count);
    pending_.push_back(problem.source);
    scale_ = BucketScale<Value>(0, width_);
    current_ = 0;
    row.distances[problem.source] = 0;
    buckets_[0].slots[0].push_back({0, problem.source});
  }

  // ---- one bucket, all threads ----------------------------------------------------------------

  void relax_bucket(int thread, CancelCheck check_cancelled) {
    relax_shared(thread, check_cancelled);
    relax_own<true>(buckets_[thread], kFused, check_cancelled);
  }

  // Takes pieces of the shared bucket: first of this thread's part, then of the others'.
  void relax_shared(int thread, CancelCheck& check_cancelled) {
    for (int turn = 0; turn < threads_; ++turn) {
      const int whose = (thread + turn) % threads_;
      const Items& part = frontiers_[whose];
      for (;;) {
        const std::size_t at = cursors_[whose].next.fetch_add(piece_, std::memory_order_relaxed);
        if (at >= part.size()) break;
        relax_all<true>(part.data() + at, std::min(piece_, part.size() - at), buckets_[thread]);
        check_cancelled();
      }
    }
  }

  // Relaxes what this thread itself has put into the current bucket, unless it becomes too much.
  template <bool kShared>
  void relax_own(Buckets<Id, Value>& own, std::size_t most, CancelCheck& check_cancelled) {
    Items& entries = own.slots[current_];
    std::size_t at = 0;
    while (at < entries.size() && entries.size() - at <= most) {
      Item piece[kPiece];  // a copy: relaxing may grow `entries` and move it
      const std::size_t count = std::min(kPiece, entries.size() - at);
      std::copy_n(entries.data() + at, count, piece);
      at += count;
      relax_all<kShared>(piece, count, own);
      check_cancelled();
    }
    entries.erase(entries.begin(), entries.begin() + static_cast<std::ptrdiff_t>(at));
  }

  // ---- steps ----------------------------------------------------------------------------------

  // Almost all time is spent waiting for memory, and a mispredicted branch on whether an arc
  // shortens a path ends out-of-order prefetching. So memory is prefetched in three steps: the
  // offsets of a vertex, its arcs, the distances of their heads. The last does not pay for vertices
  // of few arcs, as in road networks and grids, whose heads are near in memory.
  template <bool kShared>
  void relax_all(const Item* items, std::size_t count, Buckets<Id, Value>& target) {
    for (std::size_t i = 0; i < std::min(2 * kAhead, count); ++i) prefetch_offsets(items[i]);
    for (std::size_t i = 0; i < std::min(kAhead, count); ++i) prefetch_arcs(items[i]);
    for (std::size_t i = 0; i < count; ++i) {
      if (i + 3 * kAhead < count) prefetch_offsets(items[i + 3 * kAhead]);
      if (i + 2 * kAhead < count) prefetch_arcs(items[i + 2 * kAhead]);
      if (many_arcs_ && i + kAhead < count) prefetch_heads(items[i + kAhead]);
      relax<kShared>(items[i], target);
    }
  }

  void prefetch_offsets(const Item& item) const {
    __builtin_prefetch(&arcs_.offsets[item.vertex]);
    distances_.prefetch(item.vertex);
  }

  void prefetch_arcs(const Item& item) const {
    const std::int64_t arc = arcs_.offsets[item.vertex];
    __builtin_prefetch(&arcs_.neighbors[arc]);
    __builtin_prefetch(&lengths_[arc]);
  }

  void prefetch_heads(const Item& item) const {
    if (item.distance != distances_.distance(item.vertex)) return;
    const std::int64_t begin = arcs_.offsets[item.vertex];
    const std::int64_t end = std::min(arcs_.offsets[item.vertex + 1], begin + kAheadArcs);
    for (std::int64_t i = begin; i < end; ++i) distances_.prefetch(arcs_.neighbors[i]);
  }

  template <bool kShared>
  void relax(const Item& item, Buckets<Id, Value>& target) {
    if (item.distance != distances_.distance(item.vertex)) return;
    const std::int64_t end = arcs_.offsets[item.vertex + 1];
    for (std::int64_t i = arcs_.offsets[item.vertex]; i < end; ++i) {
      if (i + kAheadArcs < end) distances_.prefetch(arcs_.neighbors[i + kAheadArcs]);
      const Id v = arcs_.neighbors[i];
      const Value through = item.distance + lengths_[i];
      if (!(through < distances_.distance(v)) || through > limit_) continue;
      if (!distances_.template lower<kShared>(v, through, item.vertex)) continue;
      target.slots[scale_.slot(through)].push_back({through, v});
    }
  }

  // ---- one thread, between buckets ------------------------------------------------------------

  // Settles buckets while one thread is enough. True when there is a bucket to share, false when
  // all are settled.
  bool advance_alone(CancelCheck& check_cancelled) {
    for (;;) {
      int next = kSlots;
      for (const auto& own : buckets_) next = std::min(next, own.first(current_));
      current_ = next;
      if (targets_settled()) return false;
      if (current_ == kSlots) {
        if (!move_window()) return false;
      } else if (threads_ > 1 && is_large()) {
        share();
        return true;
      } else {
        settle_alone(check_cancelled);
      }
    }
  }

  void settle_alone(CancelCheck& check_cancelled) {
    for (int thread = 1; thread < threads_; ++thread) {
      Items& entries = buckets_[thread].slots[current_];
      relax_all<false>(entries.data(), entries.size(), buckets_[0]);
      entries.clear();
    }
    const bool others = threads_ > 1;
    constexpr std::size_t kAny = std::numeric_limits<std::size_t>::max();
    relax_own<false>(buckets_[0], others ? kFused : kAny, check_cancelled);
  }

  bool is_large() const {
    std::size_t entries = 0;
    for (const auto& own : buckets_) entries += own.slots[current_].size();
    if (entries >= kLarge) return true;
    std::int64_t work = 0;
    for (const auto& own : buckets_) {
      for (const Item& item : own.slots[current_]) work += arcs_.degree(item.vertex);
    }
    return entries > 1 && work >= kManyArcs;
  }

  void share() {
    std::size_t entries = 0;
    for (int thread = 0; thread < threads_; ++thread) {
      frontiers_[thread].clear();
      frontiers_[thread].swap(buckets_[thread].slots[current_]);
      cursors_[thread].next.store(0, std::memory_order_relaxed);
      entries += frontiers_[thread].size();
    }
    const std::size_t even = entries / (8 * static_cast<std::size_t>(threads_));
    piece_ = std::clamp<std::size_t>(even, 1, kPiece);
  }

  // The window is empty: moves it to the nearest of the far entries, and widens its slots when too
  // few of them would fit. False when there are none.
  bool move_window() {
    Items far;
    for (auto& own : buckets_) {
      for (const Item& item : own.far()) {
        if (item.distance == distances_.distance(item.vertex)) far.push_back(item);
      }
      own.far().clear();
    }
    if (far.empty()) return false;
    const auto nearer = [](const Item& a, const Item& b) { return a.distance < b.distance; };
    const auto quarter = far.begin() + static_cast<std::ptrdiff_t>(far.size() / 4);
    std::nth_element(far.begin(), quarter, far.end(), nearer);
    const Value base = std::min_element(far.begin(), quarter + 1, nearer)->distance;
    const double reach = static_cast<double>(quarter->distance) - static_cast<double>(base);
    scale_ = BucketScale<Value>(base, std::max(width_, 2 * reach / kSlots));
    current_ = 0;
    for (const Item& item : far) buckets_[0].slots[scale_.slot(item.distance)].push_back(item);
    return true;
  }

  // Are all targets settled? Everything before the current bucket is.
  bool targets_settled() {
    while (!pending_.empty()) {
      const Value distance = distances_.distance(pending_.back());
      if (distance == kNoPath<Value> || !scale_.before(distance, current_)) return false;
      pending_.pop_back();
    }
    return has_targets_;
  }

  Value finish(const StopCondition<Id, Value>& stop, ResultRow<Id, Value> row) const {
    if (!has_targets_ || !pending_.empty()) return stop.limit;
    Value horizon = 0;
    for (std::int64_t i = 0; i < stop.target_count; ++i) {
      horizon = std::max(horizon, row.distances[stop.targets[i]]);
    }
    cut_beyond(horizon, arcs_.n, row);
    return horizon;
  }

  const Arcs<Id> arcs_;
  const Value* const lengths_;
  const double width_;
  const int threads_;
  const bool many_arcs_;
  std::vector<Buckets<Id, Value>> buckets_;  // by the thread that fills them
  std::vector<Items> frontiers_;             // the bucket that is being shared, by thread
  std::vector<Cursor> cursors_;              // how much of it threads have taken
  std::size_t piece_ = 1;
  TentativeDistances<Id, Value> distances_{{}};
  BucketScale<Value> scale_{0, 1.0};
  int current_ = 0;  // bucket
  Value limit_ = 0;
  bool has_targets_ = false;
  std::vector<Id> pending_;  // targets that may not be settled yet
};

}  // namespace kleene::sssp
