// Shortest paths from single sources, in every form we have. A search fills one row with distances
// and predecessors.
//
// Distances are int32, int64, float or double, and arc lengths have the same type: the caller
// converts weights once. The type holds the length of every path twice over, so sums never wrap.
#pragma once

#include <cstdint>
#include <limits>
#include <vector>

#include "monitor.hpp"
#include "search.hpp"

namespace kleene {

template <class Value>
constexpr Value kNoPath =
    std::numeric_limits<Value>::has_infinity ? std::numeric_limits<Value>::infinity()
                                             : std::numeric_limits<Value>::max();

template <class Id, class Value>
struct SsspProblem {
  Arcs<Id> out;                    // arcs by source
  const Value* lengths = nullptr;  // of `out`
  Arcs<Id> into;                   // arcs by target, for the forms that pull; else empty
  const Value* into_lengths = nullptr;
  const Value* reported = nullptr;  // lengths to report, when `lengths` are reduced costs
  Id source = 0;
  Stop<Id, Value> stop;
  int level = -1;  // of vector instructions, as in `dense_levels`; -1 is the best there is
};

// Removes what a search that stopped early knows of vertices beyond its horizon.
template <class Id, class Value>
void cut_beyond(Value horizon, std::int64_t n, Row<Id, Value> row) {
  for (std::int64_t v = 0; v < n; ++v) {
    if (!(row.values[v] > horizon)) continue;
    row.values[v] = kNoPath<Value>;
    if (row.parents) row.parents[v] = -1;
  }
}

// One row per source, in the caller's memory, which need not be filled. horizons[i] says how far
// row i is complete.
template <class Id, class Value>
struct SsspRows {
  const Id* sources = nullptr;
  std::int64_t count = 0;
  Value* values = nullptr;    // count x n
  Id* parents = nullptr;      // count x n, or null
  Value* horizons = nullptr;  // count

  Row<Id, Value> at(std::int64_t i, std::int64_t n) const {
    return {values + i * n, parents ? parents + i * n : nullptr};
  }
};

// Thrown by sssp_bellman_ford: the vertices of a negative cycle, in arc order.
struct NegativeCycle {
  std::vector<std::int64_t> vertices;
};

// Settles vertices in order of distance (Dijkstra 1959). A search uses one core; several searches
// run side by side.
template <class Id, class Value>
void sssp_dijkstra(const SsspProblem<Id, Value>& problem, const SsspRows<Id, Value>& rows,
                   int threads, Monitor& monitor);

// Settles buckets of near distances (Meyer and Sanders 2003). Where there are enough sources, those
// near each other go at once, a vector lane each (sssp_lanes.hpp), or searches run side by side;
// else each uses all cores.
template <class Id, class Value>
void sssp_delta_stepping(const SsspProblem<Id, Value>& problem, const SsspRows<Id, Value>& rows,
                         int threads, Monitor& monitor);

// Lowers labels in rounds until nothing changes; lengths may be negative. Throws NegativeCycle.
template <class Id, class Value>
void sssp_bellman_ford(const SsspProblem<Id, Value>& problem, const SsspRows<Id, Value>& rows,
                       int threads, Monitor& monitor);

// The same from all sources at once: one row, of distances from the nearest source.
template <class Id, class Value>
void sssp_potentials(const SsspProblem<Id, Value>& problem, const SsspRows<Id, Value>& rows,
                     int threads, Monitor& monitor);

// Raises lower bounds until they meet the paths found (Garg 2020). Needs `into`.
template <class Id, class Value>
void sssp_llp(const SsspProblem<Id, Value>& problem, const SsspRows<Id, Value>& rows, int threads,
              Monitor& monitor);

}  // namespace kleene
