// What the values of pairs tell about the lengths of cycles and paths, over (min, +).
#include <algorithm>
#include <cmath>
#include <limits>

#include "parallel/buffer.hpp"
#include "prepared/customize.hpp"

namespace kleene::prepared {
namespace {

using graph::kNoPath;
using parallel::Buffer;

// A sum of lengths without rounding (nearly: to twice the digits of a double), and the sum of their
// magnitudes.
struct Length {
  double sum, lost, magnitude;

  static Length of(double weight) { return {weight, 0, std::abs(weight)}; }

  friend Length operator+(const Length& a, const Length& b) {
    const double sum = a.sum + b.sum, added = sum - a.sum;
    const double lost = (a.sum - (sum - added)) + (b.sum - added);
    return {sum, a.lost + b.lost + lost, a.magnitude + b.magnitude};
  }
};

// Adds up the paths of all pairs that have middles, from arc to arc; others have their value. Stops
// at the first pair that `stops` wants to stop at, and returns it; -1 if there is none.
template <class Sum, class Stops>
std::int64_t add_up_pairs(const Elimination& elimination, const PairMiddles& middles, Sum* up,
                          Sum* down, Stops&& stops) {
  for (std::int32_t v = 0; v < elimination.n; ++v) {
    for (std::int64_t i = elimination.offsets[v]; i < elimination.offsets[v + 1]; ++i) {
      const std::int32_t u = elimination.heads[i], over = middles.up[i], back = middles.down[i];
      if (over >= 0) up[i] = down[elimination.place(over, v)] + up[elimination.place(over, u)];
      if (back >= 0) down[i] = down[elimination.place(back, u)] + up[elimination.place(back, v)];
      if (stops(i)) return i;
    }
  }
  return -1;
}

}  // namespace

template <class Value>
std::int64_t first_negative(const Elimination& elimination, const PairValues<Value>& values) {
  constexpr Value kNone = MinPlus<Value, true>::zero();
  for (std::int64_t i = 0; i < elimination.arcs(); ++i) {
    const Value up = values.up[i], down = values.down[i];
    if (up != kNone && down != kNone && up < -down) return i;
  }
  return -1;
}

template <class Value>
std::int64_t first_negative_beyond_rounding(const Elimination& elimination,
                                            const StartValues<Value>& start,
                                            const PairMiddles& middles) {
  const std::int64_t pairs = elimination.arcs();
  Buffer<Length> up(pairs), down(pairs);
  Buffer<Value> arcs(pairs);
  for (const bool upward : {true, false}) {
    start.set(upward ? start.arcs.up : start.arcs.down, pairs, kNoPath<Value>, arcs.data(), 1);
    std::transform(arcs.data(), arcs.data() + pairs, (upward ? up : down).data(), &Length::of);
  }
  return add_up_pairs(elimination, middles, up.data(), down.data(), [&](std::int64_t i) {
    const Length cycle = up[i] + down[i];  // not a number where there is no path
    return cycle.sum + cycle.lost < -std::numeric_limits<Value>::epsilon() * cycle.magnitude;
  });
}

template <class Value>
void add_up(const Elimination& elimination, const StartValues<Value>& start,
            const PairMiddles& middles, Value* up, Value* down) {
  start.set(start.arcs.up, elimination.arcs(), kNoPath<Value>, up, 1);
  start.set(start.arcs.down, elimination.arcs(), kNoPath<Value>, down, 1);
  add_up_pairs(elimination, middles, up, down, [](std::int64_t) { return false; });
}

template <class Value>
Reach reach_of_roots(const Elimination& elimination, const PairValues<Value>& values) {
  constexpr Value kNone = MinPlus<Value, false>::zero();
  constexpr std::int64_t kApart = std::numeric_limits<std::int64_t>::max();
  struct Ways {
    std::int64_t to, from;
  };
  Buffer<Ways> ways(elimination.n), farthest(elimination.n);  // the latter by root
  Buffer<std::int32_t> roots(elimination.n);
  Reach reach{0, 0};
  for (auto v = static_cast<std::int32_t>(elimination.n) - 1; v >= 0; --v) {
    const std::int32_t parent = elimination.parents[v];
    const std::int32_t root = roots[v] = parent < 0 ? v : roots[parent];
    Ways own{kApart, kApart};
    if (parent < 0) own = farthest[v] = {0, 0};
    for (std::int64_t i = elimination.offsets[v]; i < elimination.offsets[v + 1]; ++i) {
      const Ways above = ways[elimination.heads[i]];
      const Value up = values.up[i], down = values.down[i];
      if (up != kNone && above.to != kApart) own.to = std::min(own.to, above.to + up);
      if (down != kNone && above.from != kApart) own.from = std::min(own.from, above.from + down);
    }
    ways[v] = own;
    if (own.to == kApart || own.from == kApart) {
      ++reach.apart;
    } else {
      farthest[root].to = std::max(farthest[root].to, own.to);
      farthest[root].from = std::max(farthest[root].from, own.from);
      reach.farthest = std::max(reach.farthest, farthest[root].to + farthest[root].from);
    }
  }
  return reach;
}

template std::int64_t first_negative(const Elimination&, const PairValues<float>&);
template std::int64_t first_negative(const Elimination&, const PairValues<double>&);
template std::int64_t first_negative(const Elimination&, const PairValues<std::int32_t>&);
template std::int64_t first_negative(const Elimination&, const PairValues<std::int64_t>&);
template std::int64_t first_negative_beyond_rounding(const Elimination&, const StartValues<float>&,
                                                     const PairMiddles&);
template std::int64_t first_negative_beyond_rounding(const Elimination&, const StartValues<double>&,
                                                     const PairMiddles&);
template void add_up(const Elimination&, const StartValues<float>&, const PairMiddles&, float*,
                     float*);
template void add_up(const Elimination&, const StartValues<double>&, const PairMiddles&, double*,
                     double*);
template Reach reach_of_roots(const Elimination&, const PairValues<std::int32_t>&);

}  // namespace kleene::prepared
