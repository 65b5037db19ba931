// Dijkstra's algorithm on one core: the nearest vertex that is not settled has its final distance.
//
// A vertex is pushed whenever it gets nearer; a stale entry is dropped when it is popped. One
// object runs many searches, one after the other, so that its memory is allocated once.
//
// With reduced costs (Johnson 1977) the search is ordered by sums of `lengths`, kept in this
// object, while the row receives sums of `original_lengths` along the tree.
//
// E. W. Dijkstra, "A note on two problems in connexion with graphs", 1959.
#pragma once

#include <algorithm>
#include <vector>

#include "parallel/monitor.hpp"
#include "sssp/heap.hpp"
#include "sssp/sssp.hpp"

namespace kleene::sssp {

template <class Id, class Value>
class Dijkstra {
 public:
  Value search(const Problem<Id, Value>& problem, ResultRow<Id, Value> row,
               CancelCheck check_cancelled) {
    const Arcs<Id>& arcs = problem.outgoing;
    Value* const distances = begin(problem, row);
    PendingTargets<Id> targets(arcs.n, problem.stop);
    Value horizon = problem.stop.limit;
    while (!queue_.empty()) {
      const auto [distance, u] = queue_.pop();
      if (distance != distances[u]) continue;
      if (distance > horizon) break;
      targets.settle(u);
      if (targets.all_settled())
        horizon = std::min(horizon, distance);  // equally near vertices are settled too
      if (++settled_ % 1024 == 0) check_cancelled();
      for (std::int64_t i = arcs.offsets[u]; i < arcs.offsets[u + 1]; ++i) {
        const Id v = arcs.neighbors[i];
        const Value through = distance + problem.lengths[i];
        if (!(through < distances[v]) || through > horizon) continue;
        distances[v] = through;
        if (problem.original_lengths)
          row.distances[v] = row.distances[u] + problem.original_lengths[i];
        if (row.predecessors) row.predecessors[v] = u;
        queue_.push({through, v});
      }
    }
    if (targets.has_targets()) cut_beyond(horizon, arcs.n, row);
    return horizon;
  }

 private:
  Value* begin(const Problem<Id, Value>& problem, ResultRow<Id, Value> row) {
    queue_.clear();
    Value* distances = row.distances;
    row.distances[problem.source] = 0;
    if (problem.original_lengths) {
      costs_.assign(static_cast<std::size_t>(problem.outgoing.n), kNoPath<Value>);
      costs_[problem.source] = 0;
      distances = costs_.data();
    }
    queue_.push({0, problem.source});
    return distances;
  }

  // Floats that differ at all differ in many bits, which a radix heap sorts one by one.
  using Queue =
      std::conditional_t<std::is_integral_v<Value>, RadixHeap<Id, Value>, QuadHeap<Id, Value>>;

  Queue queue_;
  std::vector<Value> costs_;
  std::uint64_t settled_ = 0;
};

}  // namespace kleene::sssp
