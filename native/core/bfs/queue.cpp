// BFS with a first-in, first-out queue on one core. Every vertex enters the queue once, in order of
// depth; the queue is an array in which the levels follow one another.
#include <vector>

#include "bfs/bfs.hpp"

namespace kleene::bfs {

template <class Id>
Id queue(const Problem<Id>& problem, ResultRow<Id, Id> row, int /*threads*/, Monitor& monitor) {
  const Arcs<Id>& arcs = problem.outgoing;
  PendingTargets<Id> targets(arcs.n, problem.stop);
  std::vector<Id> queue{problem.source};
  row.distances[problem.source] = 0;
  targets.settle(problem.source);
  std::size_t level_begin = 0;
  for (Id depth = 0; level_begin < queue.size(); ++depth) {
    if (depth == problem.stop.limit || targets.all_settled()) return depth;
    const std::size_t level_end = queue.size();
    for (std::size_t at = level_begin; at < level_end; ++at) {
      if (at % 4096 == 0) monitor.poll();
      const Id u = queue[at];
      for (std::int64_t i = arcs.offsets[u]; i < arcs.offsets[u + 1]; ++i) {
        const Id v = arcs.neighbors[i];
        if (row.distances[v] >= 0) continue;
        row.distances[v] = depth + 1;
        if (row.predecessors) row.predecessors[v] = u;
        targets.settle(v);
        queue.push_back(v);
      }
    }
    level_begin = level_end;
  }
  return kNoHorizon<Id>;
}

template std::int32_t queue(const Problem<std::int32_t>&, ResultRow<std::int32_t, std::int32_t>,
                            int, Monitor&);
template std::int64_t queue(const Problem<std::int64_t>&, ResultRow<std::int64_t, std::int64_t>,
                            int, Monitor&);

}  // namespace kleene::bfs
