// Shortest paths from single sources, one function per method. A method fills one row of distances
// and predecessors for each source.
//
// Distances are int32, int64, float or double, and arc lengths have the same type: the caller
// converts weights once. The type holds the length of every path twice over, so sums never wrap.
#pragma once

#include <cstdint>
#include <limits>
#include <span>
#include <vector>

#include "graph/method.hpp"
#include "graph/search.hpp"

namespace kleene::sssp {

using namespace parallel;
using namespace graph;

template <class Id, class Value>
struct Problem {
  Arcs<Id> outgoing;
  const Value* lengths = nullptr;  // of the outgoing arcs
  Arcs<Id> incoming;               // for methods that pull; else empty
  const Value* incoming_lengths = nullptr;
  // With reduced costs for `lengths` (Johnson 1977), distances are sums of these.
  const Value* original_lengths = nullptr;
  Id source = 0;
  StopCondition<Id, Value> stop;
  int level = -1;  // of vector instructions, see simd/levels.hpp; -1 is the best there is
};

// Clears the tentative distances beyond the horizon of a search that stopped early.
template <class Id, class Value>
void cut_beyond(Value horizon, std::int64_t n, ResultRow<Id, Value> row) {
  for (std::int64_t v = 0; v < n; ++v) {
    if (!(row.distances[v] > horizon)) continue;
    row.distances[v] = kNoPath<Value>;
    if (row.predecessors) row.predecessors[v] = kNoPredecessor<Id>;
  }
}

// Thrown by bellman_ford: the vertices of a negative cycle, in arc order.
struct NegativeCycle {
  std::vector<std::int64_t> vertices;
};

// ---- the methods: methods.cpp lists them ------------------------------------------------------

// Settles vertices in order of distance (Dijkstra 1959). A search uses one core; several searches
// run side by side.
template <class Id, class Value>
void dijkstra(const Problem<Id, Value>& problem, const ResultRows<Id, Value>& rows, int threads,
              Monitor& monitor);

// Settles buckets of distances (Meyer and Sanders 2003). With enough sources, those near each other
// are searched from at once, a vector lane each (lane_search.hpp), or searches run side by side on
// one core each; else each uses all cores.
template <class Id, class Value>
void delta_stepping(const Problem<Id, Value>& problem, const ResultRows<Id, Value>& rows,
                    int threads, Monitor& monitor);

// Relaxes changed vertices in rounds until nothing changes; lengths may be negative. Throws
// NegativeCycle.
template <class Id, class Value>
void bellman_ford(const Problem<Id, Value>& problem, const ResultRows<Id, Value>& rows, int threads,
                  Monitor& monitor);

// The same from all sources at once: one row, of distances from the nearest source.
template <class Id, class Value>
void potentials(const Problem<Id, Value>& problem, const ResultRows<Id, Value>& rows, int threads,
                Monitor& monitor);

// Raises lower bounds until they meet tentative distances (Garg 2020). Needs `incoming`.
template <class Id, class Value>
void llp(const Problem<Id, Value>& problem, const ResultRows<Id, Value>& rows, int threads,
         Monitor& monitor);

// ---- the table of the methods (methods.cpp) -----------------------------------------------------

template <class Id, class Value>
struct Method {
  MethodTraits traits;
  void (*search_all)(const Problem<Id, Value>& problem, const ResultRows<Id, Value>& rows,
                     int threads, Monitor& monitor);
};

template <class Id, class Value>
std::span<const Method<Id, Value>> methods();

}  // namespace kleene::sssp
