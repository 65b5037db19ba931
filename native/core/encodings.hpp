// Distances between all vertices of many small graphs, as padded square tables: what graph
// transformers take for positions. Graphs are shared out among the threads, one by one.
//
// Hop counts come from bit-parallel searches (after Then et al. 2014), turned round: a vertex holds
// the set of vertices it reached at the last level, as bits, and a level takes the union over the
// vertices that it leads to. In a graph of up to 64 vertices a set is one word. Lengths come from
// Floyd and Warshall's loop.
#pragma once

#include <cstdint>

#include "monitor.hpp"

namespace kleene {

// Graphs side by side. Arrays of offsets have count + 1 entries.
struct SmallGraphs {
  std::int64_t count;
  const std::int64_t* vertices;  // offsets: vertices of graph g are vertices[g] .. vertices[g + 1]
  const std::int64_t* arcs;      // offsets of the arcs of graph g
  const std::int64_t* sources;
  const std::int64_t* targets;
  const double* lengths;  // one per arc, not negative; null to count hops
  bool local;             // do the ids of each graph start from 0, or go on from graph to graph?
  bool symmetric;         // is every arc to be used in both directions?
};

// A table per graph, `side` squared, in the order of the graphs.
template <class T>
struct Tables {
  std::int64_t side;
  T* values;
  double farthest;  // stands for all values beyond it
  T unreachable;    // where there is no path
  T pad;            // outside the graph
  // The first `steps` arcs of one shortest path for each pair, as positions in
  // SmallGraphs::sources, then -1; null when not asked for. Where hops are counted, every next
  // vertex is the smallest.
  std::int64_t* paths;
  std::int64_t steps;
};

// Returns the position of the first arc that leaves its graph, or -1 when all is well.
template <class T>
std::int64_t encode_distances(const SmallGraphs& graphs, const Tables<T>& tables, int threads,
                              Monitor& monitor);

}  // namespace kleene
