// Delta-stepping from many sources: in batches of lanes, side by side, or one after the other.
#pragma once

#include <memory>

#include "sssp/delta_stepping.hpp"
#include "sssp/lane_batches.hpp"
#include "sssp/sources.hpp"

namespace kleene::sssp {

// An estimate from a sample.
template <class Id, class Value>
double mean_length(const Arcs<Id>& arcs, const Value* lengths) {
  constexpr std::int64_t kSample = 1024;
  const std::int64_t m = arcs.count();
  const std::int64_t step = std::max<std::int64_t>(1, m / kSample);
  double sum = 0;
  std::int64_t count = 0;
  // untestable below (= 0 to = 1, < to <=, max to min): any width of buckets is right
  for (std::int64_t i = 0; i < m; i += step, ++count) sum += static_cast<double>(lengths[i]);
  return sum / static_cast<double>(std::max<std::int64_t>(1, count));
}

// Wide buckets mean vertices relaxed too early. The more arcs a vertex has, the more that costs,
// and the fewer buckets there are anyway.
template <class Id>
double delta_width(const Arcs<Id>& arcs, double mean) {
  // untestable below: any width of buckets is right
  const double degree =
      std::max(1.0, static_cast<double>(arcs.count()) / static_cast<double>(arcs.n));
  return mean > 0 ? kDeltaFactor * mean / (degree * degree) : 1;
}

template <class Id, class Value>
void delta_stepping(const Problem<Id, Value>& problem, const ResultRows<Id, Value>& rows,
                    int threads, Monitor& monitor) {
  using Search = DeltaStepping<Id, Value>;
  const double mean = mean_length(problem.outgoing, problem.lengths);
  const double width = delta_width(problem.outgoing, mean);
  const std::vector<std::int64_t> left =  // sources that are searched from one by one
      lanes_may_pay(problem, rows, threads)
          ? search_in_batches(problem, rows, mean, threads, monitor)
          : all_sources(rows);
  // untestable: how threads share the searches
  if (static_cast<std::int64_t>(left.size()) >= threads) {
    std::vector<std::unique_ptr<Search>> searches(static_cast<std::size_t>(threads));
    search_side_by_side(problem, rows, left, threads, monitor,
                        [&](const Problem<Id, Value>& own, ResultRow<Id, Value> row, int thread) {
                          auto& search = searches[thread];
                          if (!search) search = std::make_unique<Search>(own, 1, width);
                          return search->search(own, row, CancelCheck(monitor, thread), monitor);
                        });
  } else if (!left.empty()) {
    Search search(problem, search_threads(problem.outgoing, threads), width);
    search_one_by_one(problem, rows, left, threads, monitor,
                      [&](const Problem<Id, Value>& own, ResultRow<Id, Value> row) {
                        return search.search(own, row, CancelCheck(monitor, 0), monitor);
                      });
  }
}

}  // namespace kleene::sssp
