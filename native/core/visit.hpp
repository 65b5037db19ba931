// The order in which a search settles vertices, and the arc by which it came to each, recovered
// from the distances alone.
//
// A textbook search (Dijkstra's with a heap that breaks ties by age, or breadth-first with a queue)
// visits vertices by distance and, among equals, in the order in which they got their final
// distance: by the visit of the vertex before, then by the place of the arc in its row. That order,
// and the first arc to give a vertex its final distance, follow from the distances: only arcs that
// are tight (distance of the source + weight = distance of the target) matter, and each vertex
// enters the heap once. So distances may come from any engine, and still paths and orders are those
// of the textbook.
#pragma once

#include <algorithm>
#include <cstdint>
#include <functional>
#include <queue>
#include <tuple>
#include <type_traits>
#include <vector>

#include "csr.hpp"

namespace kleene {

// Rows keep the order that they were given in: parallel arcs and self-loops do no harm.
template <class Weight>
struct VisitArcs {
  std::int64_t n;
  const std::int64_t* offsets;
  const std::int32_t* neighbors;
  const Weight* weights;  // null, for NoWeight: every arc counts 1

  template <class Distance>
  bool is_tight(std::int64_t arc, Distance before, Distance after) const {
    if constexpr (std::is_same_v<Weight, NoWeight>) {
      return before + 1 == after;
    } else {
      return before + weights[arc] == after;
    }
  }
};

template <class Distance>
class Waiting {
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

// Fills `order` and the entries of `arrivals` (the arc that leads to a vertex) for what is visited,
// which must hold -1; returns how many there are. Weights may be negative: then the order is only
// one in which vertices follow those that lead to them.
template <class Weight, class Distance>
std::int64_t visit(const VisitArcs<Weight>& arcs, const Distance* distances, Distance no_path,
                   const std::int32_t* sources, std::int64_t source_count, std::int32_t* order,
                   std::int64_t* arrivals) {
  constexpr std::int64_t kSource = -2;  // until the end, so that no arc leads to a source
  const std::int64_t n = arcs.n;
  const std::int64_t reached = n - std::count(distances, distances + n, no_path);
  std::int64_t settled = 0, found = 0;
  Waiting<Distance> waiting;
  constexpr bool kQueue = std::is_same_v<Weight, NoWeight>;  // order itself is the queue
  const auto push = [&](std::int32_t v) {
    if constexpr (kQueue) {
      order[found] = v;
    } else {
      waiting.push(distances[v], v);
    }
    ++found;
  };
  for (std::int64_t i = 0; i < source_count; ++i) {
    if (arrivals[sources[i]] != kSource) push(sources[i]);
    arrivals[sources[i]] = kSource;
  }
  while (settled < found) {
    if constexpr (!kQueue) order[settled] = waiting.pop();
    const std::int32_t v = order[settled++];
    if (found == reached) continue;  // nobody is left to be found
    for (std::int64_t arc = arcs.offsets[v]; arc < arcs.offsets[v + 1]; ++arc) {
      const std::int32_t u = arcs.neighbors[arc];
      if (arrivals[u] != -1 || distances[u] == no_path) continue;
      if (!arcs.is_tight(arc, distances[v], distances[u])) continue;
      arrivals[u] = arc;
      push(u);
    }
  }
  for (std::int64_t i = 0; i < source_count; ++i) arrivals[sources[i]] = -1;
  return settled;
}

}  // namespace kleene
