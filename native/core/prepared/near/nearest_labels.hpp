// The k nearest of some facilities for every vertex of an eliminated graph.
//
// As in sssp/k_nearest.hpp, a vertex keeps its first k labels (distance, facility), in the order of
// distance and then of the list. Labels climb: each vertex, from the lowest rank on, takes those of
// its lower neighbors. Then they sweep down: each vertex, from the highest rank on, takes those of
// its upward neighbors, which are final. A best path climbs to one vertex and descends from there;
// a label that k others keep out of that vertex is kept out by the same ones further down. So every
// pair is passed twice, however many facilities there are.
//
// Subtrees do not depend on each other, except on the vertices above them: threads share subtrees,
// and one of them does what lies above.
#pragma once

#include <cstdint>

#include "parallel/monitor.hpp"
#include "prepared/elimination/elimination.hpp"

namespace kleene::prepared {

using namespace parallel;

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

}  // namespace kleene::prepared
