// Matrices without sweeps: products of climbs.
//
// The best path from s to t has a highest vertex, which is an ancestor of both. So its value is the
// best, over the common ancestors of s and t, of the climb from s times the climb to t (the query
// by elimination tree of Dibbelt, Strasser and Wagner 2014, for all pairs at once). Common
// ancestors are those of lowest depth, as many as the lowest common ancestor is deep. Sources and
// targets are sorted by rank, so that groups of them share most ancestors; a group of sources and a
// group of targets then have as many common ancestors for all pairs, as a rule, and the values of
// the block are a product of two small matrices over the semiring: the tile kernel of closures.
#pragma once

#include <utility>

#include "prepared/sweeps/sweep.hpp"

namespace kleene::prepared {

// Fills rows of values; there are targets, no predecessors, and no negative integers.
template <class T, class Out>
void multiply_climbs(const SweepProblem<T>& problem, const SweepRows<Out>& rows, int threads,
                     Monitor& monitor);

// How many ancestors of both there are, a vertex being an ancestor of itself.
inline std::int32_t count_common(const Elimination& elimination, const std::int32_t* depths,
                                 std::int32_t u, std::int32_t v) {
  if (u > v) std::swap(u, v);
  while (u < v) {  // the first ancestor of u that is not below v
    u = elimination.parents[u];
    if (u < 0) return 0;
  }
  return depths[u] + 1;
}

// What matrices cost, in relaxations of one lane.
struct MatrixWork {
  std::int64_t source_arcs, target_arcs;  // of all ancestors of the sources, of the targets
  double climb;                           // of one climb, as in a sample
  double common;                          // of one pair in a product, as in a sample
};

MatrixWork matrix_work(const Elimination& elimination, const std::int32_t* depths,
                       const std::int32_t* sources, std::int64_t source_count,
                       const std::int32_t* targets, std::int64_t target_count);

}  // namespace kleene::prepared
