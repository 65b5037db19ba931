// Values for the pairs that elimination joined, from the weights of a graph.
//
// A pair (v, u), u above v, holds the best path from v to u and back whose inner vertices are all
// below v. It starts as the arcs between the two; then every triangle v < u < w offers the pair
// (u, w) the way over v. Triangles are relaxed by their middle corner: when u's turn comes, all its
// lower neighbors v are final, and u takes from each what v knows about upward neighbors of u. So
// only u's own values are written in its turn.
//
// Integers may wrap along a negative cycle, but not below it: let y be the vertex of lowest rank
// that is the second highest of a negative cycle. All values of y and below are lengths of paths,
// since they could go around no cycle; and some pair of y has a negative sum of both directions,
// which none below has.
//
// J. Dibbelt, B. Strasser, D. Wagner, "Customizable Contraction Hierarchies", 2016.
#pragma once

#include <cstdint>

#include "graph/arcs.hpp"
#include "parallel/monitor.hpp"
#include "prepared/algebra.hpp"
#include "prepared/customization/supernodes.hpp"
#include "prepared/elimination/elimination.hpp"

namespace kleene::prepared {

using parallel::Monitor;

// ---- arcs of the graph (customize_arcs.cpp) -----------------------------------------------------

// The arcs of a graph that pairs start from: in each direction the pairs that have one, ascending,
// and the arcs.
struct PairArcs {
  struct List {
    parallel::Buffer<std::int64_t> pairs;
    parallel::Buffer<std::int32_t> arcs;
  };
  List up, down;
  std::int64_t loop = -1;  // a vertex with an arc to itself, if there is one
  std::int64_t unknown =
      -1;  // an arc between vertices that are not a pair; the lists are then useless
};

// Finds the pair of every arc. `order` has the graph's vertices by rank, `ranks` is its inverse.
template <class Id>
PairArcs find_arcs(const graph::Arcs<Id>& arcs, const std::int32_t* order,
                   const std::int32_t* ranks, const Elimination& elimination, int threads,
                   Monitor& monitor);

// Pairs start from these weights; null where every arc counts one.
template <class Value>
struct StartValues {
  const PairArcs& arcs;
  const Value* weights;

  Value weight(std::int32_t arc) const { return weights == nullptr ? Value{1} : weights[arc]; }

  // Do both arcs of every pair have the same weight?
  bool are_symmetric(int threads) const;

  // Sets all pairs of a direction, to `none` where there is no arc.
  void set(const PairArcs::List& list, std::int64_t pairs, Value none, Value* values,
           int threads) const;
};

struct Options {
  int threads = 1;
  int level = -1;  // of vector instructions, see simd/levels.hpp; -1: the best there is
};

// ---- triangles (customize.cpp) ------------------------------------------------------------------

// Fills `up` and `down`; they are the same array for a symmetric graph. monitor.advance counts
// pairs.
template <class Algebra>
void customize(const Elimination& elimination, const Supernodes& supernodes,
               const StartValues<typename Algebra::Value>& start, typename Algebra::Value* up,
               typename Algebra::Value* down, const Options& options, Monitor& monitor);

// ---- how the values came about (middles.cpp) ----------------------------------------------------

// Fills in, for both directions of every pair, the rank of the vertex below that the best path goes
// through; -1 where an arc of the graph is as good, or where there is no path. Of several vertices
// it is the lowest, so that (in exact arithmetic) no vertex is twice on the path that a pair stands
// for: without the cycle between, the path would have a lower middle. `start` is null where the
// arcs are not known; -1 then means that no triangle is as good. The middles of a symmetric graph
// are one array.
template <class Algebra>
void find_middles(const Elimination& elimination, const Supernodes& supernodes,
                  const PairValues<typename Algebra::Value>& values,
                  const StartValues<typename Algebra::Value>* start, std::int32_t* up,
                  std::int32_t* down, const Options& options, Monitor& monitor);

// The middles of all pairs.
struct PairMiddles {
  const std::int32_t* up;
  const std::int32_t* down;
};

// Fills in the vertex of the graph before the end of the path that a pair stands for, in both
// directions. `order` has the vertices by rank.
void find_last_vertices(const Elimination& elimination, const Supernodes& supernodes,
                        const std::int32_t* order, const PairMiddles& middles, std::int32_t* up,
                        std::int32_t* down, int threads, Monitor& monitor);

// ---- lengths of paths (customize_lengths.cpp) ---------------------------------------------------

// The first pair whose two directions have a negative sum; -1 for none.
template <class Value>
std::int64_t first_negative(const Elimination& elimination, const PairValues<Value>& values);

// The first pair of which the cycle there and back is negative beyond rounding, by the rule of
// src/kleene/backends/common/cycles.py; -1 for none.
template <class Value>
std::int64_t first_negative_beyond_rounding(const Elimination& elimination,
                                            const StartValues<Value>& start,
                                            const PairMiddles& middles);

// Sets all values to the sums of floating-point weights along the paths of these middles. `up` and
// `down` are two arrays.
template <class Value>
void add_up(const Elimination& elimination, const StartValues<Value>& start,
            const PairMiddles& middles, Value* up, Value* down);

// How far the vertices of a weak component are from its root, at most: the sum of the farthest way
// to the root and the farthest way from it. Vertices that do not have both ways are apart.
struct Reach {
  std::int64_t farthest;
  std::int64_t apart;
};

template <class Value>
Reach reach_of_roots(const Elimination& elimination, const Supernodes& supernodes,
                     const PairValues<Value>& values, int threads, Monitor& monitor);

}  // namespace kleene::prepared
