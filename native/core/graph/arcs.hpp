// Views of graphs in compressed rows, and the types that describe arcs everywhere in the core.
#pragma once

#include <cstdint>
#include <type_traits>

#include "parallel/buffer.hpp"
#include "parallel/monitor.hpp"

namespace kleene::graph {

using namespace parallel;

// The weight type of a graph without weights.
struct NoWeight {};

template <class Weight>
constexpr bool kWeighted = !std::is_same_v<Weight, NoWeight>;

// Compressed rows of arcs in the caller's memory: outgoing arcs by tail (CSR), or incoming arcs by
// head (CSC).
template <class Id, class Weight = NoWeight>
struct Arcs {
  std::int64_t n = 0;
  const std::int64_t* offsets = nullptr;
  const Id* neighbors = nullptr;
  const Weight* weights = nullptr;  // of the arcs; null for NoWeight

  // untestable: a degree says how much work there is, and lets LLP raise bounds faster
  std::int64_t degree(Id v) const { return offsets[v + 1] - offsets[v]; }
  std::int64_t count() const { return offsets[n]; }
};

// The same, owning its memory.
template <class Id, class Weight>
struct Csr {
  Buffer<std::int64_t> offsets;
  Buffer<Id> neighbors;
  Buffer<Weight> weights;  // empty for NoWeight
};

}  // namespace kleene::graph
