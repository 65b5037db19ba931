// "No path", in every type that the core computes in.
#pragma once

#include <limits>

namespace kleene::graph {

// The distance of an unreached vertex: infinity, or the maximum of an integer type.
template <class Value>
constexpr Value kNoPath =
    std::numeric_limits<Value>::has_infinity ? std::numeric_limits<Value>::infinity()
                                             : std::numeric_limits<Value>::max();

// For kernels that add without comparing: the sum of two does not wrap.
template <class Value>
constexpr Value kAddableNoPath =
    std::numeric_limits<Value>::has_infinity ? kNoPath<Value>
                                             : static_cast<Value>(kNoPath<Value> / 2);

// The hop count of an unreached vertex.
template <class Id>
constexpr Id kNoHops{-1};

// The predecessor of sources and of unreached vertices.
template <class Id>
constexpr Id kNoPredecessor{-1};

}  // namespace kleene::graph
