// The random numbers of one sampled path, and choices by them.
#pragma once

#include <cstdint>

#include "generate/random.hpp"
#include "measures/scaled_count.hpp"

namespace kleene::measures {

class PathDraws {
 public:
  explicit PathDraws(const generate::Stream& stream) : stream_(stream) {}

  double unit() { return generate::unit(stream_[next_++]); }
  std::uint64_t below(std::uint64_t bound) { return generate::below(stream_[next_++], bound); }

 private:
  generate::Stream stream_;
  std::uint64_t next_ = 0;
};

// Chooses one of `candidates`, whose counts sum to `total`, with a probability in proportion to its
// count. each(visit) calls visit(candidate, count) until that returns true. Where rounding leaves
// the sum short of the total, the last candidate is chosen.
template <class Item, class Count, class Each>
Item choose_by_count(const Count& total, PathDraws& draws, Each&& each) {
  double left = draws.unit();
  Item chosen{};
  each([&](const Item& candidate, const Count& count) {
    chosen = candidate;
    left -= ratio(count, total);
    return left < 0;
  });
  return chosen;
}

}  // namespace kleene::measures
