// BFS with a first-in, first-out queue on one core. Every vertex enters the queue once, in order of
// depth; the queue is an array that the levels follow one another in.
#include <vector>

#include "bfs.hpp"

namespace kleene {

template <class Id>
Id bfs_queue(const BfsProblem<Id>& problem, Row<Id, Id> row, int /*threads*/, Monitor& monitor) {
  const Arcs<Id>& arcs = problem.out;
  Missing<Id> missing(arcs.n, problem.stop);
  std::vector<Id> queue{problem.source};
  row.values[problem.source] = 0;
  missing.settle(problem.source);
  std::size_t level_begin = 0;
  for (Id depth = 0; level_begin < queue.size(); ++depth) {
    if (depth == problem.stop.limit || missing.none()) return depth;
    const std::size_t level_end = queue.size();
    for (std::size_t at = level_begin; at < level_end; ++at) {
      if (at % 4096 == 0) monitor.poll();
      const Id u = queue[at];
      for (std::int64_t i = arcs.offsets[u]; i < arcs.offsets[u + 1]; ++i) {
        const Id v = arcs.neighbors[i];
        if (row.values[v] >= 0) continue;
        row.values[v] = depth + 1;
        if (row.parents) row.parents[v] = u;
        missing.settle(v);
        queue.push_back(v);
      }
    }
    level_begin = level_end;
  }
  return std::numeric_limits<Id>::max();
}

template std::int32_t bfs_queue(const BfsProblem<std::int32_t>&, Row<std::int32_t, std::int32_t>,
                                int, Monitor&);
template std::int64_t bfs_queue(const BfsProblem<std::int64_t>&, Row<std::int64_t, std::int64_t>,
                                int, Monitor&);

}  // namespace kleene
