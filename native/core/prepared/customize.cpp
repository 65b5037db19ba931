#include "prepared/customize.hpp"

#include "prepared/triangles.hpp"

namespace kleene::prepared {

template <class Algebra>
void customize(const Elimination& elimination, const Supernodes& supernodes,
               const StartValues<Algebra>& start, typename Algebra::Value* up,
               typename Algebra::Value* down, int threads, Monitor& monitor) {
  using Value = typename Algebra::Value;
  const bool symmetric = up == down;
  std::vector<Direction<Value>> ways{{down, up, up, nullptr}};
  if (!symmetric) ways.push_back({up, down, down, nullptr});
  const TriangleRelaxation<Algebra, false> relaxation(elimination, supernodes, kernel_of<Algebra>(),
                                                      ways);
  relaxation.run(
      threads, monitor,
      [&](std::int64_t begin, std::int64_t end) {
        for (std::int64_t i = begin; i < end; ++i) up[i] = start.up(i);
        if (symmetric) return;
        for (std::int64_t i = begin; i < end; ++i) down[i] = start.down(i);
      },
      [](std::int64_t, std::int64_t) {});
}

#define KLEENE_INSTANTIATE(...)                                                                   \
  template void customize(const Elimination&, const Supernodes&, const StartValues<__VA_ARGS__>&, \
                          __VA_ARGS__::Value*, __VA_ARGS__::Value*, int, Monitor&);
KLEENE_FOR_EACH_ALGEBRA(KLEENE_INSTANTIATE)
#undef KLEENE_INSTANTIATE

}  // namespace kleene::prepared
