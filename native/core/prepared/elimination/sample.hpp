// A piece of a graph, small enough to be eliminated for a look at how many pairs that joins.
#pragma once

#include "graph/arcs.hpp"

namespace kleene::prepared {

using namespace parallel;

struct Sample {
  Buffer<std::int64_t> offsets;
  Buffer<std::int32_t> neighbors;  // in the sample, in the order in which they were found
  std::int64_t boundary;           // vertices with arcs to others that are not in it
};

// The vertices that a breadth-first search finds first, and the arcs between them: as many vertices
// as have at most so many arcs. Components that end before are followed by others.
Sample sample(const graph::Arcs<std::int32_t>& arcs, std::int32_t source,
              std::int64_t most_vertices, std::int64_t most_arcs, Monitor& monitor);

}  // namespace kleene::prepared
