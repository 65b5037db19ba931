// The order in which a first-in, first-out queue visits vertices, on one core. Which vertices were
// seen is kept in bits, so that looking them up stays within the nearest cache.
#include <vector>

#include "bfs.hpp"

namespace kleene {

template <class Id>
std::int64_t bfs_order(const Arcs<Id>& arcs, const Arcs<Id>* also, Id source, Id* order,
                       Id* parents, Monitor& monitor) {
  std::vector<std::uint64_t> seen(static_cast<std::size_t>(arcs.n / 64 + 1));
  std::int64_t end = 0;
  bool sound = true;
  const auto visit = [&](Id v, Id parent) {
    std::uint64_t& word = seen[static_cast<std::size_t>(v) / 64];
    const std::uint64_t bit = std::uint64_t{1} << (v % 64);
    if (word & bit) return;
    word |= bit;
    parents[v] = parent;
    order[end++] = v;
  };
  const auto look = [&](const Arcs<Id>& of, Id u) {
    for (std::int64_t i = of.offsets[u]; i < of.offsets[u + 1]; ++i) {
      const Id v = of.neighbors[i];
      if (v < 0 || v >= of.n) {
        sound = false;
      } else {
        visit(v, u);
      }
    }
  };
  visit(source, parents[source]);
  for (std::int64_t at = 0; at < end; ++at) {
    if (at % 4096 == 0) monitor.poll();
    look(arcs, order[at]);
    if (also != nullptr) look(*also, order[at]);
  }
  return sound ? end : -1;
}

template std::int64_t bfs_order(const Arcs<std::int32_t>&, const Arcs<std::int32_t>*, std::int32_t,
                                std::int32_t*, std::int32_t*, Monitor&);

}  // namespace kleene
