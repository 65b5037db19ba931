// Eccentricities by bounds: exact answers from few searches.
//
// The eccentricity of a vertex is its distance to the farthest one. A search from v, and one along
// reversed arcs, give d(v, w) and d(w, v) for all w, and so bounds by the triangle inequality:
//
//   d(w, v)  and  ecc(v) - d(v, w)   <=   ecc(w)   <=   d(w, v) + ecc(v)
//
// The next search begins where it decides most: alternately at the vertex whose eccentricity may be
// largest and at the one whose may be smallest, of those that still matter to the question; among
// equals, at the one farthest from, or nearest to, all searches so far. A vertex matters to the
// diameter while its upper bound exceeds the largest eccentricity known, to the radius while its
// lower bound is below the smallest one known.
//
// F. W. Takes and W. A. Kosters, "Computing the eccentricity distribution of large graphs", 2013.
// M. Borassi et al., "Fast diameter and radius BFS-based computation in (weakly connected)
// real-world graphs", 2015 (directed graphs, sums of distances).
//
// Rounding. Distances of floats, added up arc by arc, are off by at most n eps / 2 of themselves,
// so bounds are widened by 2 n eps: a vertex that is ruled out by them would not matter in that
// arithmetic either, and the answer is that of searches from all vertices, bit for bit. Bounds that
// meet then prove nothing; an eccentricity is known after a search from its vertex alone.
//
// On some graphs no bound helps: all vertices of a circle are alike. The driver gives up when
// searches rule out too few vertices, and leaves the rest to searches from many sources at once.
#pragma once

#include <cstdint>
#include <type_traits>

#include "measures/component_searches.hpp"

namespace kleene::measures {

enum class Goal { kDiameter, kRadius, kPeriphery, kCenter };

// Bounds are int64 for integers and hops, double for floats.
template <class Value>
using BoundOf = std::conditional_t<std::is_integral_v<Value>, std::int64_t, double>;

// Bounds on the eccentricity of each vertex, in the caller's memory; `known` is 1 where it is
// known, and both are equal to it.
template <class Bound>
struct EccentricityBounds {
  Bound* lower = nullptr;
  Bound* upper = nullptr;
  std::uint8_t* known = nullptr;
};

template <class Bound>
struct Extremes {
  Bound largest, smallest;     // eccentricity known
  std::int64_t searches = 0;   // that it took, both directions counted
  std::int64_t undecided = 0;  // vertices that still matter
};

// Fills all bounds, and decides the goal unless it gives up.
template <class Id, class Value>
Extremes<BoundOf<Value>> bound_eccentricities(const Lengths<Id, Value>& graph, Goal goal,
                                              const EccentricityBounds<BoundOf<Value>>& bounds,
                                              int threads, Monitor& monitor);

}  // namespace kleene::measures
