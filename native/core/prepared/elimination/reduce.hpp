// Elimination of vertices of degree 0, 1 and 2, which needs no thought: it never makes a vertex's
// degree grow. On road networks it takes a third of the vertices away from the nested dissection.
#pragma once

#include "graph/arcs.hpp"

namespace kleene::prepared {

using namespace parallel;

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

}  // namespace kleene::prepared
