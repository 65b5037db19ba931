// The order in which a first-in, first-out queue visits vertices, on one core. Visited vertices are
// kept in a bitmap, which stays within the nearest cache.
#include <vector>

#include "bfs/bfs.hpp"

namespace kleene::bfs {

template <class Id>
std::int64_t visit_order(const Arcs<Id>& arcs, const Arcs<Id>* transposed, Id source, Id* order,
                         Id* predecessors, Monitor& monitor) {
  std::vector<std::uint64_t> seen(static_cast<std::size_t>(arcs.n / 64 + 1));
  std::int64_t end = 0;
  bool valid = true;
  const auto visit = [&](Id v, Id predecessor) {
    std::uint64_t& word = seen[static_cast<std::size_t>(v) / 64];
    const std::uint64_t bit = std::uint64_t{1} << (v % 64);
    if (word & bit) return;
    word |= bit;
    predecessors[v] = predecessor;
    order[end++] = v;
  };
  const auto scan = [&](const Arcs<Id>& of, Id u) {
    for (std::int64_t i = of.offsets[u]; i < of.offsets[u + 1]; ++i) {
      const Id v = of.neighbors[i];
      if (v < 0 || v >= of.n) {
        valid = false;
      } else {
        visit(v, u);
      }
    }
  };
  visit(source, predecessors[source]);
  for (std::int64_t at = 0; at < end; ++at) {
    if (at % 4096 == 0) monitor.poll();
    scan(arcs, order[at]);
    if (transposed != nullptr) scan(*transposed, order[at]);
  }
  return valid ? end : -1;
}

template std::int64_t visit_order(const Arcs<std::int32_t>&, const Arcs<std::int32_t>*,
                                  std::int32_t, std::int32_t*, std::int32_t*, Monitor&);

}  // namespace kleene::bfs
