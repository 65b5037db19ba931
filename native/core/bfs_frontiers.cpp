// BFS with a frontier: a level looks only at the vertices that the level before has found.
//
// frontier: the threads append what they find to one shared queue, by one atomic addition each.
// privatized: every thread keeps what it finds to itself, and appends it all at the end of the
// level, by one addition for the lot. (Hwu, Kirk and El Hajj, Programming Massively Parallel
// Processors, 4th edition, sections 15.5 and 15.6.)
//
// The queue is an array in which the levels follow one another; as a vertex is claimed by
// compare-and-swap on its depth, it enters once, and n entries are enough.
#include <vector>

#include "bfs.hpp"
#include "buffer.hpp"
#include "parallel.hpp"
#include "relaxed.hpp"

namespace kleene {
namespace {

constexpr std::int64_t kGrain = 256;

template <class Id>
class SharedQueue {
 public:
  explicit SharedQueue(std::int64_t n) : vertices_(n) {}

  const Id& operator[](std::int64_t i) const { return vertices_[i]; }
  std::int64_t size() const { return size_.load(std::memory_order_relaxed); }

  void append(Id v) { vertices_[size_.fetch_add(1, std::memory_order_relaxed)] = v; }

  void append(const std::vector<Id>& many) {
    const auto count = static_cast<std::int64_t>(many.size());
    const std::int64_t at = size_.fetch_add(count, std::memory_order_relaxed);
    std::copy(many.begin(), many.end(), vertices_.data() + at);
  }

 private:
  Buffer<Id> vertices_;
  std::atomic<std::int64_t> size_{0};
};

// Takes an unvisited vertex for the caller alone.
template <class Id>
bool claim(const Row<Id, Id>& row, Id v, Id depth, Id parent) {
  if (relaxed_load(row.values[v]) >= 0) return false;
  Id unvisited = -1;
  if (!std::atomic_ref<Id>(row.values[v])
           .compare_exchange_strong(unvisited, depth, std::memory_order_relaxed)) {
    return false;
  }
  if (row.parents) row.parents[v] = parent;
  return true;
}

// Level after level: explore(member, begin, end, depth) looks at a stretch of the queue and appends
// what it finds behind it.
template <class Id, class Explore>
Id by_frontiers(const BfsProblem<Id>& problem, const Row<Id, Id>& row, SharedQueue<Id>& queue,
                int threads, Monitor& monitor, Explore&& explore) {
  row.values[problem.source] = 0;
  queue.append(problem.source);
  Ending<Id> ending(problem.stop, row.values);
  Team team(team_size(problem, threads), monitor);
  std::int64_t begin = 0;
  std::int64_t end = 0;
  Id horizon = kNoHorizon<Id>;
  bool done = false;
  run_team(team.threads(), monitor, [&](int thread) {
    Team::Member me(team, thread);
    for (Id depth = 0;; ++depth) {
      if (me.leads()) {
        begin = end;
        end = queue.size();
        done = begin == end || ending.at(depth);
        if (begin < end) horizon = done ? depth : kNoHorizon<Id>;
      }
      me.meet();
      if (done) return;
      explore(me, begin, end, depth);
    }
  });
  return horizon;
}

// Calls found(v) for each vertex that the stretch leads to and that this thread has claimed.
template <class Id, class Found>
void expand(const BfsProblem<Id>& problem, const Row<Id, Id>& row, const SharedQueue<Id>& queue,
            std::int64_t begin, std::int64_t end, Id depth, Found&& found) {
  const Arcs<Id>& arcs = problem.out;
  for (std::int64_t at = begin; at < end; ++at) {
    const Id u = queue[at];
    for (std::int64_t i = arcs.offsets[u]; i < arcs.offsets[u + 1]; ++i) {
      const Id v = arcs.neighbors[i];
      if (claim(row, v, static_cast<Id>(depth + 1), u)) found(v);
    }
  }
}

}  // namespace

template <class Id>
Id bfs_frontier(const BfsProblem<Id>& problem, Row<Id, Id> row, int threads, Monitor& monitor) {
  SharedQueue<Id> queue(problem.out.n);
  return by_frontiers(problem, row, queue, threads, monitor,
                      [&](Team::Member& me, std::int64_t begin, std::int64_t end, Id depth) {
                        me.loop(end - begin, kGrain, [&](std::int64_t from, std::int64_t to) {
                          expand(problem, row, queue, begin + from, begin + to, depth,
                                 [&](Id v) { queue.append(v); });
                        });
                      });
}

template <class Id>
Id bfs_privatized(const BfsProblem<Id>& problem, Row<Id, Id> row, int threads, Monitor& monitor) {
  SharedQueue<Id> queue(problem.out.n);
  return by_frontiers(problem, row, queue, threads, monitor,
                      [&](Team::Member& me, std::int64_t begin, std::int64_t end, Id depth) {
                        std::vector<Id> mine;
                        me.loop(
                            end - begin, kGrain,
                            [&](std::int64_t from, std::int64_t to) {
                              expand(problem, row, queue, begin + from, begin + to, depth,
                                     [&](Id v) { mine.push_back(v); });
                            },
                            [&] { queue.append(mine); });
                      });
}

#define KLEENE_INSTANTIATE(Id)                                                 \
  template Id bfs_frontier(const BfsProblem<Id>&, Row<Id, Id>, int, Monitor&); \
  template Id bfs_privatized(const BfsProblem<Id>&, Row<Id, Id>, int, Monitor&);
KLEENE_INSTANTIATE(std::int32_t)
KLEENE_INSTANTIATE(std::int64_t)

}  // namespace kleene
