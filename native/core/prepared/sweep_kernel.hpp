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
  const std::int32_t* last = nullptr;  // the vertex before the end of the pair's path, or null
};

// Lines of values, and of predecessors where these are kept (else null).
template <class T>
struct Lines {
  T* values;
  LaneIndex<T>* predecessors = nullptr;

  Lines at(std::int64_t i) const {
    return {values + i * kLanes<T>, predecessors ? predecessors + i * kLanes<T> : nullptr};
  }
};

template <class T>
struct SweepKernel {
  // Relaxes the upward arcs of a vertex, whose line is `from`; `by_depth` has a line for each
  // depth.
  using Climb = void(const DepthArcs<T>& arcs, std::int64_t vertex, const T* from, T zero,
                     Lines<T> by_depth);
  // Computes the lines of `count` vertices, each after its upward neighbors: those in the list, or
  // `first` and the ranks just below it. `initial` is the line of the first vertex before its arcs
  // are relaxed; the others begin with `zero`.
  using Sweep = void(const DepthArcs<T>& arcs, const std::int32_t* list, std::int64_t first,
                     std::int64_t count, Lines<T> initial, T zero, Lines<T> by_depth,
                     Lines<T> by_rank);

  Climb* climb = nullptr;
  Sweep* sweep = nullptr;
  Climb* climb_paths = nullptr;  // null for bytes
  Sweep* sweep_paths = nullptr;
};

// The kernel at a level of simd::levels(); -1 is the best. Where integers may be negative, "no
// path" is compared before it is added.
template <class T>
SweepKernel<T> sweep_kernel(Semiring semiring, bool negative, int level);

}  // namespace kleene::prepared
