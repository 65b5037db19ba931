// The order in which a search settles vertices, and the arc by which it came to each, recovered
// from the distances alone.
//
// A textbook search (Dijkstra's with a heap that breaks ties by insertion order, or breadth-first
// with a queue) settles vertices by distance and, among equals, in the order in which they got
// their final distance: by the settling of their predecessor, then by the position of the arc in
// its row. That order, and the first arc to give a vertex its final distance, follow from the
// distances: only tight arcs (distance of the tail + weight = distance of the head) matter, and
// each vertex enters the heap once. So distances may come from any method, and paths and orders are
// the textbook's.
#pragma once

#include <algorithm>
#include <cstdint>
#include <functional>
#include <queue>
#include <tuple>
#include <type_traits>
#include <vector>

#include "graph/arcs.hpp"

namespace kleene::sssp {

using namespace graph;

template <class Weight, class Distance>
bool is_tight(const Arcs<std::int32_t, Weight>& arcs, std::int64_t arc, Distance tail,
              Distance head) {
  if constexpr (kWeighted<Weight>) {
    return tail + arcs.weights[arc] == head;
  } else {
    return tail + 1 == head;
  }
}

template <class Distance>
class AgingHeap {
 public:
  void push(Distance distance, std::int32_t v) { heap_.emplace(distance, age_++, v); }
  bool empty() const { return heap_.empty(); }
  std::int32_t pop() {
    const std::int32_t v = std::get<2>(heap_.top());
    heap_.pop();
    return v;
  }

 private:
  using Entry = std::tuple<Distance, std::int64_t, std::int32_t>;
  std::priority_queue<Entry, std::vector<Entry>, std::greater<>> heap_;
  std::int64_t age_ = 0;
};

// Fills `order` and the entries of `tree_arcs` (the arc from the predecessor), which must hold -1,
// for the vertices reached; returns how many there are. Rows keep the caller's order; parallel arcs
// and self-loops are allowed. With negative weights the order is only one in which vertices follow
// their predecessors.
template <class Weight, class Distance>
std::int64_t settle_order(const Arcs<std::int32_t, Weight>& arcs, const Distance* distances,
                          Distance no_path, const std::int32_t* sources, std::int64_t source_count,
                          std::int32_t* order, std::int64_t* tree_arcs) {
  constexpr std::int64_t kSource = -2;  // until the end, so that no arc leads to a source
  const std::int64_t n = arcs.n;
  const std::int64_t reached = n - std::count(distances, distances + n, no_path);
  std::int64_t settled = 0, entered = 0;
  AgingHeap<Distance> heap;
  constexpr bool kQueue = !kWeighted<Weight>;  // order itself is the queue
  const auto push = [&](std::int32_t v) {
    if constexpr (kQueue) {
      order[entered] = v;
    } else {
      heap.push(distances[v], v);
    }
    ++entered;
  };
  for (std::int64_t i = 0; i < source_count; ++i) {
    if (tree_arcs[sources[i]] != kSource) push(sources[i]);
    tree_arcs[sources[i]] = kSource;
  }
  while (settled < entered) {
    if constexpr (!kQueue) order[settled] = heap.pop();
    const std::int32_t v = order[settled++];
    if (entered == reached) continue;  // all are in the queue
    for (std::int64_t arc = arcs.offsets[v]; arc < arcs.offsets[v + 1]; ++arc) {
      const std::int32_t u = arcs.neighbors[arc];
      if (tree_arcs[u] != -1 || distances[u] == no_path) continue;
      if (!is_tight(arcs, arc, distances[v], distances[u])) continue;
      tree_arcs[u] = arc;
      push(u);
    }
  }
  for (std::int64_t i = 0; i < source_count; ++i) tree_arcs[sources[i]] = -1;
  return settled;
}

}  // namespace kleene::sssp
