// Dijkstra's algorithm on one core: the nearest vertex that is not settled has its final distance.
//
// A vertex is pushed whenever it gets nearer; an entry that no longer agrees with the vertex's
// distance is dropped when it is popped. One object serves many searches, one after the other, so
// that its memory is taken once.
//
// With reduced costs (Johnson 1977) the search goes by `lengths`, which are then costs kept in this
// object, while the row receives sums of `reported` along the tree.
//
// E. W. Dijkstra, "A note on two problems in connexion with graphs", 1959.
#pragma once

#include <algorithm>
#include <vector>

#include "heap.hpp"
#include "monitor.hpp"
#include "sssp.hpp"

namespace kleene {

template <class Id, class Value>
class Dijkstra {
 public:
  Value search(const SsspProblem<Id, Value>& problem, Row<Id, Value> row, Watch watch) {
    const Arcs<Id>& arcs = problem.out;
    Value* const distances = begin(problem, row);
    Missing<Id> missing(arcs.n, problem.stop);
    Value horizon = problem.stop.limit;
    while (!queue_.empty()) {
      const auto [distance, u] = queue_.pop();
      if (distance != distances[u]) continue;
      if (distance > horizon) break;
      missing.settle(u);
      if (missing.none()) horizon = std::min(horizon, distance);  // what is as near still counts
      if (++settled_ % 1024 == 0) watch.look();
      for (std::int64_t i = arcs.offsets[u]; i < arcs.offsets[u + 1]; ++i) {
        const Id v = arcs.neighbors[i];
        const Value through = distance + problem.lengths[i];
        if (!(through < distances[v]) || through > horizon) continue;
        distances[v] = through;
        if (problem.reported) row.values[v] = row.values[u] + problem.reported[i];
        if (row.parents) row.parents[v] = u;
        queue_.push({through, v});
      }
    }
    if (missing.any_targets()) cut_beyond(horizon, arcs.n, row);
    return horizon;
  }

 private:
  Value* begin(const SsspProblem<Id, Value>& problem, Row<Id, Value> row) {
    queue_.clear();
    Value* distances = row.values;
    row.values[problem.source] = 0;
    if (problem.reported) {
      costs_.assign(static_cast<std::size_t>(problem.out.n), kNoPath<Value>);
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

}  // namespace kleene
