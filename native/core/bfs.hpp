// Breadth-first search, in every form we have. A search fills one row with hop counts and
// predecessors and returns its horizon: how far the row is complete.
#pragma once

#include <algorithm>

#include "monitor.hpp"
#include "search.hpp"

namespace kleene {

// Hop counts are as wide as vertex ids.
template <class Id>
struct BfsProblem {
  Arcs<Id> out;               // arcs by source
  Arcs<Id> into;              // arcs by target, for the forms that pull; else empty
  const Id* tails = nullptr;  // the source of each arc, for the form over single arcs
  Id source = 0;
  Stop<Id, Id> stop;
};

// The horizon of a search that ran to its end.
template <class Id>
constexpr Id kNoHorizon = std::numeric_limits<Id>::max();

// A thread is worth starting for this many arcs: they take as long as the thread takes to start.
constexpr std::int64_t kArcsPerThread = 1 << 12;

template <class Id>
int team_size(const BfsProblem<Id>& problem, int threads) {
  const std::int64_t work = 1 + problem.out.count() / kArcsPerThread;
  return static_cast<int>(std::min<std::int64_t>(threads, work));
}

// One queue, one core (Moore 1959).
template <class Id>
Id bfs_queue(const BfsProblem<Id>& problem, Row<Id, Id> row, int threads, Monitor& monitor);

// Every arc, or every vertex, at every level (bfs_sweeps.cpp).
template <class Id>
Id bfs_edge(const BfsProblem<Id>& problem, Row<Id, Id> row, int threads, Monitor& monitor);
template <class Id>
Id bfs_vertex_push(const BfsProblem<Id>& problem, Row<Id, Id> row, int threads, Monitor& monitor);
template <class Id>
Id bfs_vertex_pull(const BfsProblem<Id>& problem, Row<Id, Id> row, int threads, Monitor& monitor);
template <class Id>
Id bfs_spmv(const BfsProblem<Id>& problem, Row<Id, Id> row, int threads, Monitor& monitor);

// Queues that the threads share, or have to themselves (bfs_frontiers.cpp).
template <class Id>
Id bfs_frontier(const BfsProblem<Id>& problem, Row<Id, Id> row, int threads, Monitor& monitor);
template <class Id>
Id bfs_privatized(const BfsProblem<Id>& problem, Row<Id, Id> row, int threads, Monitor& monitor);

// Pushes from small frontiers, pulls into large ones (Beamer et al. 2012). Without problem.into it
// only pushes.
template <class Id>
Id bfs_direction_optimizing(const BfsProblem<Id>& problem, Row<Id, Id> row, int threads,
                            Monitor& monitor);

// Many searches at once, a bit each (Then et al. 2014). Fills `count` rows, which follow one
// another in memory and need not be initialised, with hop counts or `no_path`; problem.source is
// not looked at.
template <class Id>
void bfs_multi_source(const BfsProblem<Id>& problem, const Id* sources, std::int64_t count,
                      Row<Id, Id> rows, Id* horizons, Id no_path, int threads, Monitor& monitor);

// The vertices reached, in the order of bfs_queue: returns how many, or -1 when an arc leads to
// what is no vertex. Rows need not be sorted; with `also`, its arcs are looked at after those of
// the same vertex. Only parents of what is reached are written.
template <class Id>
std::int64_t bfs_order(const Arcs<Id>& arcs, const Arcs<Id>* also, Id source, Id* order,
                       Id* parents, Monitor& monitor);

}  // namespace kleene
