// Breadth-first search, in every form we have. A search fills one row with hop counts and
// predecessors and returns its horizon: how far the row is complete.
#pragma once

#include "monitor.hpp"
#include "search.hpp"

namespace kleene {

// Hop counts are as wide as vertex ids.
template <class Id>
struct BfsProblem {
  Arcs<Id> out;   // arcs by source
  Arcs<Id> into;  // arcs by target, for the forms that pull; else empty
  Id source = 0;
  Stop<Id, Id> stop;
};

// One queue, one core (Moore 1959).
template <class Id>
Id bfs_queue(const BfsProblem<Id>& problem, Row<Id, Id> row, int threads, Monitor& monitor);

}  // namespace kleene
