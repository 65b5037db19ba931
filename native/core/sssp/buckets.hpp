// Buckets of (distance, vertex) by distance, for delta-stepping.
//
// BucketScale maps distances to slots of equal width; the first ones, at most kSlots, are a window
// on distances from `base` on, and what lies beyond waits in a far pile until the window is empty
// and moves on. The width of a slot is a power of two, so that integers are shifted and not
// divided.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <type_traits>
#include <vector>

#include "sssp/heap.hpp"

namespace kleene::sssp {

constexpr int kSlots = 1024;

template <class Value>
class BucketScale {
 public:
  // So many slots of about this width, from distance `base` on.
  BucketScale(Value base, double width, int slots = kSlots)
      : base_(base), slots_(slots), exponent_(std::ilogb(width)) {
    if constexpr (std::is_integral_v<Value>) {
      exponent_ = std::clamp(exponent_, 0, static_cast<int>(8 * sizeof(Value)) - 2);
    } else {
      constexpr int kSmallest = std::numeric_limits<Value>::min_exponent;
      exponent_ = std::clamp(exponent_, kSmallest, -kSmallest);
      inverse_ = std::ldexp(Value{1}, -exponent_);
    }
  }

  // The slot of a distance that is not below the base; kSlots when it lies beyond the window.
  int slot(Value distance) const {
    if constexpr (std::is_integral_v<Value>) {
      const auto at = static_cast<std::make_unsigned_t<Value>>(distance - base_) >> exponent_;
      return at < static_cast<std::make_unsigned_t<Value>>(slots_) ? static_cast<int>(at) : kSlots;
    } else {
      const Value at = (distance - base_) * inverse_;
      return at < static_cast<Value>(slots_) ? static_cast<int>(at) : kSlots;
    }
  }

  // Does this distance lie before the slot?
  bool before(Value distance, int end) const { return distance < base_ || slot(distance) < end; }

 private:
  Value base_;
  int slots_;
  int exponent_;
  Value inverse_ = 0;  // of the width; floats only
};

// The entries of one thread that are not settled yet. There are no slots before make(), so that the
// thread that fills them makes them, if it ever takes part.
template <class Id, class Value>
struct Buckets {
  std::vector<std::vector<Entry<Id, Value>>> slots;  // the last is the far pile

  bool made() const { return !slots.empty(); }
  void make() {
    if (!made()) slots.resize(kSlots + 1);
  }
  std::vector<Entry<Id, Value>>& far() { return slots[kSlots]; }
  int first(int from) const {
    if (!made()) return kSlots;
    // untestable (< to <=): callers take the smaller of this and kSlots
    while (from < kSlots && slots[from].empty()) ++from;
    return from;
  }
  void clear() {
    for (auto& slot : slots) slot.clear();
  }
};

}  // namespace kleene::sssp
