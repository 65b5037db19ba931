// From a graph to its elimination, in steps: vertices of low degree go first, a sample says whether
// the rest is worth it, and for an order of all vertices the symbolic step says which pairs are
// joined. Last, whether arrays of a file are an elimination.
#pragma once

#include <cstdint>

#include "graph/arcs.hpp"
#include "parallel/monitor.hpp"
#include "prepared/elimination/elimination.hpp"

namespace kleene::prepared {

using namespace parallel;

// ---- vertices of low degree (reduce.cpp) --------------------------------------------------------
//
// Elimination of vertices of degree 0, 1 and 2, which needs no thought: it never makes a vertex's
// degree grow. On road networks it takes a third of the vertices away from the nested dissection.

struct Reduction {
  std::int64_t eliminated;  // how many vertices
  // Those in the order of elimination, then the rest in the order of their numbers.
  Buffer<std::int32_t> order;
  // Neighbors within the rest, whose vertices are numbered by their place in it.
  Buffer<std::int64_t> offsets;
  Buffer<std::int32_t> neighbors;
};

// Arcs must lead both ways; loops are ignored.
Reduction reduce(const graph::Arcs<std::int32_t>& arcs, Monitor& monitor);

// ---- a piece of a graph (sample.cpp) ------------------------------------------------------------
//
// Small enough to be eliminated for a look at how many pairs that joins.

struct Sample {
  Buffer<std::int64_t> offsets;
  Buffer<std::int32_t> neighbors;  // in the sample, in the order in which they were found
  std::int64_t boundary;           // vertices with arcs to others that are not in it
};

// The vertices that a breadth-first search finds first, and the arcs between them: as many vertices
// as have at most so many arcs. Components that end before are followed by others.
Sample sample(const graph::Arcs<std::int32_t>& arcs, std::int32_t source,
              std::int64_t most_vertices, std::int64_t most_arcs, Monitor& monitor);

// ---- the symbolic step (symbolic.cpp) -----------------------------------------------------------
//
// The elimination tree of an order, how many upward neighbors each vertex gets, and which they are.
// All take a graph whose arcs lead both ways (loops are ignored) and an order of its vertices.

struct Tree {
  Buffer<std::int32_t> order;    // the vertex of each rank; an equivalent order that is a postorder
  Buffer<std::int32_t> ranks;    // the rank of each vertex
  Buffer<std::int32_t> parents;  // by rank; -1 for roots
  Buffer<std::int64_t> offsets;  // n + 1: where the upward neighbors of each rank will be
};

// Takes time nearly linear in the arcs, however many pairs elimination joins.
Tree count_pairs(const graph::Arcs<std::int32_t>& arcs, const std::int32_t* order,
                 Monitor& monitor);

// The upward neighbors of each rank, ascending, for a tree that count_pairs returned.
Buffer<std::int32_t> join_pairs(const graph::Arcs<std::int32_t>& arcs, const std::int32_t* order,
                                const std::int32_t* ranks, const std::int32_t* parents,
                                const std::int64_t* offsets, Monitor& monitor);

// The number of ancestors of each rank.
Buffer<std::int32_t> depths(std::int64_t n, const std::int32_t* parents);

// The number of vertices in the subtree of each rank, itself included.
Buffer<std::int32_t> subtree_sizes(std::int64_t n, const std::int32_t* parents);

// ---- whether arrays are an elimination (check.cpp) ----------------------------------------------

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
