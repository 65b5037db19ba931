#include <algorithm>
#include <limits>

#include "prepared/customization/customize.hpp"
#include "prepared/customization/triangles.hpp"

namespace kleene::prepared {
namespace {

constexpr std::int32_t kNoMiddle = std::numeric_limits<std::int32_t>::max();

}  // namespace

template <class Algebra>
void find_middles(const Elimination& elimination, const Supernodes& supernodes,
                  const PairValues<typename Algebra::Value>& values,
                  const StartValues<typename Algebra::Value>* start, std::int32_t* up_middles,
                  std::int32_t* down_middles, const Options& options, Monitor& monitor) {
  using Value = typename Algebra::Value;
  const std::int64_t pairs = elimination.arcs();
  const auto begin = [&](const Value* held, const PairArcs::List* list, std::int32_t* middles) {
    std::transform(held, held + pairs, middles,
                   [](Value value) { return value == Algebra::zero() ? -1 : kNoMiddle; });
    if (list == nullptr) return;
    for (std::int64_t i = 0; i < list->pairs.size(); ++i) {  // an arc is below all other middles
      const std::int64_t pair = list->pairs[i];
      if (held[pair] == start->weight(list->arcs[i])) middles[pair] = -1;
    }
  };
  const auto end = [&](std::int32_t* middles) {
    std::replace(middles, middles + pairs, kNoMiddle, -1);
  };
  // Values are not written to while middles are found.
  Value* const up = const_cast<Value*>(values.up);
  Value* const down = const_cast<Value*>(values.down);
  std::vector<Direction<Value>> ways{{down, up, up, up_middles}};
  begin(up, start == nullptr ? nullptr : &start->arcs.up, up_middles);
  if (up != down) {
    ways.push_back({up, down, down, down_middles});
    begin(down, start == nullptr ? nullptr : &start->arcs.down, down_middles);
  }
  TriangleRelaxation<Algebra, true>(elimination, supernodes, ways, options.level)
      .run(options.threads, monitor);
  end(up_middles);
  if (up != down) end(down_middles);
}

void find_last_vertices(const Elimination& elimination, const Supernodes& supernodes,
                        const std::int32_t* order, const PairMiddles& middles, std::int32_t* up,
                        std::int32_t* down, int threads, Monitor& monitor) {
  bottom_up(supernodes, threads, monitor, [&](std::int32_t begin, std::int32_t end) {
    for (std::int32_t v = begin; v < end; ++v) {
      for (std::int64_t i = elimination.offsets[v]; i < elimination.offsets[v + 1]; ++i) {
        const std::int32_t u = elimination.heads[i], over = middles.up[i], back = middles.down[i];
        up[i] = over < 0 ? order[v] : up[elimination.place(over, u)];
        down[i] = back < 0 ? order[u] : up[elimination.place(back, v)];
      }
    }
  });
}

#define KLEENE_INSTANTIATE(...)                                                                  \
  template void find_middles<__VA_ARGS__>(const Elimination&, const Supernodes&,                 \
                                          const PairValues<__VA_ARGS__::Value>&,                 \
                                          const StartValues<__VA_ARGS__::Value>*, std::int32_t*, \
                                          std::int32_t*, const Options&, Monitor&);
KLEENE_FOR_EACH_ALGEBRA(KLEENE_INSTANTIATE)
#undef KLEENE_INSTANTIATE

}  // namespace kleene::prepared
