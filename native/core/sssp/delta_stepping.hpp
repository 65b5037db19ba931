// Delta-stepping: buckets of distances are settled in increasing order, by all cores.
//
//   while some bucket is not empty
//     take the nearest bucket, and relax the arcs of its vertices on all cores;
//     vertices that get nearer go into buckets of the thread that relaxed them;
//     those that go into the nearest buckets (the span) are relaxed by the same thread, bucket by
//     bucket, so that threads synchronise once per span and not once per round (bucket fusion);
//   while buckets hold little, few threads take part, or one, without synchronisation.
//
// Narrow buckets keep the order of distances, and with it the number of relaxations small; wide
// spans keep threads busy. So the width of a bucket follows from the graph, and the span from how
// full buckets are and how many threads there are. A thread that works on what it found itself
// stays in its part of the graph, so a wide span costs few relaxations more (highways, two threads,
// 261 synchronisations instead of 1,500: 1.5 %).
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

#include "parallel/stealable_range.hpp"
#include "parallel/team.hpp"
#include "sssp/buckets.hpp"
#include "sssp/lane_search.hpp"
#include "sssp/sources.hpp"
#include "sssp/sssp.hpp"
#include "sssp/tentative_distances.hpp"
#include "sssp/tuning.hpp"

namespace kleene::sssp {

// ---- relaxing the arcs of entries ---------------------------------------------------------------
//
// Almost all time is spent waiting for memory, and a mispredicted branch on whether an arc shortens
// a path ends out-of-order prefetching. So memory is prefetched in three steps: the offsets of a
// vertex, its arcs, the distances of their heads. The last does not pay for vertices of few arcs,
// as in road networks and grids, whose heads are near in memory.

template <class Id, class Value>
class Relaxation {
 public:
  using Item = Entry<Id, Value>;

  Relaxation(const Problem<Id, Value>& problem)
      : arcs_(problem.outgoing),
        lengths_(problem.lengths),
        // untestable: only how it prefetches and shares
        many_arcs_(problem.outgoing.count() >= 8 * problem.outgoing.n) {}

  void begin(const Problem<Id, Value>& problem, ResultRow<Id, Value> row) {
    distances_ = TentativeDistances<Id, Value>(row);
    limit_ = problem.stop.limit;
  }

  // Do vertices have many arcs, on average?
  bool many_arcs() const { return many_arcs_; }
  std::int64_t degree(Id v) const { return arcs_.degree(v); }
  Value distance(Id v) const { return distances_.distance(v); }

  // An entry is stale once its vertex is nearer.
  bool is_stale(const Item& item) const {
    return item.distance != distances_.distance(item.vertex);
  }

  // Relaxes the arcs of all items that are not stale, and puts vertices that got nearer into the
  // buckets. `kShared` says whether other threads do the same.
  template <bool kShared>
  void relax(const Item* items, std::size_t count, const BucketScale<Value>& scale,
             Buckets<Id, Value>& target) {
    for (std::size_t i = 0; i < std::min(2 * kAhead, count); ++i) prefetch_offsets(items[i]);
    for (std::size_t i = 0; i < std::min(kAhead, count); ++i) prefetch_arcs(items[i]);
    for (std::size_t i = 0; i < count; ++i) {
      if (i + 3 * kAhead < count) prefetch_offsets(items[i + 3 * kAhead]);
      if (i + 2 * kAhead < count) prefetch_arcs(items[i + 2 * kAhead]);
      if (many_arcs_ && i + kAhead < count) prefetch_heads(items[i + kAhead]);
      relax_one<kShared>(items[i], scale, target);
    }
  }

 private:
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
    if (is_stale(item)) return;  // untestable: a prefetch is a hint
    const std::int64_t begin = arcs_.offsets[item.vertex];
    const std::int64_t end = std::min(arcs_.offsets[item.vertex + 1], begin + kAheadArcs);
    for (std::int64_t i = begin; i < end; ++i) distances_.prefetch(arcs_.neighbors[i]);
  }

  template <bool kShared>
  void relax_one(const Item& item, const BucketScale<Value>& scale, Buckets<Id, Value>& target) {
    if (is_stale(item)) return;
    const std::int64_t end = arcs_.offsets[item.vertex + 1];
    for (std::int64_t i = arcs_.offsets[item.vertex]; i < end; ++i) {
      if (i + kAheadArcs < end) distances_.prefetch(arcs_.neighbors[i + kAheadArcs]);
      const Id v = arcs_.neighbors[i];
      const Value through = item.distance + lengths_[i];
      // untestable (< to <=): lower() compares again, strictly
      if (!(through < distances_.distance(v)) || through > limit_) continue;
      if (!distances_.template lower<kShared>(v, through, item.vertex)) continue;
      target.slots[scale.slot(through)].push_back({through, v});
    }
  }

