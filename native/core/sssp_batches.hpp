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

// Batches whose sources share little work, after which single searches go on.
constexpr int kPoorBatches = 2;

// A search with targets may end early, alone; one by reduced costs adds up other lengths.
template <class Id, class Value>
bool lanes_may_pay(const SsspProblem<Id, Value>& problem, const SsspRows<Id, Value>& rows,
                   int threads) {
  return std::is_same_v<Id, std::int32_t> && !problem.stop.targets && !problem.reported &&
         rows.count >= kSourcesWorthLanes * threads;
}

// Places of the sources, so that those which are near each other follow one another: in the order
// in which a depth-first search of the graph enters them.
template <class Id>
std::vector<std::int64_t> near_each_other(const Arcs<Id>& arcs, const Id* sources,
                                          std::int64_t count) {
  std::vector<Id> rank(static_cast<std::size_t>(arcs.n), -1);
  std::vector<std::pair<Id, std::int64_t>> path;  // vertex, next arc
  Id entered = 0;
  const auto enter = [&](Id v) {
    rank[v] = entered++;
    path.emplace_back(v, arcs.offsets[v]);
  };
  for (std::int64_t k = 0; k < count; ++k) {
    if (rank[sources[k]] < 0) enter(sources[k]);
    while (!path.empty()) {
      auto& [u, arc] = path.back();
      if (arc == arcs.offsets[u + 1]) {
        path.pop_back();
      } else if (const Id v = arcs.neighbors[arc++]; rank[v] < 0) {
        enter(v);
      }
    }
  }
  std::vector<std::int64_t> places(static_cast<std::size_t>(count));
  std::iota(places.begin(), places.end(), 0);
  std::stable_sort(places.begin(), places.end(), [&](std::int64_t a, std::int64_t b) {
    return rank[sources[a]] < rank[sources[b]];
  });
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
  const std::vector<std::int64_t> places = near_each_other(problem.out, rows.sources, rows.count);
  const std::int64_t batches = (rows.count + kWidth - 1) / kWidth;
  std::atomic<std::int64_t> next{0};
  std::atomic<int> poor{0};
  if constexpr (std::is_same_v<Id, std::int32_t>) {
    run_team(static_cast<int>(std::min<std::int64_t>(threads, batches)), monitor, [&](int thread) {
      LaneSearch<Value> search(problem, rows.parents != nullptr, mean > 0 ? mean : 1);
      while (poor.load(std::memory_order_relaxed) <= kPoorBatches) {
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
