// The best path between two vertices: both climb, and the path leads over one of their common
// ancestors.
#pragma once

#include <cstdint>

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

}  // namespace kleene::prepared
