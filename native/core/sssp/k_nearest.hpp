// The k nearest of some facilities for every vertex, and how far they are.
//
// Every vertex keeps up to k labels (distance, facility), no two of the same facility, ordered by
// distance and then by the order of the facilities. A label that enters a vertex is passed on along
// the vertex's arcs; one that is pushed out need not be, since the k before it stay before it. So
// the work is that of k searches, however many facilities there are.
//
// Labels wait in buckets of distances, as in delta-stepping (Meyer and Sanders 2003). A round has
// two steps on all cores: drop the labels of the bucket that were pushed out in the meantime; pass
// on the others. What enters during a round is passed on in a later one, and to keep the first k of
// a set does not depend on the order in which they come: so neither does the answer, not even where
// rounding makes two distances equal.
//
// The nearest facility alone follows from the distances to it, by any search: `nearest_owners`.
//
// U. Meyer and P. Sanders, "Delta-stepping: a parallelizable shortest path algorithm", 2003.
#pragma once

#include <cstdint>

#include "graph/search.hpp"

namespace kleene::sssp {

using namespace parallel;
using namespace graph;

// Vertices by the order of the list; one may be there more than once.
template <class Id>
struct Facilities {
  const Id* vertices = nullptr;
  std::int64_t count = 0;
};

// Rows of k labels per vertex, in the caller's memory, filled with "no path" and -1.
template <class Id, class Value>
struct Labels {
  std::int64_t k = 0;
  Value* distances = nullptr;
  Id* facilities = nullptr;  // positions in the list
};

// Lengths must not be negative; null means one for every arc.
template <class Id, class Value>
void k_nearest(const Arcs<Id>& arcs, const Value* lengths, const Facilities<Id>& facilities,
               Value limit, const Labels<Id, Value>& labels, int threads, Monitor& monitor);

// Given the distance of every vertex from the nearest facility, fills in which that is: among the
// facilities from which arcs that lose nothing lead to the vertex, the first of the list. `owners`
// holds -1 everywhere.
template <class Id, class Value>
void nearest_owners(const Arcs<Id>& arcs, const Value* lengths, const Facilities<Id>& facilities,
                    const Value* distances, Id* owners, Monitor& monitor);

}  // namespace kleene::sssp
