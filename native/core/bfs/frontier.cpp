// BFS with a frontier: a level scans only the vertices that the level before has visited.
//
// frontier: the threads append vertices to one shared queue, by one atomic addition each.
// privatized: every thread collects its vertices and appends them at the end of the level, by one
// atomic addition for all. (Hwu, Kirk and El Hajj, Programming Massively Parallel
// Processors, 4th edition, sections 15.5 and 15.6.)
//
// The queue is an array in which the levels follow one another; as a vertex is claimed by
// compare-and-swap on its depth, it enters once, and n entries are enough.
#include <vector>

#include "bfs/bfs.hpp"
#include "parallel/buffer.hpp"
#include "parallel/relaxed.hpp"
#include "parallel/team.hpp"

namespace kleene::bfs {
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

// Claims an unvisited vertex for the calling thread.
template <class Id>
bool claim(const ResultRow<Id, Id>& row, Id v, Id depth, Id predecessor) {
  // untestable (>= to >): the compare-and-swap below does not take the source either
  if (relaxed_load(row.distances[v]) >= 0) return false;
  Id unvisited = -1;
  if (!std::atomic_ref<Id>(row.distances[v])
           .compare_exchange_strong(unvisited, depth, std::memory_order_relaxed)) {
    return false;
  }
  if (row.predecessors) row.predecessors[v] = predecessor;
  return true;
}

// Level after level: explore(worker, begin, end, depth) expands a range of the queue and appends
// the vertices that it visits.
template <class Id, class Explore>
Id run_levels(const Problem<Id>& problem, const ResultRow<Id, Id>& row, SharedQueue<Id>& queue,
              int threads, Monitor& monitor, Explore&& explore) {
  row.distances[problem.source] = 0;
  queue.append(problem.source);
  LevelStop<Id> level_stop(problem.stop, row.distances);
  std::int64_t begin = 0;
  std::int64_t end = 0;
  Id horizon = kNoHorizon<Id>;
  bool done = false;
  run_team(team_size(problem, threads), monitor, [&](Team::Worker& worker) {
    for (Id depth = 0;; ++depth) {
      if (worker.is_leader()) {
        begin = end;
        end = queue.size();
        done = begin == end || level_stop.at(depth);
        if (begin < end) horizon = done ? depth : kNoHorizon<Id>;
      }
      worker.barrier();
      if (done) return;
      explore(worker, begin, end, depth);
    }
  });
  return horizon;
}

// Calls visit(v) for each head of the range's arcs that this thread has claimed.
template <class Id, class Visit>
void expand(const Problem<Id>& problem, const ResultRow<Id, Id>& row, const SharedQueue<Id>& queue,
            std::int64_t begin, std::int64_t end, Id depth, Visit&& visit) {
  const Arcs<Id>& arcs = problem.outgoing;
  for (std::int64_t at = begin; at < end; ++at) {
    const Id u = queue[at];
    for (std::int64_t i = arcs.offsets[u]; i < arcs.offsets[u + 1]; ++i) {
      const Id v = arcs.neighbors[i];
      if (claim(row, v, static_cast<Id>(depth + 1), u)) visit(v);
    }
  }
}

}  // namespace

template <class Id>
Id frontier(const Problem<Id>& problem, ResultRow<Id, Id> row, int threads, Monitor& monitor) {
  SharedQueue<Id> queue(problem.outgoing.n);
  return run_levels(problem, row, queue, threads, monitor,
                    [&](Team::Worker& worker, std::int64_t begin, std::int64_t end, Id depth) {
                      worker.loop(end - begin, kGrain, [&](std::int64_t from, std::int64_t to) {
                        expand(problem, row, queue, begin + from, begin + to, depth,
                               [&](Id v) { queue.append(v); });
                      });
                    });
}

template <class Id>
Id privatized(const Problem<Id>& problem, ResultRow<Id, Id> row, int threads, Monitor& monitor) {
  SharedQueue<Id> queue(problem.outgoing.n);
  return run_levels(problem, row, queue, threads, monitor,
                    [&](Team::Worker& worker, std::int64_t begin, std::int64_t end, Id depth) {
                      std::vector<Id> mine;
                      worker.loop(
                          end - begin, kGrain,
                          [&](std::int64_t from, std::int64_t to) {
                            expand(problem, row, queue, begin + from, begin + to, depth,
                                   [&](Id v) { mine.push_back(v); });
                          },
                          [&] { queue.append(mine); });
                    });
}

#define KLEENE_INSTANTIATE(Id)                                                \
  template Id frontier(const Problem<Id>&, ResultRow<Id, Id>, int, Monitor&); \
  template Id privatized(const Problem<Id>&, ResultRow<Id, Id>, int, Monitor&);
KLEENE_INSTANTIATE(std::int32_t)
KLEENE_INSTANTIATE(std::int64_t)

}  // namespace kleene::bfs
