// Sums over the hop counts of many searches, without the hop counts.
//
// Searches run in batches of up to 512, a bit each (bfs/multi_source.hpp). The searches that reach
// a vertex at a level are a set of bits; how many there are says all that sums need. So a vertex
// costs one count of bits a level, whatever the number of searches, and no row is written.
#pragma once

#include <vector>

#include "bfs/bfs.hpp"

namespace kleene::measures {

using namespace parallel;
using namespace graph;

// For each vertex, over all sources but itself that reach it: how many, the sum of their distances,
// and the sum of the inverses. The caller's memory, n entries each, zeros at first.
struct HopSums {
  std::int64_t* reached = nullptr;
  std::int64_t* sums = nullptr;
  double* inverses = nullptr;
};

// Adds up the distances from all sources to each vertex. Returns how many pairs of a source and
// another vertex have each number of hops. No source may be listed twice.
template <class Id>
std::vector<std::int64_t> add_hops(const bfs::Problem<Id>& problem, const Id* sources,
                                   std::int64_t count, const HopSums& totals, int threads,
                                   Monitor& monitor);

// Fills the number of hops to the farthest vertex that each source reaches.
template <class Id>
void farthest_hops(const bfs::Problem<Id>& problem, const Id* sources, std::int64_t count,
                   Id* farthest, int threads, Monitor& monitor);

}  // namespace kleene::measures
