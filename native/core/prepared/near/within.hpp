// What lies within a limit of some sources, in an eliminated graph: the same rows as those of
// sssp/bounded_search.hpp.
//
// A source climbs. Then its component is swept from the root down: a vertex takes the best of its
// upward neighbors, which are its ancestors, so that values are kept by place, as in a climb. All
// paths into a subtree lead over the upward neighbors of its root: where all of them are beyond the
// limit, and the source is not inside, the whole subtree is skipped.
//
// The predecessor of a vertex is, of those that give it its distance, the nearest to the source,
// and of several the first: that is the one that a search settles first, where no arc has length
// zero.
#pragma once

#include <cstdint>

#include "graph/arcs.hpp"
#include "graph/reached_rows.hpp"
#include "prepared/pairs/climb.hpp"

namespace kleene::prepared {

// Vertices of ranks and the sizes of their subtrees.
struct SweptTree {
  const ClimbTree& tree;
  const std::int32_t* order;
  const std::int32_t* sizes;
};

// `values.up` leads up from the sources, `values.down` down from there. Sources are ranks; arcs are
// those into each vertex of the graph, or null for no predecessors; lengths are theirs, or null for
// one each. Lengths are positive. Throws MemoryNeeded, with an estimate for all rows, once the rows
// take more than `available` bytes.
template <class Value>
graph::Reached<std::int32_t, Value> within(const SweptTree& swept, const PairValues<Value>& values,
                                           const std::int32_t* sources, std::int64_t count,
                                           Value limit, const graph::Arcs<std::int32_t>* incoming,
                                           const Value* lengths, std::int64_t available,
                                           int threads, parallel::Monitor& monitor);

}  // namespace kleene::prepared
