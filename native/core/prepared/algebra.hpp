// The path algebras that elimination and sweeps are compiled for. `better` chooses between two
// paths, `times` joins two end to end, `zero` is no path and `one` is the empty path.
//
// Shortest paths in integers use half the largest value as "no path", so that the sum of two does
// not wrap; lengths of paths must be below it. Where lengths may be negative (kSigned), a sum with
// "no path" would look like a path, so it is compared first.
#pragma once

#include <cstdint>
#include <limits>
#include <type_traits>

#include "graph/no_path.hpp"
#include "graph/semiring.hpp"

namespace kleene::prepared {

template <class T, bool kSigned>
struct MinPlus {
  using Value = T;
  static constexpr graph::Semiring kSemiring = graph::Semiring::kMinPlus;
  static constexpr Value zero() { return graph::kAddableNoPath<T>; }
  static constexpr Value one() { return 0; }
  static constexpr bool better(Value a, Value b) { return a < b; }
  static constexpr Value times(Value a, Value b) {
    if constexpr (kSigned && std::is_integral_v<T>) {
      if (a == zero() || b == zero()) return zero();
      using Bits = std::make_unsigned_t<T>;  // above a negative cycle, sums may wrap
      return static_cast<Value>(static_cast<Bits>(a) + static_cast<Bits>(b));
    }
    return static_cast<Value>(a + b);
  }
};

// Widest paths; booleans are bytes 0 and 1.
template <class T>
struct MaxMin {
  using Value = T;
  static constexpr graph::Semiring kSemiring = graph::Semiring::kMaxMin;
  static constexpr Value zero() {
    if constexpr (std::numeric_limits<T>::has_infinity) return -std::numeric_limits<T>::infinity();
    return std::numeric_limits<T>::lowest();
  }
  static constexpr Value one() {
    if constexpr (std::is_same_v<T, std::uint8_t>) return 1;
    return graph::kNoPath<T>;
  }
  static constexpr bool better(Value a, Value b) { return a > b; }
  static constexpr Value times(Value a, Value b) { return a < b ? a : b; }
};

// Most reliable paths: probabilities.
template <class T>
struct MaxTimes {
  using Value = T;
  static constexpr graph::Semiring kSemiring = graph::Semiring::kMaxTimes;
  static constexpr Value zero() { return 0; }
  static constexpr Value one() { return 1; }
  static constexpr bool better(Value a, Value b) { return a > b; }
  static constexpr Value times(Value a, Value b) { return a * b; }
};

// Calls X(algebra) for every algebra and type that customization is compiled for.
#define KLEENE_FOR_EACH_ALGEBRA(X) \
  X(MinPlus<float, false>)         \
  X(MinPlus<double, false>)        \
  X(MinPlus<std::int32_t, false>)  \
  X(MinPlus<std::int32_t, true>)   \
  X(MinPlus<std::int64_t, false>)  \
  X(MinPlus<std::int64_t, true>)   \
  X(MaxMin<float>)                 \
  X(MaxMin<double>)                \
  X(MaxMin<std::int32_t>)          \
  X(MaxMin<std::int64_t>)          \
  X(MaxMin<std::uint8_t>)          \
  X(MaxTimes<float>)               \
  X(MaxTimes<double>)

}  // namespace kleene::prepared
