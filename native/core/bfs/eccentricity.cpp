// A serial BFS that keeps no distances: the eccentricity of one vertex.
#include <vector>

#include "bfs/bfs.hpp"

namespace kleene::bfs {

template <class Id>
Eccentricity eccentricity(const Arcs<Id>& arcs, Id source, Monitor& monitor) {
  std::vector<bool> seen(static_cast<std::size_t>(arcs.n));
  std::vector<Id> queue{source};
  seen[static_cast<std::size_t>(source)] = true;
  std::int64_t depth = 0;
  for (std::size_t at = 0, level_end = 1; at < queue.size(); ++at) {
    if (at == level_end) {
      ++depth;
      level_end = queue.size();
    }
    if (at % 65536 == 0) monitor.poll();
    for (std::int64_t i = arcs.offsets[queue[at]]; i < arcs.offsets[queue[at] + 1]; ++i) {
      const Id u = arcs.neighbors[i];
      if (seen[static_cast<std::size_t>(u)]) continue;
      seen[static_cast<std::size_t>(u)] = true;
      queue.push_back(u);
    }
  }
  return {depth, static_cast<std::int64_t>(queue.back()), static_cast<std::int64_t>(queue.size())};
}

template Eccentricity eccentricity(const Arcs<std::int32_t>&, std::int32_t, Monitor&);
template Eccentricity eccentricity(const Arcs<std::int64_t>&, std::int64_t, Monitor&);

}  // namespace kleene::bfs
