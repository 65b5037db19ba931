// Many sources, in batches of near ones, a vector lane each (lane_search.hpp).
#pragma once

#include <atomic>
#include <memory>
#include <numeric>
#include <type_traits>
#include <utility>
#include <vector>

#include "parallel/team.hpp"
#include "sssp/lane_search.hpp"

namespace kleene::sssp {

// Sources per thread from which batches are faster than single searches.
constexpr std::int64_t kSourcesWorthLanes = 8;

// Single searches take over when so many batches, and a quarter of all, had sources that share
// little work. The last batches, of sources that others left over, often do.
constexpr std::int64_t kPoorBatches = 3;

// A search with targets may end early, alone; one by reduced costs adds up other lengths.
template <class Id, class Value>
bool lanes_may_pay(const Problem<Id, Value>& problem, const ResultRows<Id, Value>& rows,
                   int threads) {
  // untestable: batches and single searches find the same
  return std::is_same_v<Id, std::int32_t> && !problem.stop.targets && !problem.original_lengths &&
         rows.count >= kSourcesWorthLanes * threads;
}

// Positions of the sources, so that those near each other follow one another, `size` at a time: a
// breadth-first search from the first that is left collects the others that it reaches.
template <class Id>
std::vector<std::int64_t> order_by_nearness(const Arcs<Id>& arcs, const Id* sources,
                                            std::int64_t count, std::int64_t size) {
  constexpr std::size_t kReach = 512;  // vertices that one search may visit
  std::vector<std::int64_t> next(static_cast<std::size_t>(count));  // position with the same source
  std::vector<std::int64_t> waiting(static_cast<std::size_t>(arcs.n), -1);  // first position
  for (std::int64_t k = count; k-- > 0;) {
    next[k] = waiting[sources[k]];
    waiting[sources[k]] = k;
  }
  std::vector<std::int64_t> positions;
  positions.reserve(static_cast<std::size_t>(count));
  std::vector<Id> queue, seen(static_cast<std::size_t>(arcs.n), -1);  // seen by the search from
  for (std::int64_t k = 0; k < count; ++k) {
    const Id first = sources[k];
    if (waiting[first] < 0) continue;
    queue.assign(1, first);
    seen[first] = first;
    const std::size_t full = (positions.size() / size + 1) * size;  // the end of this batch
    // untestable (second < to <=): which sources share a batch
    for (std::size_t at = 0; at < queue.size() && positions.size() < full; ++at) {
      const Id u = queue[at];
      // untestable (< to <=): which sources share a batch
      for (; waiting[u] >= 0 && positions.size() < full; waiting[u] = next[waiting[u]]) {
        positions.push_back(waiting[u]);
      }
      // untestable (< to <=, + 1 to + 0, second < to >=): which sources share a batch
      for (std::int64_t i = arcs.offsets[u]; i < arcs.offsets[u + 1] && queue.size() < kReach;
           ++i) {
        const Id v = arcs.neighbors[i];
        if (seen[v] == first) continue;  // untestable: which sources share a batch
        seen[v] = first;
        queue.push_back(v);
      }
    }
    // untestable: which sources share a batch
    if (waiting[first] >= 0) --k;  // comes more often than a batch holds
  }
  return positions;
}

// Searches in batches as long as they pay; returns the positions of the sources that are left.
// Buckets are as wide as an arc is long: on roads, grids, R-MAT and uniform graphs of 4096 vertices
// between half and eight times that made little difference.
template <class Id, class Value>
std::vector<std::int64_t> search_in_batches(const Problem<Id, Value>& problem,
                                            const ResultRows<Id, Value>& rows, double mean,
                                            int threads, Monitor& monitor) {
  constexpr std::int64_t kWidth = kLanes<Value>;
  const std::vector<std::int64_t> positions =
      order_by_nearness(problem.outgoing, rows.sources, rows.count, kWidth);
  const std::int64_t batches = (rows.count + kWidth - 1) / kWidth;
  std::atomic<std::int64_t> next{0};
  std::atomic<std::int64_t> poor{0};
  if constexpr (std::is_same_v<Id, std::int32_t>) {
    const int size = static_cast<int>(std::min<std::int64_t>(threads, batches));
    run_team(size, monitor, [&](Team::Worker& worker) {
      // untestable (> to >=, > to <=): any width of buckets is right
      LaneSearch<Value> search(problem, rows.predecessors != nullptr, mean > 0 ? mean : 1);
      const auto lanes_do_not_pay = [&] {
        const std::int64_t bad = poor.load(std::memory_order_relaxed);
        // untestable: when single searches take over
        return bad >= kPoorBatches && 4 * bad > next.load(std::memory_order_relaxed);
      };
      while (!lanes_do_not_pay()) {  // untestable: single searches take over
        const std::int64_t first = kWidth * next.fetch_add(1, std::memory_order_relaxed);
        if (first >= rows.count) return;  // untestable (>= to >): a batch of no sources
        const std::int64_t count = std::min(kWidth, rows.count - first);
        Id sources[kWidth];
        ResultRow<Id, Value> own[kWidth];
        for (std::int64_t k = 0; k < count; ++k) {
          const std::int64_t position = positions[first + k];
          sources[k] = rows.sources[position];
          own[k] = rows.at(position, problem.outgoing.n);
          rows.horizons[position] = problem.stop.limit;
        }
        search.search(sources, static_cast<int>(count), own, CancelCheck(monitor, worker.thread()));
        // untestable: when single searches take over
        if (!search.shared_work()) poor.fetch_add(1, std::memory_order_relaxed);
        monitor.advance(static_cast<std::uint64_t>(count));
        if (worker.is_leader()) monitor.poll();  // untestable: the searches poll, too
      }
    });
  }
  const std::int64_t done = std::min(rows.count, kWidth * next.load());
  return {positions.begin() + done, positions.end()};
}

}  // namespace kleene::sssp
