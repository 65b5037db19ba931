// The k shortest paths without repeated vertices from one vertex to another.
//
// Yen's algorithm (1971): every path but the first leaves an earlier one at some vertex, the spur.
// From there it follows a shortest path that avoids the vertices before the spur and the arcs by
// which earlier paths with the same prefix continue. Lawler (1972): of a new path, only the spurs
// from where it left its parent path need a search, which also makes every candidate distinct.
//
// The distance of every vertex to the sink in the whole graph is a potential (A*; Hart, Nilsson and
// Raphael 1968): with it an arc costs its detour, which is never negative, even where lengths are.
// A search runs straight to the sink, and stops when its detour exceeds that of the worst candidate
// that is still needed.
//
// J. Y. Yen, "Finding the K shortest loopless paths in a network", 1971.
// E. L. Lawler, "A procedure for computing the K best solutions ...", 1972.
#pragma once

#include <vector>

#include "graph/search.hpp"

namespace kleene::sssp {

using namespace parallel;
using namespace graph;

// The paths one after another, best first: all their vertices, and how many each has.
struct ShortestPaths {
  std::vector<std::int32_t> vertices;
  std::vector<std::int64_t> sizes;
  std::vector<double> lengths;
};

// `to_sink` holds the distance of every vertex to the sink. There must be no negative cycle.
ShortestPaths k_shortest_paths(const Arcs<std::int32_t>& arcs, const double* lengths,
                               const double* to_sink, std::int32_t source, std::int32_t sink,
                               std::int64_t count, Monitor& monitor);

// The same for many pairs, shared out among the threads: pair i runs from sources[i] to
// sinks[rows[i]], and row r of `to_sink` holds the distances to sinks[r].
struct PathPairs {
  std::int64_t count;
  const std::int32_t* sources;
  const std::int32_t* rows;
  const std::int32_t* sinks;
  const double* to_sink;
};

std::vector<ShortestPaths> k_shortest_paths(const Arcs<std::int32_t>& arcs, const double* lengths,
                                            const PathPairs& pairs, std::int64_t count, int threads,
                                            Monitor& monitor);

}  // namespace kleene::sssp
