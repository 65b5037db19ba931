// Distances and paths of pairs of vertices in an eliminated graph, and trips on them.
#pragma once

#include <cstdint>
#include <memory>

#include "parallel/monitor.hpp"
#include "prepared/pairs/climb.hpp"
#include "prepared/pairs/unpack.hpp"

namespace kleene::prepared {

using parallel::Monitor;

// Vertices in the numbering of the graph.
struct PairList {
  const std::int32_t* origins;
  const std::int32_t* destinations;
  std::int64_t count;
};

// Vertex of each rank, rank of each vertex.
struct Numbering {
  const std::int32_t* order;
  const std::int32_t* ranks;
};

// Paths of many pairs, one after the other: vertices in the numbering of the graph.
struct Walks {
  parallel::Buffer<std::int32_t> vertices;
  parallel::Buffer<std::int64_t> offsets;
};

// Answers for the values of one customization, whatever their type. May be called by several
// threads at once.
class PairQueries {
 public:
  virtual ~PairQueries() = default;

  // Fills `answers`, an array of the type of the answers.
  virtual void distances(const PairList& pairs, void* answers, int threads, Monitor& monitor) = 0;

  // Before the first call of paths.
  virtual void set_middles(const Middles& middles) = 0;

  // The path of a pair without one is empty.
  virtual Walks paths(const PairList& pairs, int threads, Monitor& monitor) = 0;
};

// `negative`: may a path improve as it grows? `level` is one of simd::levels(), -1 the best.
template <class Algebra, class Answer>
std::unique_ptr<PairQueries> pair_queries(const Elimination& elimination, const ClimbTree& tree,
                                          const Numbering& numbering,
                                          const PairValues<typename Algebra::Value>& values,
                                          bool negative, int level);

// ---- trips on the best paths (flows.cpp) --------------------------------------------------------

// Flow along each pair of an elimination, from its lower end up and down to it.
struct PairFlows {
  double* up;
  double* down;
};

// Adds the volumes of trips to `flows`, which are then flows of pairs; `assigned` says which trips
// have a path. Algebras are those of lengths.
template <class Algebra>
void pair_flows(const Elimination& elimination, const ClimbTree& tree, const std::int32_t* ranks,
                const PairValues<typename Algebra::Value>& values, bool negative,
                const PairList& trips, const double* volumes, const PairFlows& flows,
                std::uint8_t* assigned, int threads, int level, Monitor& monitor);

// Rows of the arcs of a graph, heads ascending.
struct GraphRows {
  const std::int64_t* offsets;
  const std::int32_t* heads;
};

// Moves the flow of all pairs to the arcs of the graph; leaves zeros.
void move_to_arcs(const Elimination& elimination, const Middles& middles, const std::int32_t* order,
                  const PairFlows& flows, const GraphRows& graph, double* arcs, Monitor& monitor);

}  // namespace kleene::prepared
