// BFS by sweeps: every level looks at every arc, or at every vertex, and there is no queue. What a
// sweep asks is in the depths themselves: a vertex belongs to the frontier when its depth is the
// current one. Simple, highly parallel, and wasteful where there are many levels.
//
// The forms are those of Hwu, Kirk and El Hajj, Programming Massively Parallel Processors, 4th
// edition, chapter 15: over arcs (COO), over vertices pushing along outgoing arcs (CSR), over
// vertices pulling along incoming ones (CSC); and one that is a matrix-vector product over the
// boolean semiring (Kepner and Gilbert 2011, Graph Algorithms in the Language of Linear Algebra).
//
// Races: threads may give a vertex its depth at the same moment. They write the same depth, and
// any of the parents is right; a depth just written is not the current one, so nobody goes on
// from it in this sweep.
#include <vector>

#include "bfs.hpp"
#include "parallel.hpp"
#include "relaxed.hpp"

namespace kleene {
namespace {

constexpr std::int64_t kVertexGrain = 1 << 10;
constexpr std::int64_t kArcGrain = 1 << 14;

// Calls sweep(member, depth), which says whether this thread found a vertex, level after level
// until none of the team finds any.
template <class Id, class Sweep>
Id by_levels(const BfsProblem<Id>& problem, const Row<Id, Id>& row, int threads, Monitor& monitor,
             Sweep&& sweep) {
  row.values[problem.source] = 0;
  Ending<Id> ending(problem.stop, row.values);
  Team team(team_size(problem, threads), monitor);
  std::atomic<bool> found{true};
  Id horizon = kNoHorizon<Id>;
  bool done = false;
  run_team(team.threads(), monitor, [&](int thread) {
    Team::Member me(team, thread);
    for (Id depth = 0;; ++depth) {
      if (me.leads()) {
        const bool last = !found.exchange(false, std::memory_order_relaxed);
        done = last || ending.at(depth);
        if (done && !last) horizon = depth;
      }
      me.meet();
      if (done) return;
      if (sweep(me, depth)) found.store(true, std::memory_order_relaxed);
      me.meet();
    }
  });
  return horizon;
}

template <class Id>
void visit(const Row<Id, Id>& row, Id v, Id depth, Id parent) {
  relaxed_store(row.values[v], depth);
  if (row.parents) relaxed_store(row.parents[v], parent);
}

}  // namespace

template <class Id>
Id bfs_edge(const BfsProblem<Id>& problem, Row<Id, Id> row, int threads, Monitor& monitor) {
  const Arcs<Id>& arcs = problem.out;
  return by_levels(problem, row, threads, monitor, [&](Team::Member& me, Id depth) {
    bool found = false;
    me.loop(arcs.count(), kArcGrain, [&](std::int64_t begin, std::int64_t end) {
      for (std::int64_t i = begin; i < end; ++i) {
        const Id u = problem.tails[i];
        const Id v = arcs.neighbors[i];
        if (relaxed_load(row.values[u]) != depth || relaxed_load(row.values[v]) >= 0) continue;
        visit(row, v, static_cast<Id>(depth + 1), u);
        found = true;
      }
    });
    return found;
  });
}

template <class Id>
Id bfs_vertex_push(const BfsProblem<Id>& problem, Row<Id, Id> row, int threads, Monitor& monitor) {
  const Arcs<Id>& arcs = problem.out;
  return by_levels(problem, row, threads, monitor, [&](Team::Member& me, Id depth) {
    bool found = false;
    me.loop(arcs.n, kVertexGrain, [&](std::int64_t begin, std::int64_t end) {
      for (auto u = static_cast<Id>(begin); u < end; ++u) {
        if (relaxed_load(row.values[u]) != depth) continue;
        for (std::int64_t i = arcs.offsets[u]; i < arcs.offsets[u + 1]; ++i) {
          const Id v = arcs.neighbors[i];
          if (relaxed_load(row.values[v]) >= 0) continue;
          visit(row, v, static_cast<Id>(depth + 1), u);
          found = true;
        }
      }
    });
    return found;
  });
}

template <class Id>
Id bfs_vertex_pull(const BfsProblem<Id>& problem, Row<Id, Id> row, int threads, Monitor& monitor) {
  const Arcs<Id>& arcs = problem.into;
  return by_levels(problem, row, threads, monitor, [&](Team::Member& me, Id depth) {
    bool found = false;
    me.loop(arcs.n, kVertexGrain, [&](std::int64_t begin, std::int64_t end) {
      for (auto v = static_cast<Id>(begin); v < end; ++v) {
        if (relaxed_load(row.values[v]) >= 0) continue;
        for (std::int64_t i = arcs.offsets[v]; i < arcs.offsets[v + 1]; ++i) {
          const Id u = arcs.neighbors[i];
          if (relaxed_load(row.values[u]) != depth) continue;
          visit(row, v, static_cast<Id>(depth + 1), u);
          found = true;
          break;
        }
      }
    });
    return found;
  });
}

// x_old marks the frontier, and x_new = x_old A what it leads to; those without a depth yet are
// the next frontier. A source of each is kept in the parents as the product is formed.
template <class Id>
Id bfs_spmv(const BfsProblem<Id>& problem, Row<Id, Id> row, int threads, Monitor& monitor) {
  const Arcs<Id>& arcs = problem.out;
  std::vector<char> x_old(static_cast<std::size_t>(arcs.n)), x_new(x_old);
  x_old[problem.source] = 1;

  const auto multiply = [&](std::int64_t begin, std::int64_t end) {
    for (auto u = static_cast<Id>(begin); u < end; ++u) {
      if (!x_old[u]) continue;
      x_old[u] = 0;  // it will be the next x_new
      for (std::int64_t i = arcs.offsets[u]; i < arcs.offsets[u + 1]; ++i) {
        const Id v = arcs.neighbors[i];
        if (row.values[v] >= 0) continue;  // depths do not change while we multiply
        relaxed_store(x_new[v], char{1});
        if (row.parents) relaxed_store(row.parents[v], u);
      }
    }
  };

  return by_levels(problem, row, threads, monitor, [&](Team::Member& me, Id depth) {
    me.loop(arcs.n, kVertexGrain, multiply);
    bool found = false;
    me.loop(arcs.n, kVertexGrain, [&](std::int64_t begin, std::int64_t end) {
      for (auto v = static_cast<Id>(begin); v < end; ++v) {
        if (!x_new[v]) continue;
        row.values[v] = depth + 1;
        found = true;
      }
    });
    if (me.leads()) std::swap(x_old, x_new);  // the others wait for the level's end
    return found;
  });
}

#define KLEENE_INSTANTIATE(Id)                                                    \
  template Id bfs_edge(const BfsProblem<Id>&, Row<Id, Id>, int, Monitor&);        \
  template Id bfs_vertex_push(const BfsProblem<Id>&, Row<Id, Id>, int, Monitor&); \
  template Id bfs_vertex_pull(const BfsProblem<Id>&, Row<Id, Id>, int, Monitor&); \
  template Id bfs_spmv(const BfsProblem<Id>&, Row<Id, Id>, int, Monitor&);
KLEENE_INSTANTIATE(std::int32_t)
KLEENE_INSTANTIATE(std::int64_t)

}  // namespace kleene