  const Arcs<Id> arcs_;
  const Value* const lengths_;
  const bool many_arcs_;
  TentativeDistances<Id, Value> distances_{{}};
  Value limit_ = 0;
};

// ---- one search ---------------------------------------------------------------------------------

template <class Id, class Value>
class DeltaStepping {
 public:
  DeltaStepping(const Problem<Id, Value>& problem, int threads, double width)
      : relaxation_(problem),
        width_(width),
        slots_(relaxation_.many_arcs() ? kSlots : kFewSlots),
        threads_(threads),
        parts_(static_cast<std::size_t>(threads)) {}

  Value search(const Problem<Id, Value>& problem, ResultRow<Id, Value> row,
               CancelCheck check_cancelled, Monitor& monitor) {
    begin(problem, row);
    HelperTeam helpers(threads_, monitor);
    while (find_bucket()) {
      const int threads = steer();
      if (threads == 1) {
        settle_alone(check_cancelled);
      } else {
        share(threads);
        helpers.share(threads, [&](int thread) { settle(thread, CancelCheck(monitor, thread)); });
      }
    }
    return finish(problem, row);
  }

 private:
  using Item = Entry<Id, Value>;
  using Items = std::vector<Item>;

  // What one thread fills. The leader reads it between rounds; others take pieces of the frontier.
  struct alignas(64) Part {
    int first = kSlots;        // no bucket before this one has entries; kSlots is the far pile
    std::int64_t relaxed = 0;  // entries, since the nearest bucket changed
    Buckets<Id, Value> buckets;
    alignas(64) Items frontier;  // of the bucket that is shared
    StealableRange left;         // of the frontier

    // In the nearest bucket of all.
    std::int64_t entries(int nearest) const {
      return first == nearest ? static_cast<std::int64_t>(buckets.slots[nearest].size()) : 0;
    }
  };

  void begin(const Problem<Id, Value>& problem, ResultRow<Id, Value> row) {
    for (Part& part : parts_) {
      part.buckets.clear();
      part.first = kSlots;
      part.relaxed = 0;
    }
    relaxation_.begin(problem, row);
    has_targets_ = problem.stop.targets != nullptr;
    pending_.assign(problem.stop.targets, problem.stop.targets + problem.stop.target_count);
    pending_.push_back(problem.source);
    scale_ = BucketScale<Value>(0, width_, slots_);
    current_ = 0;
    fill_ = 0;
    row.distances[problem.source] = 0;
    parts_[0].buckets.make();
    parts_[0].buckets.slots[0].push_back({0, problem.source});
    parts_[0].first = 0;
  }

  // ---- the buckets of the span, several threads -----------------------------------------------

  // What a thread has found itself is in its cache, and so is much of what that leads to. So a
  // thread helps others only when it has nothing left of its own.
  void settle(int thread, CancelCheck check_cancelled) {
    Part& own = parts_[thread];
    own.buckets.make();
    relax_pieces(own, own, check_cancelled, [&] { return own.left.take(piece_); });
    relax_span(own, check_cancelled);
    // untestable (< to <=): its own part again, which is empty by then
    for (int turn = 1; turn < threads_; ++turn) {
      Part& other = parts_[(thread + turn) % threads_];
      relax_pieces(other, own, check_cancelled, [&] {
        relax_span(own, check_cancelled);
        return other.left.steal(wanted_, piece_, 1);
      });
    }
    own.first = own.buckets.first(current_);
    waiting_.fetch_add(1, std::memory_order_relaxed);
  }

  // Relaxes pieces of a part of the shared bucket, as long as take() finds any.
  template <class Take>
  void relax_pieces(const Part& part, Part& own, CancelCheck& check_cancelled, Take&& take) {
    for (StealableRange::Piece piece; !(piece = take()).empty();) {
      relax<true>(part.frontier.data() + piece.begin, piece.end - piece.begin, own);
      check_cancelled();
    }
  }

  // Relaxes what this thread has put into the buckets of the span, in order. Ends when others wait
  // for work and there is enough to share.
  void relax_span(Part& own, CancelCheck& check_cancelled) {
    const int end = std::min(current_ + span_, kSlots);
    for (int slot = current_; slot < end; ++slot) {
      const auto entries = static_cast<std::int64_t>(own.buckets.slots[slot].size());
      if (entries == 0) continue;
      const bool others_wait = 2 * waiting_.load(std::memory_order_relaxed) >= wanted_;
      if (slot > current_ && entries >= kWorthSharing && others_wait) break;
      relax_own<true>(own, slot, kFused, check_cancelled);
      if (!own.buckets.slots[slot].empty()) break;
    }
  }

