#include "prepared/customize.hpp"

#include "parallel/buffer.hpp"
#include "prepared/next_heads.hpp"

namespace kleene::prepared {

template <class Algebra>
void customize(const Elimination& elimination, const StartValues<Algebra>& start,
               typename Algebra::Value* up, typename Algebra::Value* down, int /*threads*/,
               Monitor& monitor) {
  using Value = typename Algebra::Value;
  const std::int64_t* const offsets = elimination.offsets;
  const std::int32_t* const heads = elimination.heads;
  const bool symmetric = up == down;
  const auto offer = [](Value& held, Value offered) {
    if (Algebra::better(offered, held)) held = offered;
  };
  NextHeads lower(elimination);
  parallel::Buffer<std::int64_t> places(elimination.n);  // of the pairs (u, w), by w
  for (std::int32_t u = 0; u < elimination.n; ++u) {
    for (std::int64_t i = offsets[u]; i < offsets[u + 1]; ++i) {
      places[heads[i]] = i;
      up[i] = start.up(i);
      if (!symmetric) down[i] = start.down(i);
    }
    lower.visit(u, [&](std::int32_t v, std::int64_t to_u) {
      for (std::int64_t i = to_u + 1; i < offsets[v + 1]; ++i) {
        const std::int64_t place = places[heads[i]];
        offer(up[place], Algebra::times(down[to_u], up[i]));
        if (!symmetric) offer(down[place], Algebra::times(down[i], up[to_u]));
      }
    });
    monitor.advance(static_cast<std::uint64_t>(offsets[u + 1] - offsets[u]));
    monitor.poll();
  }
}

#define KLEENE_INSTANTIATE(...)                                                \
  template void customize(const Elimination&, const StartValues<__VA_ARGS__>&, \
                          __VA_ARGS__::Value*, __VA_ARGS__::Value*, int, Monitor&);
KLEENE_FOR_EACH_ALGEBRA(KLEENE_INSTANTIATE)
#undef KLEENE_INSTANTIATE

}  // namespace kleene::prepared
