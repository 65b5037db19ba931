#include "prepared/customization/customize.hpp"

#include "prepared/customization/triangles.hpp"

namespace kleene::prepared {

template <class Algebra>
void customize(const Elimination& elimination, const Supernodes& supernodes,
               const StartValues<typename Algebra::Value>& start, typename Algebra::Value* up,
               typename Algebra::Value* down, const Options& options, Monitor& monitor) {
  std::vector<Direction<typename Algebra::Value>> ways{{down, up, up, nullptr}};
  start.set(start.arcs.up, elimination.arcs(), Algebra::zero(), up, options.threads);
  if (up != down) {
    ways.push_back({up, down, down, nullptr});
    start.set(start.arcs.down, elimination.arcs(), Algebra::zero(), down, options.threads);
  }
  TriangleRelaxation<Algebra, false>(elimination, supernodes, ways, options.level)
      .run(options.threads, monitor);
}

#define KLEENE_INSTANTIATE(...)                                                      \
  template void customize<__VA_ARGS__>(                                              \
      const Elimination&, const Supernodes&, const StartValues<__VA_ARGS__::Value>&, \
      __VA_ARGS__::Value*, __VA_ARGS__::Value*, const Options&, Monitor&);
KLEENE_FOR_EACH_ALGEBRA(KLEENE_INSTANTIATE)
#undef KLEENE_INSTANTIATE

}  // namespace kleene::prepared
