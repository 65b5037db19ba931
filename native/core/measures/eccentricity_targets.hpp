// The eccentricities of all vertices, from few searches: few vertices are farthest from any other.
//
// Let T, the targets, be vertices that were searched to along reversed arcs, so that d(v, w) is
// known for all v and all w in T. A search from s bounds the distances to all other vertices x:
//
//   d(v, x)  <=  d(v, s) + d(s, x)  <=  d(v, s) + rest(s),   rest(s) = max of d(s, x), x not in T
//
// Where that is at most the largest of d(v, w), w in T, this is the eccentricity of v. So searches
// begin where bounds are widest, alternately at the open vertex whose farthest vertex may be
// farthest and at the one whose targets are nearest (Takes and Kosters, see
// measures/eccentricity_bounds.hpp); and each one makes a target of the farthest vertex that is
// none. On roads that takes a fifth of the searches of bounds on eccentricities alone, which meet
// only where s lies on a shortest path to the farthest vertex.
//
// All of this holds within a strong component: its vertices reach the same vertices, and targets
// may be any of these. Small components that are not closed are left to the caller.
//
// Floats. A search adds up lengths arc by arc from its source, and the answer is the largest of
// these sums, bit for bit. Where all sums are exact (whole numbers, and other multiples of a power
// of two) bounds decide as those of integers do. Otherwise a sum is off by at most n eps / 2 of
// itself: bounds are widened by 2 n eps, so that no vertex but the targets within that of the
// largest can have the largest sum; and the sums to these are computed anew. The path with the
// smallest sum from v to w is nearly shortest, so each of its arcs (u, x) has
//
//   length(u, x) + d(x, w)  <=  d(u, w) + 4 n eps * (the largest d(., w)).
//
// Where one arc of each vertex does, as on most graphs, adding up these is all. Where several do, a
// Dijkstra search among them finds the smallest sum. A vertex for which that visits too many is
// left to the caller.
#pragma once

#include <cstdint>

#include "measures/eccentricity_bounds.hpp"

namespace kleene::measures {

// Fills `values` where it sets `known` to 1, and returns how many searches it took. Components are
// strong ones; they are closed if no arc leads from one to another.
template <class Id, class Value>
std::int64_t target_eccentricities(const Lengths<Id, Value>& graph, bool closed,
                                   BoundOf<Value>* values, std::uint8_t* known, int threads,
                                   Monitor& monitor);

}  // namespace kleene::measures
