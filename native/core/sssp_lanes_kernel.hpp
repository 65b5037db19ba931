// The inner loop of searches from several sources at once, in as many versions as there are vector
// instruction sets; the one to use is chosen when the program runs.
#pragma once

#include <cstdint>
#include <type_traits>

namespace kleene {

constexpr int kLaneBytes = 64;

template <class Value>
constexpr int kLanes = kLaneBytes / sizeof(Value);

// Predecessors are as wide as distances.
template <class Value>
using LaneIndex = std::conditional_t<sizeof(Value) == 8, std::int64_t, std::int32_t>;

// Relaxes arcs out of u, whose distances are `from`, for all sources; lists the heads that improve,
// with the smallest distance that does, and returns how many there are. `distances` has a vector
// for each vertex; `last` has one too, or is null. A distance of `none` is no path.
template <class Value>
using RelaxLanes = std::int64_t(const Value* from, LaneIndex<Value> u, std::int64_t count,
                                const std::int32_t* heads, const Value* lengths, Value none,
                                Value* distances, LaneIndex<Value>* last, std::int32_t* improved,
                                Value* nearest);

// The one for the best instructions that this machine has, or for a level of `dense_levels`.
template <class Value>
RelaxLanes<Value>* relax_lanes(int level = -1);

}  // namespace kleene