  // Relaxes what this thread itself has put into a bucket, unless it becomes too much.
  template <bool kShared>
  void relax_own(Part& own, int slot, std::size_t most, CancelCheck& check_cancelled) {
    Items& entries = own.buckets.slots[slot];
    std::size_t at = 0;
    // untestable (<= to <): how much goes back to be shared
    while (at < entries.size() && entries.size() - at <= most) {
      Item piece[kPiece];  // a copy: relaxing may grow `entries` and move it
      const std::size_t count = std::min(kPiece, entries.size() - at);
      std::copy_n(entries.data() + at, count, piece);
      at += count;
      relax<kShared>(piece, count, own);
      check_cancelled();
    }
    entries.erase(entries.begin(), entries.begin() + static_cast<std::ptrdiff_t>(at));
  }

  template <bool kShared>
  void relax(const Item* items, std::size_t count, Part& own) {
    own.relaxed += static_cast<std::int64_t>(count);
    relaxation_.template relax<kShared>(items, count, scale_, own.buckets);
  }

  // ---- one thread, between buckets ------------------------------------------------------------

  // Finds the nearest bucket; false when all are settled.
  bool find_bucket() {
    const int before = current_;
    std::int64_t relaxed = 0;
    current_ = kSlots;
    for (Part& part : parts_) {
      // The first bucket of a thread that took no part is a lower bound.
      if (part.first < current_) part.first = part.buckets.first(part.first);
      current_ = std::min(current_, part.first);
      relaxed += part.relaxed;
    }
    if (current_ > before) {
      const double each = static_cast<double>(relaxed) / (current_ - before);
      if (current_ < kSlots) fill_ = (fill_ + each) / 2;
      for (Part& part : parts_) part.relaxed = 0;
    }
    if (targets_settled()) return false;
    return current_ < kSlots || move_window();
  }

  // Chooses how many buckets are settled before threads meet again, and by how many threads.
  int steer() {
    if (threads_ == 1) return 1;
    std::int64_t entries = 0;
    for (const Part& part : parts_) entries += part.entries(current_);
    const double busy = static_cast<double>(threads_ * kBusy);
    span_ = static_cast<int>(std::clamp(busy / std::max(fill_, 1.0), 1.0, double{kMostSpan}));
    if (relaxation_.many_arcs()) {  // an entry is much work
      // untestable: how many threads share a bucket
      return entries >= kManyEntries || arcs_of_bucket() >= kManyArcs ? threads_ : 1;
    }
    const std::int64_t expected = std::max(entries, static_cast<std::int64_t>(fill_ * span_));
    return threads_by_root(expected, kShare, threads_);
  }

  std::int64_t arcs_of_bucket() const {
    std::int64_t arcs = 0;
    for (const Part& part : parts_) {
      if (part.first != current_) continue;
      for (const Item& item : part.buckets.slots[current_]) arcs += relaxation_.degree(item.vertex);
    }
    return arcs;
  }

  void settle_alone(CancelCheck& check_cancelled) {
    Part& own = parts_[0];
    for (int thread = 1; thread < threads_; ++thread) {
      Part& part = parts_[thread];
      if (part.first != current_) continue;
      Items& entries = part.buckets.slots[current_];
      relax<false>(entries.data(), entries.size(), own);
      entries.clear();
      part.first = current_ + 1;
    }
    constexpr std::size_t kAny = std::numeric_limits<std::size_t>::max();
    relax_own<false>(own, current_, threads_ > 1 ? kFused : kAny, check_cancelled);
    own.first = own.buckets.first(current_);
  }

  void share(int threads) {
    std::int64_t entries = 0;
    for (Part& part : parts_) {
      part.frontier.clear();
      if (part.first == current_) {
        part.frontier.swap(part.buckets.slots[current_]);
        part.first = current_ + 1;
      }
      const auto size = static_cast<std::int64_t>(part.frontier.size());
      part.left.reset(size);
      entries += size;
    }
    wanted_ = threads;
    waiting_.store(0, std::memory_order_relaxed);
    piece_ = std::clamp<std::int64_t>(entries / (8 * threads), 1, kPiece);
  }

  // The window is empty: moves it to the nearest of the far entries, and widens its slots when too
  // few of them would fit. False when there are none.
  bool move_window() {
    Items far;
    for (Part& part : parts_) {
      if (!part.buckets.made()) continue;
      for (const Item& item : part.buckets.far()) {
        if (!relaxation_.is_stale(item)) far.push_back(item);
      }
      part.buckets.far().clear();
    }
    if (far.empty()) return false;
    const auto nearer = [](const Item& a, const Item& b) { return a.distance < b.distance; };
    const auto quarter = far.begin() + static_cast<std::ptrdiff_t>(far.size() / 4);
    std::nth_element(far.begin(), quarter, far.end(), nearer);
    // untestable (+ 1 to + 0): none before it is farther, and where none is, it is the end
    const Value base = std::min_element(far.begin(), quarter + 1, nearer)->distance;
    const double reach = static_cast<double>(quarter->distance) - static_cast<double>(base);
    // untestable (max to min): any width is right
    scale_ = BucketScale<Value>(base, std::max(width_, 2 * reach / slots_), slots_);
    current_ = parts_[0].first = 0;
    Buckets<Id, Value>& buckets = parts_[0].buckets;
    for (const Item& item : far) buckets.slots[scale_.slot(item.distance)].push_back(item);
    return true;
  }

