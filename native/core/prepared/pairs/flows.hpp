// Trips on the best paths of an eliminated graph: how much goes along each arc.
//
// Both ends of a trip climb, as in pair_search.hpp, and its volume goes to the pairs that the
// best path consists of. Where ends have several trips, every end climbs once: volumes gather at
// the places where climbs meet, and go down to the end of the climb together. At last one pass over
// all pairs, from the highest rank down, moves the flow of a pair to the two pairs of the vertex in
// its middle, which is lower, until all flow is on arcs. So no path is unpacked by itself.
//
// A path may make a detour of length zero, which is not cut out: callers whose graphs have cycles
// of length zero unpack paths (pairs.hpp).
#pragma once

#include <cstdint>

#include "parallel/monitor.hpp"
#include "prepared/pairs/climb.hpp"
#include "prepared/pairs/pairs.hpp"

namespace kleene::prepared {

// Flow along each pair of an elimination, from its lower end up and down to it.
struct PairFlows {
  double* up;
  double* down;
};

// Adds the volumes of trips to `flows`, which are then flows of pairs; `assigned` says which trips
// have a path. Algebras are those of lengths.
template <class Algebra>
void pair_flows(const Elimination& elimination, const ClimbTree& tree, const std::int32_t* ranks,
                const PairValues<typename Algebra::Value>& values, bool negative,
                const PairList& trips, const double* volumes, const PairFlows& flows,
                std::uint8_t* assigned, int threads, int level, Monitor& monitor);

// Rows of the arcs of a graph, heads ascending.
struct GraphRows {
  const std::int64_t* offsets;
  const std::int32_t* heads;
};

// Moves the flow of all pairs to the arcs of the graph; leaves zeros.
void move_to_arcs(const Elimination& elimination, const Middles& middles, const std::int32_t* order,
                  const PairFlows& flows, const GraphRows& graph, double* arcs, Monitor& monitor);

}  // namespace kleene::prepared
