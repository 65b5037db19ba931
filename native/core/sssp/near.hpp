// What is near in a graph: vertices, facilities, and paths nearly as short as the shortest.
#pragma once

#include <cstdint>
#include <vector>

#include "graph/csr.hpp"
#include "graph/reached_rows.hpp"
#include "graph/search.hpp"

namespace kleene::sssp {

using namespace parallel;
using namespace graph;

// ---- vertices within a limit (bounded_search.cpp) -----------------------------------------------

// Where searches stop.
template <class Value>
struct Bounds {
  const Value* limits = nullptr;  // one per source, or one for all
  bool own_limits = false;
  std::int64_t count = 0;  // vertices besides the source

  Value limit(std::int64_t source) const { return limits[own_limits ? source : 0]; }
};

// Lengths must not be negative; null means one for every arc. Throws MemoryNeeded, with an estimate
// for all rows, once the rows take more than `available` bytes.
template <class Id, class Value>
Reached<Id, Value> bounded_search(const Arcs<Id>& arcs, const Value* lengths, const Id* sources,
                                  std::int64_t count, const Bounds<Value>& bounds,
                                  bool with_predecessors, std::int64_t available, int threads,
                                  Monitor& monitor);

// ---- the nearest facilities of every vertex (k_nearest.cpp) -------------------------------------

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

// ---- the shortest paths of a pair (k_shortest_paths.cpp) ----------------------------------------

// The paths one after another, best first: all their vertices, and how many each has.
struct ShortestPaths {
  std::vector<std::int32_t> vertices;
  std::vector<std::int64_t> sizes;
  std::vector<double> lengths;
};

// `to_sink` holds the distance of every vertex to the sink. There must be no negative cycle.
ShortestPaths k_shortest_paths(const Arcs<std::int32_t>& arcs, const double* lengths,
                               const double* to_sink, std::int32_t source, std::int32_t sink,
                               std::int64_t count, Monitor& monitor);

// The same for many pairs, shared out among the threads: pair i runs from sources[i] to
// sinks[rows[i]], and row r of `to_sink` holds the distances to sinks[r].
struct PathPairs {
  std::int64_t count;
  const std::int32_t* sources;
  const std::int32_t* rows;
  const std::int32_t* sinks;
  const double* to_sink;
};

std::vector<ShortestPaths> k_shortest_paths(const Arcs<std::int32_t>& arcs, const double* lengths,
                                            const PathPairs& pairs, std::int64_t count, int threads,
                                            Monitor& monitor);

}  // namespace kleene::sssp
