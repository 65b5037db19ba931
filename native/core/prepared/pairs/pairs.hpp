// Distances and paths of pairs of vertices in an eliminated graph.
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

}  // namespace kleene::prepared
