// What searches from sources share: the rows they fill and when they may stop.
#pragma once

#include <cstdint>
#include <limits>
#include <vector>

#include "graph/arcs.hpp"
#include "graph/no_path.hpp"

namespace kleene::graph {

// One row of the result: n distances and, unless null, n predecessors. Searches find both filled
// with "no path" and -1, and write only what they reach.
template <class Id, class Value>
struct ResultRow {
  Value* distances = nullptr;
  Id* predecessors = nullptr;
};

// One row per source, in the caller's memory, which need not be initialised. The horizon of a row
// says up to which distance it is complete.
template <class Id, class Value>
struct ResultRows {
  const Id* sources = nullptr;
  std::int64_t count = 0;
  Value* distances = nullptr;  // count x n
  Id* predecessors = nullptr;  // count x n, or null
  Value* horizons = nullptr;   // count

  ResultRow<Id, Value> at(std::int64_t i, std::int64_t n) const {
    return {distances + i * n, predecessors ? predecessors + i * n : nullptr};
  }
};

// When a search may stop: past `limit`, or once every target is settled.
template <class Id, class Value>
struct StopCondition {
  Value limit = std::numeric_limits<Value>::max();
  const Id* targets = nullptr;
  std::int64_t target_count = 0;
};

// The targets that are not settled yet. A search without targets never has all of them settled.
template <class Id>
class PendingTargets {
 public:
  template <class Value>
  PendingTargets(std::int64_t n, const StopCondition<Id, Value>& stop)
      : any_(stop.targets != nullptr) {
    if (!any_) return;
    pending_.resize(static_cast<std::size_t>(n));
    for (std::int64_t i = 0; i < stop.target_count; ++i) {
      if (!pending_[stop.targets[i]]) ++left_;
      pending_[stop.targets[i]] = true;
    }
  }

  bool has_targets() const { return any_; }
  bool all_settled() const { return any_ && left_ == 0; }
  void settle(Id v) {
    if (any_ && pending_[v]) {
      pending_[v] = false;
      --left_;
    }
  }

 private:
  bool any_;
  std::int64_t left_ = 0;
  std::vector<bool> pending_;
};

}  // namespace kleene::graph
