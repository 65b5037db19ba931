// What searches from sources share: the rows they fill and when they may stop.
#pragma once

#include <algorithm>
#include <cstdint>
#include <limits>
#include <vector>

#include "graph/arcs.hpp"
#include "graph/no_path.hpp"
#include "parallel/team.hpp"

namespace kleene::graph {

// One row of the result: n distances and, unless null, n predecessors. Searches find both filled
// with "no path" and -1, and write only what they reach.
template <class Id, class Value>
struct ResultRow {
  Value* distances = nullptr;
  Id* predecessors = nullptr;
};

// Makes a row ready for a search: large ones by several threads, which also brings in their pages.
template <class Id, class Value>
void fill_row(ResultRow<Id, Value> row, std::int64_t n, Value no_path, int threads,
              parallel::Monitor& monitor) {
  constexpr std::int64_t kGrain = 1 << 14, kShare = 1 << 15;
  parallel::HelperTeam helpers(threads, monitor);
  helpers.loop(parallel::threads_worth(n, kShare, threads), n, kGrain,
               [&](std::int64_t begin, std::int64_t end, int) {
                 std::fill(row.distances + begin, row.distances + end, no_path);
                 if (!row.predecessors) return;
                 std::fill(row.predecessors + begin, row.predecessors + end, kNoPredecessor<Id>);
               });
}

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

// How many of the threads one search is worth. On smaller graphs than half a million arcs for each
// (a vertex counts as eight), every thread more made searches slower: R-MAT graphs and grids of
// 2^12 to 2^16 vertices, sixteen Xeon cores, whole calls.
template <class Id>
int search_threads(const Arcs<Id>& arcs, int threads) {
  constexpr std::int64_t kEach = 1 << 19;
  return static_cast<int>(
      std::clamp<std::int64_t>((8 * arcs.n + arcs.count()) / kEach, 1, threads));
}

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
