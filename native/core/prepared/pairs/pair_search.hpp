// The best path between two vertices: both climb, and the path leads over one of their common
// ancestors.
#pragma once

#include <algorithm>
#include <cstdint>
#include <utility>
#include <vector>

#include "prepared/pairs/climb.hpp"

namespace kleene::prepared {

template <class Algebra>
class PairSearch {
 public:
  using Value = typename Algebra::Value;

  // With `prune`, paths do not improve as they grow.
  PairSearch(const ClimbTree& tree, const PairValues<Value>& values, bool prune, bool with_tails,
             int level)
      : tree_(tree),
        kernel_(climb_kernel<Value, KindOf<Algebra>::kKind>(with_tails, level)),
        prune_(prune),
        origin_(tree.places(), values.up, with_tails),
        destination_(tree.places(), values.down, with_tails) {}

  Meeting<Value> search(std::int32_t s, std::int32_t t) {
    const ClimbRows rows = tree_.rows();
    const Climb<Value> from = origin_.climb(), to = destination_.climb();
    origin_.start(tree_.row(s).place);
    destination_.start(tree_.row(t).place);
    // An ancestor has a higher rank: the lower of the two goes on until they meet.
    while (s != t) {
      if (s < t) {
        s = kernel_.climb(rows, from, s, t, Algebra::zero());
      } else {
        t = kernel_.climb(rows, to, t, s, Algebra::zero());
      }
    }
    return kernel_.meet(rows, from, to, s, Algebra::zero(), prune_);
  }

  ClimbState<Algebra>& origin() { return origin_; }
  ClimbState<Algebra>& destination() { return destination_; }

 private:
  const ClimbTree& tree_;
  const ClimbKernel<Value> kernel_;
  const bool prune_;
  ClimbState<Algebra> origin_, destination_;
};

// ---- many pairs ---------------------------------------------------------------------------------
//
// The best paths of many pairs at once.
//
// Where ends have several pairs, every end climbs once. Destinations climb in the order of their
// ranks, so that what is read for one is in the cache for the next, and their values by place are
// kept. Then origins climb, and a pair is the best sum over its common ancestors, which have the
// same places in both climbs. Other pairs are searched one by one: they need as many climbs, and a
// search ends early where its ends are near.

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

  BlockSearch(const ClimbTree& tree, const PairValues<Value>& values, bool prune, int level)
      : tree_(tree),
        kernel_(climb_kernel<Value, KindOf<Algebra>::kKind>(false, level)),
        search_(tree, values, prune, false, level) {}

  // Calls tell(index, value) for each of some pairs, which are sorted.
  template <class Tell>
  void answer(const SortedPair* begin, const SortedPair* end, Tell&& tell) {
    const auto is_new_origin = [&](const SortedPair& pair) {
      return &pair == begin || (&pair)[-1].s != pair.s;
    };
    list_targets(begin, end);
    const auto climbs =
        std::count_if(begin, end, is_new_origin) + static_cast<std::ptrdiff_t>(targets_.size());
    const bool each = 2 * climbs > 3 * (end - begin);
    if (!each) climb_to_targets();
    for (const SortedPair* pair = begin; pair != end; ++pair) {
      if (!each && is_new_origin(*pair)) climb(search_.origin(), pair->s);
      tell(pair->index, pair->s == pair->t ? Algebra::one()
                        : each             ? search_.search(pair->s, pair->t).value
                                           : joined(pair->s, pair->t));
    }
  }

 private:
  void list_targets(const SortedPair* begin, const SortedPair* end) {
    targets_.clear();
    for (const SortedPair* pair = begin; pair != end; ++pair) targets_.push_back(pair->t);
    std::sort(targets_.begin(), targets_.end());
    targets_.erase(std::unique(targets_.begin(), targets_.end()), targets_.end());
  }

  void climb_to_targets() {
    rows_.clear();
    climbed_.clear();
    for (const std::int32_t t : targets_) {
      climb(search_.destination(), t);
      const std::int32_t place = tree_.row(t).place;
      rows_.push_back(static_cast<std::int64_t>(climbed_.size()) - place);
      const Value* const best = search_.destination().climb().best;
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
    return kernel_.join(search_.origin().climb().best + place, down, tree_.places() - place,
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
  PairSearch<Algebra> search_;
  std::vector<std::int32_t> targets_;  // ranks, ascending
  std::vector<std::int64_t> rows_;     // of each target: where its place 0 would be
  std::vector<Value> climbed_;
};

}  // namespace kleene::prepared
