// Betweenness with arc lengths: a search from each source, then a pass back over its shortest
// paths.
//
// Distances come from searches of near sources at once, a vector lane each (sssp/lane_search.hpp);
// so does the list of the arcs on shortest paths, which a vector comparison finds for all of them.
// Counting and adding up are done source by source (shortest_path_arcs.hpp). Where sources share
// little work, and for 64-bit ids, each has its own search by Dijkstra's algorithm.
//
// Threads take sources, and have sums of their own, which are added in the end.
#pragma once

#include "graph/arcs.hpp"
#include "measures/shortest_path_arcs.hpp"

namespace kleene::measures {

using namespace parallel;
using namespace graph;

template <class Id, class Value>
struct WeightedPaths {
  Arcs<Id, Value> arcs;  // the weights are not negative; no path is too long for half of the type
  const Id* sources = nullptr;
  std::int64_t count = 0;
  Value limit;     // paths that are longer do not count
  int level = -1;  // of vector instructions, see simd/levels.hpp; -1 is the best there is
};

// Adds to the sums of all vertices and arcs; throws CycleOfLengthZero.
template <class Id, class Value>
void weighted_brandes(const WeightedPaths<Id, Value>& paths, const PathSums& sums, int threads,
                      Monitor& monitor);

}  // namespace kleene::measures
