// Tentative distances and predecessors that several threads lower at once.
//
// A label is lowered only when the new distance is strictly smaller, and its distance and its
// predecessor change together. So for every predecessor u of v, at any time,
// distance(v) >= distance(u) + length(u, v): following predecessors, distances never rise, and a
// chain that closed on itself would have to be a negative cycle. Cycles of length zero never close.
//
// Distances are read without a lock. To change a label a thread takes its vertex, by putting kTaken
// where the predecessor stands; it holds it for two stores. Without predecessors one
// compare-and-swap is enough.
#pragma once

#include <atomic>
#include <thread>

#include "search.hpp"

namespace kleene {

template <class Id, class Value>
class Labels {
 public:
  explicit Labels(Row<Id, Value> row) : row_(row) {}

  Value distance(Id v) const {
    return std::atomic_ref(row_.values[v]).load(std::memory_order_relaxed);
  }

  // Asks for the distance of v, which will be wanted soon.
  void fetch(Id v) const { __builtin_prefetch(&row_.values[v]); }

  // Lowers the label of v; false when it is as low already. `kShared` says whether other threads
  // may be at work on the same labels.
  template <bool kShared>
  bool lower(Id v, Value distance, Id parent) {
    if constexpr (!kShared) {
      if (!(distance < row_.values[v])) return false;
      row_.values[v] = distance;
      if (row_.parents) row_.parents[v] = parent;
      return true;
    } else {
      return row_.parents ? lower_both(v, distance, parent) : lower_distance(v, distance);
    }
  }

 private:
  static constexpr Id kTaken = -2;

  bool lower_distance(Id v, Value distance) {
    const std::atomic_ref held(row_.values[v]);
    Value old = held.load(std::memory_order_relaxed);
    while (distance < old) {
      if (held.compare_exchange_weak(old, distance, std::memory_order_relaxed)) return true;
    }
    return false;
  }

  bool lower_both(Id v, Value distance, Id parent) {
    const std::atomic_ref held(row_.values[v]);
    const std::atomic_ref from(row_.parents[v]);
    Id old = from.exchange(kTaken, std::memory_order_acquire);
    while (old == kTaken) {
      std::this_thread::yield();
      old = from.exchange(kTaken, std::memory_order_acquire);
    }
    const bool lowers = distance < held.load(std::memory_order_relaxed);
    if (lowers) held.store(distance, std::memory_order_relaxed);
    from.store(lowers ? parent : old, std::memory_order_release);
    return lowers;
  }

  Row<Id, Value> row_;
};

}  // namespace kleene
