// Relaxing the arcs of entries, for delta-stepping.
//
// Almost all time is spent waiting for memory, and a mispredicted branch on whether an arc shortens
// a path ends out-of-order prefetching. So memory is prefetched in three steps: the offsets of a
// vertex, its arcs, the distances of their heads. The last does not pay for vertices of few arcs,
// as in road networks and grids, whose heads are near in memory.
#pragma once

#include <algorithm>

#include "sssp/buckets.hpp"
#include "sssp/sssp.hpp"
#include "sssp/tentative_distances.hpp"
#include "sssp/tuning.hpp"

namespace kleene::sssp {

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

}  // namespace kleene::sssp