  // Are all targets settled? Everything before the current bucket is.
  bool targets_settled() {
    while (!pending_.empty()) {
      const Value distance = relaxation_.distance(pending_.back());
      if (distance == kNoPath<Value> || !scale_.before(distance, current_)) return false;
      pending_.pop_back();
    }
    return has_targets_;
  }

  Value finish(const Problem<Id, Value>& problem, ResultRow<Id, Value> row) const {
    const StopCondition<Id, Value>& stop = problem.stop;
    if (!has_targets_ || !pending_.empty()) return stop.limit;
    Value horizon = 0;
    for (std::int64_t i = 0; i < stop.target_count; ++i) {
      horizon = std::max(horizon, row.distances[stop.targets[i]]);
    }
    cut_beyond(horizon, problem.outgoing.n, row);
    return horizon;
  }

  Relaxation<Id, Value> relaxation_;
  const double width_;
  const int slots_;  // of the window
  const int threads_;
  std::vector<Part> parts_;  // one per thread
  BucketScale<Value> scale_{0, 1.0, kSlots};
  int current_ = 0;         // the nearest bucket
  int span_ = 1;            // buckets that are settled before threads meet again
  int wanted_ = 1;          // threads in this round
  std::int64_t piece_ = 1;  // entries that a thread takes at a time
  double fill_ = 0;         // entries relaxed per bucket, lately
  bool has_targets_ = false;
  std::vector<Id> pending_;                  // targets that may not be settled yet
  alignas(64) std::atomic<int> waiting_{0};  // threads that have finished their round
};

// ---- from many sources: in batches of lanes, side by side, or one after the other ---------------

// An estimate from a sample.
template <class Id, class Value>
double mean_length(const Arcs<Id>& arcs, const Value* lengths) {
  constexpr std::int64_t kSample = 1024;
  const std::int64_t m = arcs.count();
  const std::int64_t step = std::max<std::int64_t>(1, m / kSample);
  double sum = 0;
  std::int64_t count = 0;
  // untestable below (= 0 to = 1, < to <=, max to min): any width of buckets is right
  for (std::int64_t i = 0; i < m; i += step, ++count) sum += static_cast<double>(lengths[i]);
  return sum / static_cast<double>(std::max<std::int64_t>(1, count));
}

// Wide buckets mean vertices relaxed too early. The more arcs a vertex has, the more that costs,
// and the fewer buckets there are anyway.
template <class Id>
double delta_width(const Arcs<Id>& arcs, double mean) {
  // untestable below: any width of buckets is right
  const double degree =
      std::max(1.0, static_cast<double>(arcs.count()) / static_cast<double>(arcs.n));
  return mean > 0 ? kDeltaFactor * mean / (degree * degree) : 1;
}

template <class Id, class Value>
void delta_stepping(const Problem<Id, Value>& problem, const ResultRows<Id, Value>& rows,
                    int threads, Monitor& monitor) {
  using Search = DeltaStepping<Id, Value>;
  const double mean = mean_length(problem.outgoing, problem.lengths);
  const double width = delta_width(problem.outgoing, mean);
  const std::vector<std::int64_t> left =  // sources that are searched from one by one
      lanes_may_pay(problem, rows, threads)
          ? search_in_batches(problem, rows, mean, threads, monitor)
          : all_sources(rows);
  // untestable: how threads share the searches
  if (static_cast<std::int64_t>(left.size()) >= threads) {
    std::vector<std::unique_ptr<Search>> searches(static_cast<std::size_t>(threads));
    search_side_by_side(problem, rows, left, threads, monitor,
                        [&](const Problem<Id, Value>& own, ResultRow<Id, Value> row, int thread) {
                          auto& search = searches[thread];
                          if (!search) search = std::make_unique<Search>(own, 1, width);
                          return search->search(own, row, CancelCheck(monitor, thread), monitor);
                        });
  } else if (!left.empty()) {
    Search search(problem, search_threads(problem.outgoing, threads), width);
    search_one_by_one(problem, rows, left, threads, monitor,
                      [&](const Problem<Id, Value>& own, ResultRow<Id, Value> row) {
                        return search.search(own, row, CancelCheck(monitor, 0), monitor);
                      });
  }
}

}  // namespace kleene::sssp
