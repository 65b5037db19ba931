// Searches that stop at a limit, or after so many vertices, with answers no larger than what they
// reach: compressed rows of vertices, distances and predecessors, one row per source.
//
// A search uses one core; several run side by side. Each thread has one entry per vertex to work
// in, allocated once, and after a search resets only what the search touched. So a search costs
// what it reaches, whatever the size of the graph.
//
// Vertices are settled by distance and, among those found at the same distance, by position. This
// is the order in which `count` cuts off, and the predecessor of a vertex is the first settled
// vertex that gives it its distance: answers depend on nothing but the graph. Without lengths every
// arc counts one, and levels take the place of a heap.
#pragma once

#include <cstdint>

#include "graph/csr.hpp"
#include "graph/reached_rows.hpp"
#include "graph/search.hpp"

namespace kleene::sssp {

using namespace parallel;
using namespace graph;

// Where searches stop.
template <class Value>
struct Bounds {
  const Value* limits = nullptr;  // one per source, or one for all
  bool own_limits = false;
  std::int64_t count = 0;  // vertices besides the source

  Value limit(std::int64_t source) const { return limits[own_limits ? source : 0]; }
};

// Lengths must not be negative; null means one for every arc. Throws MemoryNeeded, with an estimate
// for all rows, once the rows take more than `available` bytes.
template <class Id, class Value>
Reached<Id, Value> bounded_search(const Arcs<Id>& arcs, const Value* lengths, const Id* sources,
                                  std::int64_t count, const Bounds<Value>& bounds,
                                  bool with_predecessors, std::int64_t available, int threads,
                                  Monitor& monitor);

}  // namespace kleene::sssp
