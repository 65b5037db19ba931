// How often random shortest paths pass each vertex and each arc (Riondato and Kornaropoulos 2016,
// "Fast approximation of betweenness centrality through sampling"; Borassi and Natale 2016,
// "KADABRA is an ADaptive Algorithm for Betweenness via Random Approximation").
//
// A sample is a uniform ordered pair of different vertices and a uniform shortest path between
// them, if there is one. A vertex is inside the path with the probability
//
//   sum over s != v != t of (paths from s to t through v) / (paths from s to t) / (n (n - 1)),
//
// which is its betweenness over ordered pairs. Sampling goes on until the counts are below limits
// that the caller has computed for the number of samples (backends/common/sample_limits.py says
// how, and what follows from it).
//
// Sample i has random numbers of its own, and counts are integers: they depend on the seed and on
// the number of samples, not on threads.
#pragma once

#include <cstdint>

#include "graph/arcs.hpp"

namespace kleene::measures {

using namespace parallel;
using namespace graph;

// Weight is NoWeight where paths are measured by their arcs.
template <class Id, class Weight>
struct PathSampling {
  Arcs<Id, Weight> outgoing, incoming;
  bool endpoints = false;   // count a path's ends as well
  bool arcs = false;        // count arcs as well
  bool undirected = false;  // count both arcs of an edge as the one from its smaller end
  std::uint64_t seed = 0;
};

// Where sampling stops: at numbers of samples `ends`, ascending, if every item i was counted at
// most limits[k * classes + class_of[i]] times, at the last of them in any case.
struct StopLimits {
  const std::int64_t* ends = nullptr;
  std::int64_t stops = 0;
  const std::int64_t* limits = nullptr;
  std::int64_t classes = 0;
  const std::int64_t* class_of = nullptr;  // null: no limits, only the last end
};

// Takes samples first, first + 1, ... and adds to counts: an item for each vertex, then for each
// outgoing arc. Returns how many were taken. There must be two vertices. Throws CycleOfLengthZero.
template <class Id, class Weight>
std::int64_t sample_paths(const PathSampling<Id, Weight>& sampling, std::int64_t first,
                          const StopLimits& stop, std::int64_t* counts, int threads,
                          Monitor& monitor);

}  // namespace kleene::measures
