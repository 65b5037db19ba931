// BFS by sweeps: every level scans every arc, or every vertex, and there is no queue. A vertex is
// in the frontier when its depth is the current one. Simple, highly parallel, and wasteful where
// there are many levels.
//
// The methods are those of Hwu, Kirk and El Hajj, Programming Massively Parallel Processors, 4th
// edition, chapter 15: over arcs (COO), over vertices pushing along outgoing arcs (CSR), over
// vertices pulling along incoming ones (CSC); and one that is a matrix-vector product over the
// boolean semiring (Kepner and Gilbert 2011, Graph Algorithms in the Language of Linear Algebra).
//
// Races: threads may visit a vertex at the same moment. They write the same depth, and any of the
// predecessors is valid; a depth just written is not the current one, so no thread expands the
// vertex in this sweep.
#include <vector>

#include "bfs/bfs.hpp"
#include "parallel/relaxed.hpp"
#include "parallel/team.hpp"

namespace kleene::bfs {
namespace {

constexpr std::int64_t kVertexGrain = 1 << 10;
constexpr std::int64_t kArcGrain = 1 << 14;

// Calls sweep(worker, depth), which says whether this thread visited a vertex, level after level
// until no thread visits any.
template <class Id, class Sweep>
Id by_levels(const Problem<Id>& problem, const ResultRow<Id, Id>& row, int threads,
             Monitor& monitor, Sweep&& sweep) {
  row.distances[problem.source] = 0;
  LevelStop<Id> level_stop(problem.stop, row.distances);
  std::atomic<bool> visited{true};
  Id horizon = kNoHorizon<Id>;
  bool done = false;
  run_team(team_size(problem, threads), monitor, [&](Team::Worker& worker) {
    for (Id depth = 0;; ++depth) {
      if (worker.is_leader()) {
        const bool last = !visited.exchange(false, std::memory_order_relaxed);
        done = last || level_stop.at(depth);
        if (done && !last) horizon = depth;
      }
      worker.barrier();
      if (done) return;
      if (sweep(worker, depth)) visited.store(true, std::memory_order_relaxed);
      worker.barrier();
    }
  });
  return horizon;
}

template <class Id>
void visit(const ResultRow<Id, Id>& row, Id v, Id depth, Id predecessor) {
  relaxed_store(row.distances[v], depth);
  if (row.predecessors) relaxed_store(row.predecessors[v], predecessor);
}

}  // namespace

template <class Id>
Id edge(const Problem<Id>& problem, ResultRow<Id, Id> row, int threads, Monitor& monitor) {
  const Arcs<Id>& arcs = problem.outgoing;
  return by_levels(problem, row, threads, monitor, [&](Team::Worker& worker, Id depth) {
    bool visited = false;
    worker.loop(arcs.count(), kArcGrain, [&](std::int64_t begin, std::int64_t end) {
      for (std::int64_t i = begin; i < end; ++i) {
        const Id u = problem.tails[i];
        const Id v = arcs.neighbors[i];
        if (relaxed_load(row.distances[u]) != depth || relaxed_load(row.distances[v]) >= 0)
          continue;
        visit(row, v, static_cast<Id>(depth + 1), u);
        visited = true;
      }
    });
    return visited;
  });
}

template <class Id>
Id vertex_push(const Problem<Id>& problem, ResultRow<Id, Id> row, int threads, Monitor& monitor) {
  const Arcs<Id>& arcs = problem.outgoing;
  return by_levels(problem, row, threads, monitor, [&](Team::Worker& worker, Id depth) {
    bool visited = false;
    worker.loop(arcs.n, kVertexGrain, [&](std::int64_t begin, std::int64_t end) {
      for (auto u = static_cast<Id>(begin); u < end; ++u) {
        if (relaxed_load(row.distances[u]) != depth) continue;
        for (std::int64_t i = arcs.offsets[u]; i < arcs.offsets[u + 1]; ++i) {
          const Id v = arcs.neighbors[i];
          if (relaxed_load(row.distances[v]) >= 0) continue;
          visit(row, v, static_cast<Id>(depth + 1), u);
          visited = true;
        }
      }
    });
    return visited;
  });
}

template <class Id>
Id vertex_pull(const Problem<Id>& problem, ResultRow<Id, Id> row, int threads, Monitor& monitor) {
  const Arcs<Id>& arcs = problem.incoming;
  return by_levels(problem, row, threads, monitor, [&](Team::Worker& worker, Id depth) {
    bool visited = false;
    worker.loop(arcs.n, kVertexGrain, [&](std::int64_t begin, std::int64_t end) {
      for (auto v = static_cast<Id>(begin); v < end; ++v) {
        if (relaxed_load(row.distances[v]) >= 0) continue;
        for (std::int64_t i = arcs.offsets[v]; i < arcs.offsets[v + 1]; ++i) {
          const Id u = arcs.neighbors[i];
          if (relaxed_load(row.distances[u]) != depth) continue;
          visit(row, v, static_cast<Id>(depth + 1), u);
          visited = true;
          break;
        }
      }
    });
    return visited;
  });
}

// x_old marks the frontier, and x_new = x_old A what it leads to; those without a depth yet are
// the next frontier. The product also leaves a predecessor of each.
template <class Id>
Id spmv(const Problem<Id>& problem, ResultRow<Id, Id> row, int threads, Monitor& monitor) {
  const Arcs<Id>& arcs = problem.outgoing;
  std::vector<char> x_old(static_cast<std::size_t>(arcs.n)), x_new(x_old);
  x_old[problem.source] = 1;

  const auto multiply = [&](std::int64_t begin, std::int64_t end) {
    for (auto u = static_cast<Id>(begin); u < end; ++u) {
      if (!x_old[u]) continue;
      x_old[u] = 0;  // it will be the next x_new
      for (std::int64_t i = arcs.offsets[u]; i < arcs.offsets[u + 1]; ++i) {
        const Id v = arcs.neighbors[i];
        if (row.distances[v] >= 0) continue;  // depths do not change during the product
        relaxed_store(x_new[v], char{1});
        if (row.predecessors) relaxed_store(row.predecessors[v], u);
      }
    }
  };

  return by_levels(problem, row, threads, monitor, [&](Team::Worker& worker, Id depth) {
    worker.loop(arcs.n, kVertexGrain, multiply);
    bool visited = false;
    worker.loop(arcs.n, kVertexGrain, [&](std::int64_t begin, std::int64_t end) {
      for (auto v = static_cast<Id>(begin); v < end; ++v) {
        if (!x_new[v]) continue;
        row.distances[v] = depth + 1;
        visited = true;
      }
    });
    if (worker.is_leader()) std::swap(x_old, x_new);  // the others wait for the level's end
    return visited;
  });
}

#define KLEENE_INSTANTIATE(Id)                                                   \
  template Id edge(const Problem<Id>&, ResultRow<Id, Id>, int, Monitor&);        \
  template Id vertex_push(const Problem<Id>&, ResultRow<Id, Id>, int, Monitor&); \
  template Id vertex_pull(const Problem<Id>&, ResultRow<Id, Id>, int, Monitor&); \
  template Id spmv(const Problem<Id>&, ResultRow<Id, Id>, int, Monitor&);
KLEENE_INSTANTIATE(std::int32_t)
KLEENE_INSTANTIATE(std::int64_t)

}  // namespace kleene::bfs
