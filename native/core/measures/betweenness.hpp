// Betweenness: for each vertex and each arc, the sum over pairs of a source and a target of the
// part of the shortest paths that lead through it.
//
// Brandes' algorithm: a search from each source counts the shortest paths to every vertex, and a
// pass backward, from the farthest vertices on, sums up what paths go on from each.
//
// U. Brandes, "A faster algorithm for betweenness centrality", 2001.
#pragma once

#include <cstdint>
#include <vector>

#include "graph/arcs.hpp"
#include "measures/shortest_path_arcs.hpp"

namespace kleene::measures {

using namespace parallel;
using namespace graph;

// ---- where every arc counts one (betweenness_lanes.cpp) -----------------------------------------

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

// ---- with lengths of arcs (weighted_brandes.cpp) ------------------------------------------------

template <class Id, class Value>
struct WeightedPaths {
  Arcs<Id, Value> arcs;  // the weights are not negative; no path is too long for half of the type
  const Id* sources = nullptr;
  std::int64_t count = 0;
  Value limit;     // paths that are longer do not count
  int level = -1;  // of vector instructions, see simd/levels.hpp; -1 is the best there is
};

// Adds to the sums of all vertices and arcs; throws CycleOfLengthZero.
template <class Id, class Value>
void weighted_brandes(const WeightedPaths<Id, Value>& paths, const PathSums& sums, int threads,
                      Monitor& monitor);

// ---- estimated by sampled paths (kadabra.cpp) ---------------------------------------------------

// Weight is NoWeight where paths are measured by their arcs.
template <class Id, class Weight>
struct PathSampling {
  Arcs<Id, Weight> outgoing, incoming;
  bool endpoints = false;   // count a path's ends as well
  bool arcs = false;        // count arcs as well
  bool undirected = false;  // count both arcs of an edge as the one from its smaller end
  std::uint64_t seed = 0;
};

// Where sampling stops: at numbers of samples `ends`, ascending, if every item i was counted at
// most limits[k * classes + class_of[i]] times, at the last of them in any case.
struct StopLimits {
  const std::int64_t* ends = nullptr;
  std::int64_t stops = 0;
  const std::int64_t* limits = nullptr;
  std::int64_t classes = 0;
  const std::int64_t* class_of = nullptr;  // null: no limits, only the last end
};

// Takes samples first, first + 1, ... and adds to counts: an item for each vertex, then for each
// outgoing arc. Returns how many were taken. There must be two vertices. Throws CycleOfLengthZero.
template <class Id, class Weight>
std::int64_t sample_paths(const PathSampling<Id, Weight>& sampling, std::int64_t first,
                          const StopLimits& stop, std::int64_t* counts, int threads,
                          Monitor& monitor);

}  // namespace kleene::measures
