// Trees from many sources on an eliminated graph, in lanes.
//
// A path that is best climbs from its source to some ancestor and then descends. So a climb from
// each source (only its ancestors) and a sweep over all vertices from the roots down, in which a
// vertex takes the best of its upward neighbors, give all values of a tree: PHAST (Delling,
// Goldberg, Nowatzyk and Werneck 2013) on the elimination tree. Where only some targets matter, the
// sweep keeps to their ancestors (RPHAST).
#pragma once

#include <cstdint>
#include <utility>
#include <vector>

#include "closure/closure.hpp"
#include "parallel/monitor.hpp"
#include "prepared/elimination/elimination.hpp"
#include "prepared/sweeps/sweep_kernel.hpp"

namespace kleene::prepared {

using parallel::Monitor;

template <class T>
struct SweepProblem {
  Elimination elimination;
  const std::int32_t* depths;  // of the vertices, by rank
  const std::int32_t* sizes;   // of their subtrees
  std::int64_t height;         // depths are below it
  DepthArcs<T> up, down;       // climbs follow up, sweeps follow down
  Semiring semiring;
  bool negative;  // may a value be below zero?
  int level;      // of vector instructions; -1: the best

  bool paths() const { return up.last != nullptr; }
  closure::Elements<T> elements() const { return closure::elements_of<T>(semiring); }
  SweepKernel<T> kernel() const { return sweep_kernel<T>(semiring, negative, level); }
};

// A row for each source, a column for each target; both are ranks, in any order.
template <class Out>
struct SweepRows {
  std::int64_t count;
  const std::int32_t* sources;
  std::int64_t columns;
  const std::int32_t* targets;  // null: all vertices, in the order of the graph
  Out* values;
  std::int32_t* predecessors;  // or null
};

// Integers have a "no path" inside that can be added to.
template <class Out>
Replacement<Out> shown_no_path(Semiring semiring, auto zero) {
  const Out inside = static_cast<Out>(zero);
  if (semiring != Semiring::kMinPlus) return {inside, inside};
  return {inside, graph::kNoPath<Out>};
}

// The positions of some ranks, in the order of the ranks: neighbors share most of their ancestors.
std::vector<std::int32_t> sorted_positions(const std::int32_t* ranks, std::int64_t count);

// Bytes for the lines of all vertices, which a caller may keep from call to call.
std::int64_t sweep_bytes(std::int64_t n, bool paths);

// Fills rows by sweeps over all vertices, or over the ancestors of the targets. `order` has the
// vertex of each rank. `workspace` has sweep_bytes, aligned as lines are.
template <class T, class Out>
void sweep(const SweepProblem<T>& problem, const std::int32_t* order, const SweepRows<Out>& rows,
           void* workspace, int threads, Monitor& monitor);

// ---- matrices without sweeps (sweep_products.cpp) -----------------------------------------------

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
