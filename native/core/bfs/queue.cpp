// BFS with a first-in, first-out queue on one core. Every vertex enters the queue once, in order of
// depth; the queue is an array in which the levels follow one another.
#include "bfs/bfs.hpp"
#include "parallel/buffer.hpp"

namespace kleene::bfs {

template <class Id>
Id queue(const Problem<Id>& problem, ResultRow<Id, Id> row, int /*threads*/, Monitor& monitor) {
  const Arcs<Id> arcs = problem.outgoing;
  PendingTargets<Id> targets(arcs.n, problem.stop);
  Buffer<Id> queue(arcs.n);
  Id* end = queue.data();
  *end++ = problem.source;
  row.distances[problem.source] = 0;
  targets.settle(problem.source);
  std::int64_t steps = 0;
  const Id* at = queue.data();
  for (Id depth = 0; at < end; ++depth) {
    if (depth == problem.stop.limit || targets.all_settled()) return depth;
    for (const Id* const level_end = end; at < level_end; ++at) {
      if (steps++ % 4096 == 0) monitor.poll();
      const Id u = *at;
      for (std::int64_t i = arcs.offsets[u], last = arcs.offsets[u + 1]; i < last; ++i) {
        const Id v = arcs.neighbors[i];
        if (row.distances[v] >= 0) continue;
        row.distances[v] = depth + 1;
        if (row.predecessors) row.predecessors[v] = u;
        targets.settle(v);
        *end++ = v;
      }
    }
  }
  return kNoHorizon<Id>;
}

template std::int32_t queue(const Problem<std::int32_t>&, ResultRow<std::int32_t, std::int32_t>,
                            int, Monitor&);
template std::int64_t queue(const Problem<std::int64_t>&, ResultRow<std::int64_t, std::int64_t>,
                            int, Monitor&);

}  // namespace kleene::bfs
