#include <algorithm>
#include <limits>

#include "prepared/customize.hpp"
#include "prepared/triangles.hpp"

namespace kleene::prepared {
namespace {

constexpr std::int32_t kNoMiddle = std::numeric_limits<std::int32_t>::max();

}  // namespace

template <class Algebra>
void find_middles(const Elimination& elimination, const Supernodes& supernodes,
                  const PairValues<typename Algebra::Value>& values,
                  const StartValues<Algebra>* start, std::int32_t* up_middles,
                  std::int32_t* down_middles, int threads, Monitor& monitor) {
  using Value = typename Algebra::Value;
  const bool symmetric = values.up == values.down;
  // An arc counts as a middle below all others.
  const auto first = [&](Value value, Value begun) {
    return value == Algebra::zero() || (start != nullptr && begun == value) ? -1 : kNoMiddle;
  };
  const auto last = [](std::int32_t middle) { return middle == kNoMiddle ? -1 : middle; };
  const auto start_of = [&](auto side, std::int64_t pair) {
    return start == nullptr ? Value{} : (start->*side)(pair);
  };
  // The relaxation does not write to values while it finds middles.
  Value* const up = const_cast<Value*>(values.up);
  Value* const down = const_cast<Value*>(values.down);
  std::vector<Direction<Value>> ways{{down, up, up, up_middles}};
  if (!symmetric) ways.push_back({up, down, down, down_middles});
  const TriangleRelaxation<Algebra, true> relaxation(elimination, supernodes, kernel_of<Algebra>(),
                                                     ways);
  relaxation.run(
      threads, monitor,
      [&](std::int64_t begin, std::int64_t end) {
        using Start = StartValues<Algebra>;
        for (std::int64_t i = begin; i < end; ++i) {
          up_middles[i] = first(up[i], start_of(&Start::up, i));
          if (!symmetric) down_middles[i] = first(down[i], start_of(&Start::down, i));
        }
      },
      [&](std::int64_t begin, std::int64_t end) {
        std::transform(up_middles + begin, up_middles + end, up_middles + begin, last);
        if (symmetric) return;
        std::transform(down_middles + begin, down_middles + end, down_middles + begin, last);
      });
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

#define KLEENE_INSTANTIATE(...)                                                     \
  template void find_middles(                                                       \
      const Elimination&, const Supernodes&, const PairValues<__VA_ARGS__::Value>&, \
      const StartValues<__VA_ARGS__>*, std::int32_t*, std::int32_t*, int, Monitor&);
KLEENE_FOR_EACH_ALGEBRA(KLEENE_INSTANTIATE)
#undef KLEENE_INSTANTIATE

}  // namespace kleene::prepared
