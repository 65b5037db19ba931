// Trees from many sources on an eliminated graph, in lanes.
//
// A path that is best climbs from its source to some ancestor and then descends. So a climb from
// each source (only its ancestors) and a sweep over all vertices from the roots down, in which a
// vertex takes the best of its upward neighbors, give all values of a tree: PHAST (Delling,
// Goldberg, Nowatzyk and Werneck 2013) on the elimination tree. Where only some targets matter, the
// sweep keeps to their ancestors (RPHAST).
#pragma once

#include <cstdint>

#include "closure/closure.hpp"
#include "parallel/monitor.hpp"
#include "prepared/elimination.hpp"
#include "prepared/sweep_kernel.hpp"

namespace kleene::prepared {

using parallel::Monitor;

// The depth of every head in the elimination tree, by arc; returns the number of depths.
std::int32_t head_depths(const Elimination& elimination, std::int32_t* depths);

template <class T>
struct SweepProblem {
  Elimination elimination;
  std::int64_t height;    // depths are below it
  DepthArcs<T> up, down;  // climbs follow up, sweeps follow down
  Semiring semiring;
  bool negative;   // may a value be below zero?
  int level = -1;  // of vector instructions; -1: the best

  std::int64_t depth(std::int64_t v) const {
    return elimination.parents[v] < 0 ? 0 : up.depths[elimination.offsets[v]] + 1;
  }
  closure::Elements<T> elements() const { return closure::elements_of<T>(semiring); }
};

// What to compute: a row for each source, a column for each target; both are ranks, in any order.
template <class Out>
struct SweepRows {
  std::int64_t count;
  const std::int32_t* sources;
  std::int64_t columns;
  const std::int32_t* targets;
  Out* values;
  std::int32_t* predecessors = nullptr;
};

// Fills the rows by sweeps over all vertices.
template <class T, class Out>
void sweep_all(const SweepProblem<T>& problem, const SweepRows<Out>& rows, int threads,
               Monitor& monitor);

// The same by sweeps over the ancestors of the targets.
template <class T, class Out>
void sweep_ancestors(const SweepProblem<T>& problem, const SweepRows<Out>& rows, int threads,
                     Monitor& monitor);

}  // namespace kleene::prepared
