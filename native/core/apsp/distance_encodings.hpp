// Distances between all vertices of many small graphs, as padded square tables: the positional
// encodings of graph transformers. Each graph is processed by one thread.
//
// Hop counts come from bit-parallel searches (after Then et al. 2014) in the reverse direction: a
// vertex holds the set of vertices it reached at the last level, as bits, and a level takes the
// union over the heads of its arcs. In a graph of up to 64 vertices a set is one word. Lengths come
// from the Floyd-Warshall loop.
#pragma once

#include <cstdint>

#include "parallel/monitor.hpp"

namespace kleene::apsp {

using namespace parallel;

// Graphs side by side. Arrays of offsets have count + 1 entries.
struct SmallGraphs {
  std::int64_t count;
  const std::int64_t* vertices;  // offsets: vertices of graph g are vertices[g] .. vertices[g + 1]
  const std::int64_t* arcs;      // offsets of the arcs of graph g
  const std::int64_t* tails;
  const std::int64_t* heads;
  const double* lengths;  // one per arc, not negative; null to count hops
  bool local;             // do the ids of each graph start from 0, or continue from graph to graph?
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
  // SmallGraphs::tails, then -1; null when not wanted. Where hops are counted, every next
  // vertex is the smallest.
  std::int64_t* paths;
  std::int64_t steps;
};

// Returns the position of the first arc that leaves its graph, or -1 when none does.
template <class T>
std::int64_t encode_distances(const SmallGraphs& graphs, const Tables<T>& tables, int threads,
                              Monitor& monitor);

}  // namespace kleene::apsp
