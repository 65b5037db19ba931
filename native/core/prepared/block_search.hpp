// The best paths of many pairs at once: every end climbs once, however many pairs it has.
//
// Destinations climb in the order of their ranks, one after the other, so that what is read for one
// is in the cache for the next; their values by place are kept. Then origins climb, and a pair is
// the best sum over its common ancestors, which have the same places in both climbs.
#pragma once

#include <algorithm>
#include <cstdint>
#include <utility>
#include <vector>

#include "prepared/climb.hpp"

namespace kleene::prepared {

// Ranks of the ends, and the place in the list of pairs.
struct SortedPair {
  std::int32_t s, t;
  std::int64_t index;
  bool operator<(const SortedPair& other) const {
    return std::pair(s, t) < std::pair(other.s, other.t);
  }
};

template <class Algebra>
class BlockSearch {
 public:
  using Value = typename Algebra::Value;

  // Pairs of a block, so that the climbs of their destinations stay in the cache.
  static std::int64_t most_pairs(const ClimbTree& tree) {
    constexpr std::int64_t kBytes = 1 << 23, kFewest = 64, kMost = 1 << 13;
    const auto row =
        static_cast<std::int64_t>(sizeof(Value)) * std::max<std::int64_t>(1, tree.places());
    return std::clamp(kBytes / row, kFewest, kMost);
  }

  BlockSearch(const ClimbTree& tree, const PairValues<Value>& values, int level)
      : tree_(tree),
        kernel_(climb_kernel<Value, KindOf<Algebra>::kKind>(false, level)),
        origin_(tree.places(), values.up, false),
        destination_(tree.places(), values.down, false) {}

  // Calls tell(index, value) for each of some pairs, which are sorted.
  template <class Tell>
  void answer(const SortedPair* begin, const SortedPair* end, Tell&& tell) {
    climb_destinations(begin, end);
    for (const SortedPair* pair = begin; pair != end; ++pair) {
      const bool known = pair != begin && pair[-1].s == pair->s;
      if (!known) climb(origin_, pair->s);
      tell(pair->index, pair->s == pair->t ? Algebra::one() : joined(pair->s, pair->t));
    }
  }

 private:
  void climb_destinations(const SortedPair* begin, const SortedPair* end) {
    targets_.clear();
    for (const SortedPair* pair = begin; pair != end; ++pair) targets_.push_back(pair->t);
    std::sort(targets_.begin(), targets_.end());
    targets_.erase(std::unique(targets_.begin(), targets_.end()), targets_.end());
    rows_.clear();
    climbed_.clear();
    for (const std::int32_t t : targets_) {
      climb(destination_, t);
      const std::int32_t place = tree_.row(t).place;
      rows_.push_back(static_cast<std::int64_t>(climbed_.size()) - place);
      const Value* const best = destination_.climb().best;
      climbed_.insert(climbed_.end(), best + place, best + tree_.places());
    }
  }

  void climb(ClimbState<Algebra>& state, std::int32_t v) {
    state.start(tree_.row(v).place);
    kernel_.climb(tree_.rows(), state.climb(), v, tree_.n(), Algebra::zero());
  }

  Value joined(std::int32_t s, std::int32_t t) {
    const std::int32_t v = lowest_common_ancestor(s, t);
    if (v == tree_.n()) return Algebra::zero();
    const std::int32_t place = tree_.row(v).place;
    const auto at = std::lower_bound(targets_.begin(), targets_.end(), t) - targets_.begin();
    const Value* const down = climbed_.data() + rows_[static_cast<std::size_t>(at)] + place;
    return kernel_.join(origin_.climb().best + place, down, tree_.places() - place,
                        Algebra::zero());
  }

  // The first ancestor of the lower one that is not below the other; n if they have none.
  std::int32_t lowest_common_ancestor(std::int32_t s, std::int32_t t) const {
    const auto [low, high] = std::minmax(s, t);
    std::int32_t v = low;
    while (v < high) v = tree_.row(v).parent;
    return v;
  }

  const ClimbTree& tree_;
  const ClimbKernel<Value> kernel_;
  ClimbState<Algebra> origin_, destination_;
  std::vector<std::int32_t> targets_;  // ranks, ascending
  std::vector<std::int64_t> rows_;     // of each target: where its place 0 would be
  std::vector<Value> climbed_;
};

}  // namespace kleene::prepared
