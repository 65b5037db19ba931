// What the textbook methods share: one semiring in one type, and the relaxation of a row.
//
// "No path" is kNoPath, as users see it. Integer sums compare with it, so that they are right for
// every bound the plan allows.
#pragma once

#include <cstdint>
#include <limits>
#include <type_traits>

#include "closure/closure.hpp"

namespace kleene::closure {

template <Semiring semiring, class T>
struct RowRelaxation {
  static constexpr bool kIntegerSum = semiring == Semiring::kMinPlus && std::is_integral_v<T>;
  static constexpr Elements<T> kElements = elements_of<T>(semiring);
  static constexpr T kZero = kIntegerSum ? kNoPath<T> : kElements.zero;
  static constexpr T kEmpty = kElements.one;

  static bool better(T a, T b) { return semiring == Semiring::kMinPlus ? a < b : a > b; }

  static T times(T a, T b) {  // a is a path
    if constexpr (kIntegerSum) {
      return b == kZero ? kZero : static_cast<T>(a + b);
    } else if constexpr (semiring == Semiring::kMinPlus) {
      return a + b;
    } else if constexpr (semiring == Semiring::kMaxTimes) {
      return a * b;
    } else {
      return a < b ? a : b;  // untestable (< to <=): equal values
    }
  }

  // Relaxes a row c by the path `a` to some vertex and that vertex's row `b`. The rows of
  // predecessors are null when none are kept.
  static void relax(T a, const T* b, const std::int32_t* b_predecessors, T* c,
                    std::int32_t* predecessors, std::int64_t count) {
    if (a != kZero) relax_path(a, b, b_predecessors, c, predecessors, count);
  }

  // May a vertex be passed through? Not when it lies on a cycle better than the empty path.
  static bool passable(T own) { return !better(own, kEmpty); }

 private:
  // In relax_row.cpp, so that its vector loops are compiled once and not for every method.
  static void relax_path(T a, const T* b, const std::int32_t* b_predecessors, T* c,
                         std::int32_t* predecessors, std::int64_t count);
};

}  // namespace kleene::closure
