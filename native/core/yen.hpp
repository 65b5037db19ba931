// The k shortest paths without repeated vertices from one vertex to another.
//
// Yen's algorithm (1971): every path but the first leaves an earlier one at some vertex, the spur.
// From there it goes on by a shortest path that avoids the vertices before the spur and the arcs by
// which earlier paths with the same beginning go on. Lawler (1972): of a new path, only the spurs
// from where it left its parent need a search, which also makes every candidate a new one.
//
// The searches know how far each vertex is from the sink in the whole graph. With these distances
// as potentials (Hart, Nilsson and Raphael 1968) an arc costs what it takes out of the way, which
// is never negative, even where lengths are; a search runs straight to the sink, and gives up when
// it is out of its way by more than the worst candidate that is still of use.
//
// J. Y. Yen, "Finding the K shortest loopless paths in a network", 1971.
// E. L. Lawler, "A procedure for computing the K best solutions ...", 1972.
#pragma once

#include <vector>

#include "monitor.hpp"
#include "search.hpp"

namespace kleene {

// Path i is vertices[offsets[i] .. offsets[i + 1]).
struct ShortestPaths {
  std::vector<std::int32_t> vertices;
  std::vector<std::int64_t> offsets{0};
  std::vector<double> lengths;
};

// `ahead` holds the distance of every vertex to the sink, infinity where there is no path. There
// must be no negative cycle.
ShortestPaths yen(const Arcs<std::int32_t>& arcs, const double* lengths, const double* ahead,
                  std::int32_t source, std::int32_t sink, std::int64_t count, Monitor& monitor);

}  // namespace kleene
