// What is near in an eliminated graph.
#pragma once

#include <cstdint>

#include "graph/arcs.hpp"
#include "graph/reached_rows.hpp"
#include "parallel/monitor.hpp"
#include "prepared/elimination/elimination.hpp"
#include "prepared/pairs/climb.hpp"

namespace kleene::prepared {

using namespace parallel;

// ---- the nearest facilities of some sources (nearest.cpp) ---------------------------------------

// Ranks.
struct RankList {
  const std::int32_t* ranks;
  std::int64_t count;
};

// Rows of k, in the caller's memory, filled with "no path" and -1.
template <class Value>
struct NearestRows {
  std::int64_t k;
  Value* distances;
  std::int32_t* facilities;  // positions in the list
};

// `values.up` leads from the sources up, `values.down` down to the facilities: to measure from the
// facilities to the sources, exchange them. Lengths must not be negative. Facilities beyond the
// limit do not count.
template <class Value>
void nearest(const Elimination& elimination, const ClimbTree& tree, const PairValues<Value>& values,
             const RankList& sources, const RankList& facilities, Value limit,
             const NearestRows<Value>& rows, int threads, parallel::Monitor& monitor);

// ---- the nearest facilities of every vertex (nearest_labels.cpp) --------------------------------

// The pairs by their upper end.
struct LowerNeighbors {
  const std::int64_t* offsets;  // n + 1
  const std::int32_t* tails;
  const std::int32_t* places;  // of each pair in `heads`
};

// Rows of k labels, by rank.
template <class Value>
struct NearestLabels {
  std::int64_t k;
  Value* distances;
  std::int32_t* facilities;  // positions in the list; -1 beyond the last label
};

// `facilities` are ranks, and `sizes` the vertices of each subtree. Lengths must not be negative.
// Fills the labels; distances beyond the last label of a vertex are arbitrary.
template <class Value>
void nearest_labels(const Elimination& elimination, const LowerNeighbors& lower,
                    const std::int32_t* sizes, const PairValues<Value>& pairs,
                    const std::int32_t* facilities, std::int64_t count, Value limit,
                    const NearestLabels<Value>& labels, int threads, Monitor& monitor);

// ---- what lies within a limit (within.cpp) ------------------------------------------------------

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
