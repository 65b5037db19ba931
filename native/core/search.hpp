// What searches from single sources share: views of the graph, the row they fill, when to stop.
#pragma once

#include <cstdint>
#include <limits>
#include <vector>

namespace kleene {

// Compressed rows of arcs: outgoing ones by source, or incoming ones by target.
template <class Id>
struct Arcs {
  std::int64_t n = 0;
  const std::int64_t* offsets = nullptr;
  const Id* neighbors = nullptr;

  std::int64_t degree(Id v) const { return offsets[v + 1] - offsets[v]; }
  std::int64_t count() const { return offsets[n]; }
};

// One row of the answer: n values and, unless null, n predecessors. Searches find both filled with
// "no path" and -1, and write only what they reach.
template <class Id, class Value>
struct Row {
  Value* values = nullptr;
  Id* parents = nullptr;
};

// When a search may stop: past `limit`, or once every target is settled.
template <class Id, class Value>
struct Stop {
  Value limit = std::numeric_limits<Value>::max();
  const Id* targets = nullptr;
  std::int64_t target_count = 0;
};

// The targets that have not been settled yet. Without targets there is always one missing.
template <class Id>
class Missing {
 public:
  template <class Value>
  Missing(std::int64_t n, const Stop<Id, Value>& stop) : any_(stop.targets != nullptr) {
    if (!any_) return;
    wanted_.resize(static_cast<std::size_t>(n));
    for (std::int64_t i = 0; i < stop.target_count; ++i) {
      if (!wanted_[stop.targets[i]]) ++left_;
      wanted_[stop.targets[i]] = true;
    }
  }

  bool any_targets() const { return any_; }
  bool none() const { return any_ && left_ == 0; }
  void settle(Id v) {
    if (any_ && wanted_[v]) {
      wanted_[v] = false;
      --left_;
    }
  }

 private:
  bool any_;
  std::int64_t left_ = 0;
  std::vector<bool> wanted_;
};

// The end of a search by levels. It remembers the first target that was missing, so that all its
// questions together look at each target once.
template <class Id>
class Ending {
 public:
  Ending(const Stop<Id, Id>& stop, const Id* values) : stop_(stop), values_(values) {}

  // With all vertices up to this depth found, is there nothing left to look for?
  bool at(Id depth) {
    if (depth == stop_.limit) return true;
    if (stop_.targets == nullptr) return false;
    while (found_ < stop_.target_count && values_[stop_.targets[found_]] >= 0) ++found_;
    return found_ == stop_.target_count;
  }

 private:
  const Stop<Id, Id>& stop_;
  const Id* values_;
  std::int64_t found_ = 0;
};

}  // namespace kleene
