// What the textbook engines share: one algebra in one type, and the relaxation of a row.
//
// "No path" is the end of the type that users see. Integer sums look at it, so that they are right
// for every bound the plan allows.
#pragma once

#include <cstdint>
#include <limits>
#include <type_traits>

#include "dense.hpp"

namespace kleene {

template <Algebra algebra, class T>
struct Paths {
  static constexpr bool kIntegerSum = algebra == Algebra::kMinPlus && std::is_integral_v<T>;
  static constexpr Scale<T> kScale = scale_of<T>(algebra);
  static constexpr T kNone = kIntegerSum ? std::numeric_limits<T>::max() : kScale.zero;
  static constexpr T kEmpty = kScale.one;

  static bool better(T a, T b) { return algebra == Algebra::kMinPlus ? a < b : a > b; }

  static T times(T a, T b) {  // a is a path
    if constexpr (kIntegerSum) {
      return b == kNone ? kNone : static_cast<T>(a + b);
    } else if constexpr (algebra == Algebra::kMinPlus) {
      return a + b;
    } else if constexpr (algebra == Algebra::kMaxTimes) {
      return a * b;
    } else {
      return a < b ? a : b;
    }
  }

  // A row, from its path `a` to some vertex and that vertex's row `b`; via is the vertex's row of
  // predecessors, null when paths are not wanted.
  static void relax(T a, const T* b, const std::int32_t* via, T* c, std::int32_t* last,
                    std::int64_t count) {
    if (a == kNone) return;
    if (via == nullptr) {
      for (std::int64_t j = 0; j < count; ++j) {
        const T t = times(a, b[j]);
        c[j] = better(t, c[j]) ? t : c[j];
      }
      return;
    }
    for (std::int64_t j = 0; j < count; ++j) {
      const T t = times(a, b[j]);
      const bool improves = better(t, c[j]);
      c[j] = improves ? t : c[j];
      last[j] = improves ? via[j] : last[j];
    }
  }

  // May a vertex be passed through? Not when it lies on a cycle better than the empty path.
  static bool passable(T own) { return !better(own, kEmpty); }
};

}  // namespace kleene
