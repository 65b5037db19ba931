// The symbolic step: the elimination tree of an order, how many upward neighbors each vertex gets,
// and which they are.
//
// All take a graph whose arcs lead both ways (loops are ignored) and an order of its vertices.
#pragma once

#include "graph/arcs.hpp"

namespace kleene::prepared {

using namespace parallel;

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

}  // namespace kleene::prepared
