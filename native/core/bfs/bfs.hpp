// Breadth-first search, one function per method. A search fills one row with hop counts and
// predecessors and returns its horizon: the depth up to which the row is complete.
#pragma once

#include <algorithm>
#include <cstdint>
#include <limits>
#include <span>

#include "graph/method.hpp"
#include "graph/search.hpp"

namespace kleene::bfs {

using namespace parallel;
using namespace graph;

// Hop counts are as wide as vertex ids.
template <class Id>
struct Problem {
  Arcs<Id> outgoing;
  Arcs<Id> incoming;          // for methods that pull; else empty
  const Id* tails = nullptr;  // the tail of each outgoing arc, for the method over arcs
  Id source = 0;
  StopCondition<Id, Id> stop;
};

// The horizon of a search that ran to its end.
template <class Id>
constexpr Id kNoHorizon = std::numeric_limits<Id>::max();

// Arcs that take as long to scan as a thread takes to start.
constexpr std::int64_t kArcsPerThread = 1 << 12;

template <class Id>
int team_size(const Problem<Id>& problem, int threads) {
  const std::int64_t work = 1 + problem.outgoing.count() / kArcsPerThread;
  return static_cast<int>(std::min<std::int64_t>(threads, work));
}

// Decides at each level whether a search may stop. Remembers the first target that was not reached,
// so that all calls together check each target once.
template <class Id>
class LevelStop {
 public:
  LevelStop(const StopCondition<Id, Id>& stop, const Id* distances)
      : stop_(stop), distances_(distances) {}

  // May the search stop, all vertices up to this depth being settled?
  bool at(Id depth) {
    if (depth == stop_.limit) return true;
    if (stop_.targets == nullptr) return false;
    while (settled_ < stop_.target_count && distances_[stop_.targets[settled_]] >= 0) ++settled_;
    return settled_ == stop_.target_count;
  }

 private:
  const StopCondition<Id, Id>& stop_;
  const Id* distances_;
  std::int64_t settled_ = 0;
};

// ---- the methods: methods.cpp lists them ------------------------------------------------------

// One queue, one core (Moore 1959).
template <class Id>
Id queue(const Problem<Id>& problem, ResultRow<Id, Id> row, int threads, Monitor& monitor);

// Every arc, or every vertex, at every level (sweep.cpp).
template <class Id>
Id edge(const Problem<Id>& problem, ResultRow<Id, Id> row, int threads, Monitor& monitor);
template <class Id>
Id vertex_push(const Problem<Id>& problem, ResultRow<Id, Id> row, int threads, Monitor& monitor);
template <class Id>
Id vertex_pull(const Problem<Id>& problem, ResultRow<Id, Id> row, int threads, Monitor& monitor);
template <class Id>
Id spmv(const Problem<Id>& problem, ResultRow<Id, Id> row, int threads, Monitor& monitor);

// One frontier queue that the threads share, or one for each thread (frontier.cpp).
template <class Id>
Id frontier(const Problem<Id>& problem, ResultRow<Id, Id> row, int threads, Monitor& monitor);
template <class Id>
Id privatized(const Problem<Id>& problem, ResultRow<Id, Id> row, int threads, Monitor& monitor);

// Pushes from small frontiers, pulls into large ones (Beamer et al. 2012). Only pushes without
// problem.incoming.
template <class Id>
Id direction_optimizing(const Problem<Id>& problem, ResultRow<Id, Id> row, int threads,
                        Monitor& monitor);

// Many searches at once, a bit each (Then et al. 2014). Fills all rows with hop counts, or
// `no_path` where a vertex is not reached; ignores problem.source.
template <class Id>
void multi_source(const Problem<Id>& problem, const ResultRows<Id, Id>& rows, Id no_path,
                  int threads, Monitor& monitor);

// ---- beside the methods -----------------------------------------------------------------------

// The depth of a search, a vertex of its last level, and how many vertices it reaches. Two searches
// give a lower bound on the diameter.
struct Eccentricity {
  std::int64_t depth;
  std::int64_t farthest;
  std::int64_t reached;
};

template <class Id>
Eccentricity eccentricity(const Arcs<Id>& arcs, Id source, Monitor& monitor);

// ---- the table of the methods (methods.cpp) -----------------------------------------------------

// Fills one row per source. Rows are filled with -1 where a vertex is not reached, or with
// `no_path` by a method that searches from many sources at once.
template <class Id>
using SearchAll = void(const Problem<Id>& problem, const ResultRows<Id, Id>& rows, Id no_path,
                       int threads, Monitor& monitor);

template <class Id>
struct Method {
  MethodTraits traits;
  SearchAll<Id>* search_all;
};

template <class Id>
std::span<const Method<Id>> methods();

}  // namespace kleene::bfs
