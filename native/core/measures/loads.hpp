// Trips on their shortest paths: how much goes along each arc.
//
// Trips with the same root, an origin, share a search. It settles vertices from the root on, and
// stops once the ends of all trips are settled. Then volumes flow back: in the reverse order of
// settling, what arrives at a vertex goes on the arc that it was reached by, and on to that arc's
// tail. So a root costs one search, whatever the number of its trips. Where trips are split over
// all shortest paths, volumes flow back along all arcs on them (shortest_path_arcs.hpp).
//
// Each thread has entries for the vertices, allocated once, and sums for the arcs of its own, which
// are added up at the end. Roots may be destinations, where the arcs are those of the transposed
// graph.
#pragma once

#include <cstdint>

#include "graph/arcs.hpp"
#include "parallel/monitor.hpp"

namespace kleene::measures {

using graph::Arcs;
using parallel::Monitor;

// Trips by root: those of root r are offsets[r] .. offsets[r + 1].
template <class Id>
struct Trips {
  std::int64_t roots;
  const Id* root;
  const std::int64_t* offsets;
  const Id* ends;
  const double* volumes;
};

struct Loads {
  double* arcs;            // one per arc, to be added to
  std::uint8_t* assigned;  // one per trip: is there a path?
};

// All of a trip goes on one shortest path. Lengths must not be negative; null means one for every
// arc. A path that is longer than the limit is none.
template <class Id, class Value>
void tree_loads(const Arcs<Id>& arcs, const Value* lengths, const Trips<Id>& trips, Value limit,
                const Loads& loads, int threads, Monitor& monitor);

// The same, each trip split over all of its shortest paths, a share for each. Throws
// CycleOfLengthZero (shortest_path_arcs.hpp).
template <class Id, class Value>
void split_loads(const Arcs<Id>& arcs, const Value* lengths, const Trips<Id>& trips, Value limit,
                 const Loads& loads, int threads, Monitor& monitor);

}  // namespace kleene::measures
