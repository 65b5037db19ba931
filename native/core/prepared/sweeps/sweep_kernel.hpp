// The inner loops of climbs and sweeps for several sources at once, one to a lane, one version per
// vector instruction set, chosen at run time (simd/levels.hpp).
//
// A line is a vector of one value for each source, as long as a cache line. All upward neighbors of
// a vertex are ancestors, so while the tree is walked depth first, one line for each depth holds
// all that a vertex needs: arcs name the depth of their head, and nothing is read at random.
#pragma once

#include <cstdint>
#include <type_traits>

#include "graph/semiring.hpp"

namespace kleene::prepared {

using graph::Semiring;

constexpr int kLineBytes = 64;

template <class T>
constexpr int kLanes = kLineBytes / sizeof(T);

// Predecessors in lanes are as wide as values.
template <class T>
using LaneIndex = std::conditional_t<sizeof(T) == 8, std::int64_t, std::int32_t>;

// The joined pairs in one direction, by rank of their lower end.
template <class T>
struct DepthArcs {
  const std::int64_t* offsets;
  const std::int32_t* depths;  // of the heads; the first of a rank is its parent's
  const T* values;
  const std::int32_t* last;  // the vertex before the end of each pair's path, or null
};

// Lines of values, and of predecessors where these are kept (else null).
template <class T>
struct Lines {
  T* values;
  LaneIndex<T>* predecessors;
};

// Vertices whose lines are computed one after the other: `first` and those just below it.
template <class T>
struct SweepRun {
  std::int64_t first, count;
  Lines<T> initial;  // of the first vertex, before its arcs are relaxed; the others begin with zero
  Lines<T> by_depth;  // of the ancestors; those of the run are added
  Lines<T> lines;     // to fill: that of v at places[v]
  const std::int32_t* places;
  bool stream;  // past the caches
};

template <class T>
struct SweepKernel {
  // Relaxes the upward arcs of a vertex, whose line is `from`.
  using Climb = void(const DepthArcs<T>& arcs, std::int64_t vertex, const T* from, T zero,
                     Lines<T> by_depth);
  using Sweep = void(const DepthArcs<T>& arcs, const SweepRun<T>& run, T zero);

  Climb* climb = nullptr;
  Sweep* sweep = nullptr;
  Climb* climb_paths = nullptr;  // the same with predecessors; null for bytes
  Sweep* sweep_paths = nullptr;
};

// The kernel at a level of simd::levels(); -1 is the best. Where integers may be negative, "no
// path" is compared before it is added.
template <class T>
SweepKernel<T> sweep_kernel(Semiring semiring, bool negative, int level);

// A value that users see as another one: no path.
template <class Out>
struct Replacement {
  Out inside, outside;
};

// Copies lanes of lines into rows: rows[k][j] becomes lane k of the line columns[j], or of the line
// j for no columns, for j = begin .. end - 1.
template <class T, class Out>
using WriteRows = void(const T* lines, const std::int32_t* columns, std::int64_t begin,
                       std::int64_t end, Replacement<Out> replacement, int count, Out* const* rows);

template <class T, class Out>
WriteRows<T, Out>* write_rows(int level);

}  // namespace kleene::prepared
