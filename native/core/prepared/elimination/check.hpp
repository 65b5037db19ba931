// Whether arrays are an elimination of a graph: those of a file are, before anything else reads
// them (src/kleene/prepared/files.py).
//
// Every pass relies on what the passes before it found right: offsets lead into the heads, then
// heads are ranks, then the parents form a tree.
#pragma once

#include <cstdint>

#include "graph/arcs.hpp"
#include "parallel/monitor.hpp"
#include "prepared/elimination/elimination.hpp"

namespace kleene::prepared {

enum class Fault : int {
  kNone,
  kOrder,      // order is not a permutation, or ranks are not its inverse
  kOffsets,    // offsets do not rise from 0 to the number of heads
  kHeads,      // upward neighbors are not ascending ranks between their vertex and n
  kParents,    // the parent is not the first upward neighbor
  kFill,       // an upward neighbor is not the parent, and not an upward neighbor of it
  kPostorder,  // a subtree is not a run of ranks
  kArcs,       // an arc of the graph joins no pair
};

struct Finding {
  Fault fault;
  std::int64_t rank;  // the lowest with this fault; of kPostorder the highest
};

// Returns the first fault of arrays that have the right lengths, by pass and rank. With kNone, all
// upward neighbors of a vertex are its ancestors, and every arc of the graph joins a vertex with an
// upward neighbor of it. `heads` is the number of upward neighbors that there are.
Finding check_elimination(const Elimination& elimination, const std::int32_t* order,
                          const std::int32_t* ranks, std::int64_t heads,
                          const graph::Arcs<std::int32_t>& graph, int threads,
                          parallel::Monitor& monitor);

}  // namespace kleene::prepared
