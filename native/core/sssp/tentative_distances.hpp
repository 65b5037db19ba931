// Tentative distances and predecessors that several threads lower at once.
//
// A distance is lowered only when the new one is strictly smaller, and distance and predecessor
// change together. So for every predecessor u of v, at any time,
// distance(v) >= distance(u) + length(u, v): following predecessors, distances never rise, and a
// chain that closed on itself would have to be a negative cycle. Cycles of length zero never close.
//
// Distances are read without a lock. To change one a thread locks its vertex, by putting kLocked in
// place of the predecessor, for two stores. Without predecessors one compare-and-swap is enough.
#pragma once

#include <atomic>

#include "parallel/team.hpp"
#include "sssp/sssp.hpp"

namespace kleene::sssp {

template <class Id, class Value>
class TentativeDistances {
 public:
  explicit TentativeDistances(ResultRow<Id, Value> row) : row_(row) {}

  Value distance(Id v) const {
    return std::atomic_ref(row_.distances[v]).load(std::memory_order_relaxed);
  }

  void prefetch(Id v) const { __builtin_prefetch(&row_.distances[v]); }

  // Lowers the distance of v; false when it is as low already. `kShared` says whether other threads
  // may lower the same distances.
  template <bool kShared>
  bool lower(Id v, Value distance, Id predecessor) {
    if constexpr (!kShared) {
      // untestable (< to <=): callers have compared, and no other thread writes
      if (!(distance < row_.distances[v])) return false;
      row_.distances[v] = distance;
      if (row_.predecessors) row_.predecessors[v] = predecessor;
      return true;
    } else {
      return row_.predecessors ? lower_both(v, distance, predecessor) : lower_distance(v, distance);
    }
  }

 private:
  static constexpr Id kLocked = -2;

  bool lower_distance(Id v, Value distance) {
    const std::atomic_ref held(row_.distances[v]);
    Value old = held.load(std::memory_order_relaxed);
    while (distance < old) {  // untestable (< to <=): equal only if another thread came between
      if (held.compare_exchange_weak(old, distance, std::memory_order_relaxed)) return true;
    }
    return false;
  }

  bool lower_both(Id v, Value distance, Id predecessor) {
    const std::atomic_ref held(row_.distances[v]);
    const std::atomic_ref lock(row_.predecessors[v]);
    Id old = lock.exchange(kLocked, std::memory_order_acquire);
    while (old == kLocked) {
      yield_core();
      old = lock.exchange(kLocked, std::memory_order_acquire);
    }
    // untestable (< to <=): equal only if another thread came between
    const bool lowers = distance < held.load(std::memory_order_relaxed);
    if (lowers) held.store(distance, std::memory_order_relaxed);
    lock.store(lowers ? predecessor : old, std::memory_order_release);
    return lowers;
  }

  ResultRow<Id, Value> row_;
};

}  // namespace kleene::sssp
