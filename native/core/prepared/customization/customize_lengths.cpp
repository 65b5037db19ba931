// What the values of pairs tell about the lengths of cycles and paths, over (min, +).
#include <algorithm>
#include <cmath>
#include <limits>

#include "parallel/buffer.hpp"
#include "prepared/customization/customize.hpp"

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
Reach reach_of_roots(const Elimination& elimination, const Supernodes& supernodes,
                     const PairValues<Value>& values, int threads, Monitor& monitor) {
  constexpr Value kNone = MinPlus<Value, false>::zero();
  constexpr std::int64_t kApart = std::numeric_limits<std::int64_t>::max() / 2;
  // Without branches: "no path" is about as likely as not.
  const auto nearer = [](std::int64_t held, std::int64_t above, Value value) {
    return std::min(held, value == kNone ? kApart : above + value);
  };
  const bool symmetric = values.up == values.down;
  Buffer<std::int64_t> to(elimination.n), own_from(symmetric ? 0 : elimination.n);
  std::int64_t* const from = symmetric ? to.data() : own_from.data();
  top_down(supernodes, threads, monitor, [&](std::int32_t begin, std::int32_t end) {
    for (std::int32_t v = end - 1; v >= begin; --v) {
      const bool root = elimination.parents[v] < 0;
      std::int64_t there = root ? 0 : kApart, back = there;
      for (std::int64_t i = elimination.offsets[v]; i < elimination.offsets[v + 1]; ++i) {
        const std::int32_t u = elimination.heads[i];
        there = nearer(there, to[u], values.up[i]);
        if (!symmetric) back = nearer(back, from[u], values.down[i]);
      }
      to[v] = there;
      if (!symmetric) from[v] = back;
    }
  });
  Reach reach{0, 0};
  std::int64_t farthest_to = 0, farthest_from = 0;    // of the component so far
  for (std::int64_t v = 0; v < elimination.n; ++v) {  // a root comes after its component
    if (to[v] >= kApart || from[v] >= kApart) {
      ++reach.apart;
    } else {
      farthest_to = std::max(farthest_to, to[v]);
      farthest_from = std::max(farthest_from, from[v]);
    }
    if (elimination.parents[v] >= 0) continue;
    reach.farthest = std::max(reach.farthest, farthest_to + farthest_from);
    farthest_to = farthest_from = 0;
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
template Reach reach_of_roots(const Elimination&, const Supernodes&,
                              const PairValues<std::int32_t>&, int, Monitor&);

}  // namespace kleene::prepared
