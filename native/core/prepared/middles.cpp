#include <algorithm>
#include <limits>

#include "prepared/customize.hpp"
#include "prepared/next_heads.hpp"

namespace kleene::prepared {
namespace {

constexpr std::int32_t kNoMiddle = std::numeric_limits<std::int32_t>::max();

}  // namespace

template <class Algebra>
void find_middles(const Elimination& elimination, const PairValues<typename Algebra::Value>& values,
                  const StartValues<Algebra>* start, std::int32_t* up_middles,
                  std::int32_t* down_middles, int /*threads*/, Monitor& monitor) {
  using Value = typename Algebra::Value;
  const std::int64_t* const offsets = elimination.offsets;
  const std::int32_t* const heads = elimination.heads;
  const auto [up, down] = values;
  const bool symmetric = up == down;
  // An arc counts as a middle below all others.
  const auto first = [&](Value value, Value begun) {
    return value == Algebra::zero() || (start != nullptr && begun == value) ? -1 : kNoMiddle;
  };
  const auto last = [](std::int32_t middle) { return middle == kNoMiddle ? -1 : middle; };
  NextHeads lower(elimination);
  parallel::Buffer<std::int64_t> places(elimination.n);
  for (std::int32_t u = 0; u < elimination.n; ++u) {
    for (std::int64_t i = offsets[u]; i < offsets[u + 1]; ++i) {
      places[heads[i]] = i;
      up_middles[i] = first(up[i], start == nullptr ? Value{} : start->up(i));
      if (symmetric) continue;
      down_middles[i] = first(down[i], start == nullptr ? Value{} : start->down(i));
    }
    lower.visit(u, [&](std::int32_t v, std::int64_t to_u) {
      for (std::int64_t i = to_u + 1; i < offsets[v + 1]; ++i) {
        const std::int64_t place = places[heads[i]];
        const auto note = [&](Value value, Value offered, std::int32_t& middle) {
          if (value == offered && v < middle) middle = v;
        };
        note(up[place], Algebra::times(down[to_u], up[i]), up_middles[place]);
        if (symmetric) continue;
        note(down[place], Algebra::times(down[i], up[to_u]), down_middles[place]);
      }
    });
    for (std::int64_t i = offsets[u]; i < offsets[u + 1]; ++i) {
      up_middles[i] = last(up_middles[i]);
      if (!symmetric) down_middles[i] = last(down_middles[i]);
    }
    monitor.advance(static_cast<std::uint64_t>(offsets[u + 1] - offsets[u]));
    monitor.poll();
  }
}

void find_last_vertices(const Elimination& elimination, const std::int32_t* order,
                        const PairMiddles& middles, std::int32_t* up, std::int32_t* down,
                        int /*threads*/, Monitor& monitor) {
  for (std::int32_t v = 0; v < elimination.n; ++v) {
    for (std::int64_t i = elimination.offsets[v]; i < elimination.offsets[v + 1]; ++i) {
      const std::int32_t u = elimination.heads[i], over = middles.up[i], back = middles.down[i];
      up[i] = over < 0 ? order[v] : up[elimination.place(over, u)];
      down[i] = back < 0 ? order[u] : up[elimination.place(back, v)];
    }
    monitor.poll();
  }
}

#define KLEENE_INSTANTIATE(...)                                                                  \
  template void find_middles(const Elimination&, const PairValues<__VA_ARGS__::Value>&,          \
                             const StartValues<__VA_ARGS__>*, std::int32_t*, std::int32_t*, int, \
                             Monitor&);
KLEENE_FOR_EACH_ALGEBRA(KLEENE_INSTANTIATE)
#undef KLEENE_INSTANTIATE

}  // namespace kleene::prepared
