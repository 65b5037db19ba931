// One thread's searches for trees of shortest paths, one after the other.
//
// A search may stop early, once all vertices that were wanted are settled, and then costs what it
// reaches: the next one resets only the entries that it touched.
#pragma once

#include <algorithm>
#include <cstdint>
#include <type_traits>
#include <vector>

#include "graph/arcs.hpp"
#include "graph/no_path.hpp"
#include "parallel/monitor.hpp"
#include "sssp/heap.hpp"

namespace kleene::measures {

using graph::Arcs;
using graph::kNoPath;
using parallel::CancelCheck;

template <class Id, class Value>
class TreeSearch {
 public:
  // Lengths must not be negative; null means one for every arc.
  TreeSearch(const Arcs<Id>& arcs, const Value* lengths)
      : arcs_(arcs),
        lengths_(lengths),
        distances_(static_cast<std::size_t>(arcs.n), kNoPath<Value>),
        tree_arcs_(static_cast<std::size_t>(arcs.n)),
        tails_(static_cast<std::size_t>(arcs.n)),
        wanted_(static_cast<std::size_t>(arcs.n), 0) {}

  // Searches from a root as far as the limit, until the `count` vertices are settled. With `ties`,
  // vertices that are as far away as the last of them are settled as well.
  void search(Id root, const Id* wanted, std::int64_t count, Value limit, bool ties,
              CancelCheck check_cancelled) {
    reset();
    for (std::int64_t i = 0; i < count; ++i) {
      pending_ += wanted_[wanted[i]] == 0;
      wanted_[wanted[i]] = 1;
    }
    enter(root, 0, -1, root);
    if (lengths_) {
      settle_by_distance(limit, ties, check_cancelled);
    } else {
      settle_by_level(limit, ties, check_cancelled);
    }
    for (std::int64_t i = 0; i < count; ++i) wanted_[wanted[i]] = 0;
    if (!ties) return;
    for (const Id v : touched_) {
      if (distances_[v] > farthest_) distances_[v] = kNoPath<Value>;  // not settled
    }
  }

  // Of a vertex that was wanted, or with `ties` of any: kNoPath if it is not settled.
  Value distance(Id v) const { return distances_[v]; }
  // By distance; the root comes first.
  const std::vector<Id>& settled() const { return settled_; }
  // The arc by which a vertex was reached, and its tail; not of the root.
  std::int64_t tree_arc(Id v) const { return tree_arcs_[v]; }
  Id tail(Id v) const { return tails_[v]; }

 private:
  // Floats that differ at all differ in many bits, which a radix heap sorts one by one.
  using Queue = std::conditional_t<std::is_integral_v<Value>, sssp::RadixHeap<Id, Value>,
                                   sssp::QuadHeap<Id, Value>>;

  void reset() {
    for (const Id v : touched_) distances_[v] = kNoPath<Value>;
    touched_.clear();
    settled_.clear();
    queue_.clear();
    pending_ = 0;
    farthest_ = 0;
  }

  void enter(Id v, Value distance, std::int64_t arc, Id tail) {
    if (distances_[v] == kNoPath<Value>) touched_.push_back(v);
    distances_[v] = distance;
    tree_arcs_[v] = arc;
    tails_[v] = tail;
    if (lengths_) queue_.push({distance, v});
  }

  void settle(Id v, CancelCheck& check_cancelled) {
    settled_.push_back(v);
    farthest_ = distances_[v];
    pending_ -= wanted_[v];
    wanted_[v] = 0;
    if (++steps_ % kCheckEvery == 0) check_cancelled();
  }

  void settle_by_distance(Value limit, bool ties, CancelCheck& check_cancelled) {
    while (!queue_.empty()) {
      const auto [distance, u] = queue_.pop();
      if (distance != distances_[u]) continue;  // it got nearer after it was pushed
      if (pending_ == 0 && (!ties || distance > farthest_)) return;
      settle(u, check_cancelled);
      for (std::int64_t i = arcs_.offsets[u]; i < arcs_.offsets[u + 1]; ++i) {
        const Id v = arcs_.neighbors[i];
        const Value through = distance + lengths_[i];
        if (through < distances_[v] && !(through > limit)) enter(v, through, i, u);
      }
    }
  }

  // The vertices touched are the queue.
  void settle_by_level(Value limit, bool ties, CancelCheck& check_cancelled) {
    for (std::size_t next = 0; next < touched_.size(); ++next) {
      const Id u = touched_[next];
      const Value depth = distances_[u];
      if (pending_ == 0 && (!ties || depth > farthest_)) return;
      settle(u, check_cancelled);
      if (depth >= limit) continue;
      for (std::int64_t i = arcs_.offsets[u]; i < arcs_.offsets[u + 1]; ++i) {
        const Id v = arcs_.neighbors[i];
        if (distances_[v] == kNoPath<Value>) enter(v, static_cast<Value>(depth + 1), i, u);
      }
    }
  }

  static constexpr std::uint64_t kCheckEvery = 1024;  // settled vertices

  const Arcs<Id> arcs_;
  const Value* const lengths_;
  std::vector<Value> distances_;
  std::vector<std::int64_t> tree_arcs_;
  std::vector<Id> tails_;
  std::vector<std::uint8_t> wanted_;
  std::vector<Id> touched_;  // vertices that have a distance
  std::vector<Id> settled_;
  Queue queue_;
  std::int64_t pending_ = 0;  // wanted and not settled
  Value farthest_ = 0;        // that is settled
  std::uint64_t steps_ = 0;
};

}  // namespace kleene::measures
