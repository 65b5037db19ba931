// The inner loop of searches from several sources at once, one version per vector instruction set,
// chosen at run time (simd/levels.hpp).
#pragma once

#include <cstdint>
#include <type_traits>

namespace kleene::sssp {

constexpr int kLaneBytes = 64;

template <class Value>
constexpr int kLanes = kLaneBytes / sizeof(Value);

// Predecessors are as wide as distances.
template <class Value>
using LaneIndex = std::conditional_t<sizeof(Value) == 8, std::int64_t, std::int32_t>;

// Relaxes arcs out of u, whose distances are `from`, for all sources; lists the heads that improve,
// with the smallest distance that does, and returns how many there are. `distances` has a vector
// for each vertex; `predecessors` has one too, or is null. A distance of `unreached` is no path.
template <class Value>
using RelaxLanes = std::int64_t(const Value* from, LaneIndex<Value> u, std::int64_t count,
                                const std::int32_t* heads, const Value* lengths, Value unreached,
                                Value* distances, LaneIndex<Value>* predecessors,
                                std::int32_t* improved, Value* nearest);

// Says which arcs out of u, whose distances are `from`, lie on shortest paths: bit k of masks[i]
// for source k. Those are the tight ones (distance of the tail + length = distance of the head),
// unless they lead beyond the limit, which is less than unreached.
template <class Value>
using TightLanes = void(const Value* from, std::int64_t count, const std::int32_t* heads,
                        const Value* lengths, Value limit, const Value* distances,
                        std::uint16_t* masks);

// The versions for a level of simd::levels(); -1 is the best.
template <class Value>
RelaxLanes<Value>* relax_lanes(int level = -1);
template <class Value>
TightLanes<Value>* tight_lanes(int level = -1);

}  // namespace kleene::sssp
