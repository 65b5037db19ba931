// How searches from many sources are shared out among threads.
#pragma once

#include <numeric>
#include <vector>

#include "parallel/team.hpp"
#include "sssp/sssp.hpp"

namespace kleene::sssp {

// Calls search(problem, row, thread) for the sources at these positions, on one thread each. The
// thread that searches a row also fills it, just before, so that the row is in that core's cache.
template <class Id, class Value, class Search>
void search_side_by_side(const Problem<Id, Value>& problem, const ResultRows<Id, Value>& rows,
                         const std::vector<std::int64_t>& positions, int threads, Monitor& monitor,
                         Search&& search) {
  constexpr std::int64_t kEach = 1 << 15;  // arcs worth a thread: to wake one takes 5 microseconds
  const auto count = static_cast<std::int64_t>(positions.size());
  const std::int64_t work = count * (8 * problem.outgoing.n + problem.outgoing.count());
  parallel_for(count, 1, threads_worth(work, kEach, threads), monitor,
               [&](std::int64_t at, std::int64_t, int thread) {
                 const std::int64_t i = positions[static_cast<std::size_t>(at)];
                 Problem<Id, Value> own = problem;
                 own.source = rows.sources[i];
                 const ResultRow<Id, Value> row = rows.at(i, own.outgoing.n);
                 std::fill_n(row.distances, own.outgoing.n, kNoPath<Value>);
                 if (row.predecessors)
                   std::fill_n(row.predecessors, own.outgoing.n, kNoPredecessor<Id>);
                 rows.horizons[i] = search(own, row, thread);
               });
}

// The same, one after the other, for searches that use all threads themselves.
template <class Id, class Value, class Search>
void search_one_by_one(const Problem<Id, Value>& problem, const ResultRows<Id, Value>& rows,
                       const std::vector<std::int64_t>& positions, int threads, Monitor& monitor,
                       Search&& search) {
  const std::int64_t n = problem.outgoing.n;
  for (const std::int64_t i : positions) {
    Problem<Id, Value> own = problem;
    own.source = rows.sources[i];
    const ResultRow<Id, Value> row = rows.at(i, n);
    fill_row(row, n, kNoPath<Value>, threads, monitor);
    rows.horizons[i] = search(own, row);
    monitor.advance(1);
    monitor.poll();
  }
}

// The positions of all sources.
template <class Id, class Value>
std::vector<std::int64_t> all_sources(const ResultRows<Id, Value>& rows) {
  std::vector<std::int64_t> positions(static_cast<std::size_t>(rows.count));
  std::iota(positions.begin(), positions.end(), 0);
  return positions;
}

// Instantiates one method for every type of distances, with one type of ids or with all.
#define KLEENE_SSSP_METHOD_OF(Id, method)                                                          \
  template void method(const Problem<Id, std::int32_t>&, const ResultRows<Id, std::int32_t>&, int, \
                       Monitor&);                                                                  \
  template void method(const Problem<Id, std::int64_t>&, const ResultRows<Id, std::int64_t>&, int, \
                       Monitor&);                                                                  \
  template void method(const Problem<Id, float>&, const ResultRows<Id, float>&, int, Monitor&);    \
  template void method(const Problem<Id, double>&, const ResultRows<Id, double>&, int, Monitor&);
#define KLEENE_SSSP_METHOD(method)            \
  KLEENE_SSSP_METHOD_OF(std::int32_t, method) \
  KLEENE_SSSP_METHOD_OF(std::int64_t, method)

}  // namespace kleene::sssp
