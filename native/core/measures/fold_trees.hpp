// Trees that hang on an undirected graph, folded into the vertices where they hang.
//
// A vertex with one neighbour is on no path but its own, so it is taken off, again and again, and
// the neighbour stands for both. What is left is the core, whose vertices stand for as many as
// their trees have. Paths within trees, and those that enter or leave one, are known by counting:
// of N vertices in a component, let v have child trees of c1, c2, ... vertices, and let R be the
// number of all others but v. The paths of the pairs in different parts lead through v,
//
//   (N - 1)^2 - c1^2 - c2^2 - ... - R^2
//
// ordered pairs, those within R left to the core; and the edge above a tree of c vertices is on the
// paths of c (N - c) pairs, each way. (Baglioni et al. 2012, "Fast exact computation of betweenness
// centrality in social networks", fold leaves so.)
#pragma once

#include <vector>

#include "measures/betweenness.hpp"

namespace kleene::measures {

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
