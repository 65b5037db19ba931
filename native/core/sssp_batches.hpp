// Many sources, in batches of near ones that go a lane each.
#pragma once

#include <atomic>
#include <memory>
#include <numeric>
#include <type_traits>
#include <utility>
#include <vector>

#include "parallel.hpp"
#include "sssp_lanes.hpp"

namespace kleene {

// Sources for each thread from which on a batch is better than single searches.
constexpr std::int64_t kSourcesWorthLanes = 8;

// Single searches go on when so many batches, and a quarter of all, had sources that share little
// work. The last ones, of sources that others left over, often do.
constexpr std::int64_t kPoorBatches = 3;

// A search with targets may end early, alone; one by reduced costs adds up other lengths.
template <class Id, class Value>
bool lanes_may_pay(const SsspProblem<Id, Value>& problem, const SsspRows<Id, Value>& rows,
                   int threads) {
  return std::is_same_v<Id, std::int32_t> && !problem.stop.targets && !problem.reported &&
         rows.count >= kSourcesWorthLanes * threads;
}

// Places of the sources, so that those which are near each other follow one another, `size` at a
// time: a breadth-first search from the first that is left collects the others that it meets.
template <class Id>
std::vector<std::int64_t> near_each_other(const Arcs<Id>& arcs, const Id* sources,
                                          std::int64_t count, std::int64_t size) {
  constexpr std::size_t kReach = 512;  // vertices that one search may meet
  std::vector<std::int64_t> next(static_cast<std::size_t>(count));  // places with the same source
  std::vector<std::int64_t> waiting(static_cast<std::size_t>(arcs.n), -1);  // first place
  for (std::int64_t k = count; k-- > 0;) {
    next[k] = waiting[sources[k]];
    waiting[sources[k]] = k;
  }
  std::vector<std::int64_t> places;
  places.reserve(static_cast<std::size_t>(count));
  std::vector<Id> met, seen(static_cast<std::size_t>(arcs.n), -1);  // seen by the search from
  for (std::int64_t k = 0; k < count; ++k) {
    const Id first = sources[k];
    if (waiting[first] < 0) continue;
    met.assign(1, first);
    seen[first] = first;
    const std::size_t full = (places.size() / size + 1) * size;  // the end of this batch
    for (std::size_t at = 0; at < met.size() && places.size() < full; ++at) {
      const Id u = met[at];
      for (; waiting[u] >= 0 && places.size() < full; waiting[u] = next[waiting[u]]) {
        places.push_back(waiting[u]);
      }
      for (std::int64_t i = arcs.offsets[u]; i < arcs.offsets[u + 1] && met.size() < kReach; ++i) {
        const Id v = arcs.neighbors[i];
        if (seen[v] == first) continue;
        seen[v] = first;
        met.push_back(v);
      }
    }
    if (waiting[first] >= 0) --k;  // comes more often than a batch holds
  }
  return places;
}

// Searches in batches as long as that is worth it; returns the places of the sources that are left.
// Buckets are as wide as an arc is long: on roads, grids, R-MAT and uniform graphs of 4096 vertices
// between half and eight times that made little difference.
template <class Id, class Value>
std::vector<std::int64_t> search_in_batches(const SsspProblem<Id, Value>& problem,
                                            const SsspRows<Id, Value>& rows, double mean,
                                            int threads, Monitor& monitor) {
  constexpr std::int64_t kWidth = kLanes<Value>;
  const std::vector<std::int64_t> places =
      near_each_other(problem.out, rows.sources, rows.count, kWidth);
  const std::int64_t batches = (rows.count + kWidth - 1) / kWidth;
  std::atomic<std::int64_t> next{0};
  std::atomic<std::int64_t> poor{0};
  if constexpr (std::is_same_v<Id, std::int32_t>) {
    run_team(static_cast<int>(std::min<std::int64_t>(threads, batches)), monitor, [&](int thread) {
      LaneSearch<Value> search(problem, rows.parents != nullptr, mean > 0 ? mean : 1);
      const auto worthless = [&] {
        const std::int64_t bad = poor.load(std::memory_order_relaxed);
        return bad >= kPoorBatches && 4 * bad > next.load(std::memory_order_relaxed);
      };
      while (!worthless()) {
        const std::int64_t first = kWidth * next.fetch_add(1, std::memory_order_relaxed);
        if (first >= rows.count) return;
        const std::int64_t count = std::min(kWidth, rows.count - first);
        Id sources[kWidth];
        Row<Id, Value> own[kWidth];
        for (std::int64_t k = 0; k < count; ++k) {
          const std::int64_t place = places[first + k];
          sources[k] = rows.sources[place];
          own[k] = rows.at(place, problem.out.n);
          rows.horizons[place] = problem.stop.limit;
        }
        search.search(sources, static_cast<int>(count), own, Watch(monitor, thread));
        if (!search.worth()) poor.fetch_add(1, std::memory_order_relaxed);
        monitor.advance(static_cast<std::uint64_t>(count));
        if (thread == 0) monitor.poll();
      }
    });
  }
  const std::int64_t done = std::min(rows.count, kWidth * next.load());
  return {places.begin() + done, places.end()};
}

}  // namespace kleene
