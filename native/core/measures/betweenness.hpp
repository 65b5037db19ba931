// Betweenness where every arc counts one: for each vertex and each arc, the sum over pairs of a
// source and a target of the part of the shortest paths that lead through it.
//
// Brandes' algorithm: a search from each source counts the shortest paths to every vertex, and a
// pass backward, from the farthest vertices on, sums up what paths go on from each.
//
// U. Brandes, "A faster algorithm for betweenness centrality", 2001.
#pragma once

#include <cstdint>
#include <vector>

#include "graph/arcs.hpp"

namespace kleene::measures {

using graph::Arcs;
using parallel::Monitor;

struct BetweennessProblem {
  Arcs<std::int32_t> outgoing, incoming;
  const std::int32_t* sources;  // each at most once
  std::int64_t source_count;
  const double* source_weights;  // of each source: how many it stands for
  const double* target_weights;  // of each vertex: how many targets it stands for
  std::int64_t limit;            // arcs of the longest path that counts
  bool endpoints;                // whether a path counts for its ends, too
};

// Sums, which results are added to.
struct BetweennessSums {
  double* through;  // vertices
  double* along;    // arcs, or null
};

// Sources in batches, a vector lane each. Threads take batches of their own, or share each one
// where there are few. `level` is one of simd::levels(), -1 the best; `lanes` are 4, 8, 16, 32 or
// 64, and 0 chooses.
void betweenness_by_lanes(const BetweennessProblem& problem, const BetweennessSums& sums, int lanes,
                          int threads, int level, Monitor& monitor);

// ---- trees, folded (fold_trees.cpp) -------------------------------------------------------------

struct Core {
  std::vector<std::int32_t> vertices;  // of the graph, those that are left and have neighbours
  std::vector<double> weights;         // how many each stands for
  std::vector<std::int64_t> offsets;   // arcs between them
  std::vector<std::int32_t> neighbors;
  std::vector<std::int64_t> arcs;  // their positions in the graph
};

// Adds the sums of all pairs that leave, enter or stay in a tree; the arcs lead both ways.
Core fold_trees(const Arcs<std::int32_t>& arcs, bool endpoints, const BetweennessSums& sums);

}  // namespace kleene::measures
