// How searches from many sources are dealt out to threads.
#pragma once

#include <numeric>
#include <vector>

#include "parallel.hpp"
#include "sssp.hpp"

namespace kleene {

// Calls search(problem, row, thread) for the sources at these places, on one thread each. The
// thread that searches a row also fills it, just before, so that the row is in that core's cache.
template <class Id, class Value, class Search>
void search_side_by_side(const SsspProblem<Id, Value>& problem, const SsspRows<Id, Value>& rows,
                         const std::vector<std::int64_t>& places, int threads, Monitor& monitor,
                         Search&& search) {
  const auto count = static_cast<std::int64_t>(places.size());
  parallel_for(count, 1, threads, monitor, [&](std::int64_t at, std::int64_t, int thread) {
    const std::int64_t i = places[static_cast<std::size_t>(at)];
    SsspProblem<Id, Value> own = problem;
    own.source = rows.sources[i];
    const Row<Id, Value> row = rows.at(i, own.out.n);
    std::fill_n(row.values, own.out.n, kNoPath<Value>);
    if (row.parents) std::fill_n(row.parents, own.out.n, Id{-1});
    rows.horizons[i] = search(own, row, thread);
  });
}

// The same, one after the other, for searches that use all threads themselves.
template <class Id, class Value, class Search>
void search_one_by_one(const SsspProblem<Id, Value>& problem, const SsspRows<Id, Value>& rows,
                       const std::vector<std::int64_t>& places, int threads, Monitor& monitor,
                       Search&& search) {
  const std::int64_t n = problem.out.n;
  for (const std::int64_t i : places) {
    SsspProblem<Id, Value> own = problem;
    own.source = rows.sources[i];
    const Row<Id, Value> row = rows.at(i, n);
    parallel_fill(row.values, n, kNoPath<Value>, threads, monitor);
    if (row.parents) parallel_fill(row.parents, n, Id{-1}, threads, monitor);
    rows.horizons[i] = search(own, row);
    monitor.advance(1);
    monitor.poll();
  }
}

// The places of all sources.
template <class Id, class Value>
std::vector<std::int64_t> all_places(const SsspRows<Id, Value>& rows) {
  std::vector<std::int64_t> places(static_cast<std::size_t>(rows.count));
  std::iota(places.begin(), places.end(), 0);
  return places;
}

// Instantiates one method for every type of ids and distances.
#define KLEENE_SSSP_METHOD(method)                                                  \
  template void method(const SsspProblem<std::int32_t, std::int32_t>&,              \
                       const SsspRows<std::int32_t, std::int32_t>&, int, Monitor&); \
  template void method(const SsspProblem<std::int32_t, std::int64_t>&,              \
                       const SsspRows<std::int32_t, std::int64_t>&, int, Monitor&); \
  template void method(const SsspProblem<std::int32_t, float>&,                     \
                       const SsspRows<std::int32_t, float>&, int, Monitor&);        \
  template void method(const SsspProblem<std::int32_t, double>&,                    \
                       const SsspRows<std::int32_t, double>&, int, Monitor&);       \
  template void method(const SsspProblem<std::int64_t, std::int32_t>&,              \
                       const SsspRows<std::int64_t, std::int32_t>&, int, Monitor&); \
  template void method(const SsspProblem<std::int64_t, std::int64_t>&,              \
                       const SsspRows<std::int64_t, std::int64_t>&, int, Monitor&); \
  template void method(const SsspProblem<std::int64_t, float>&,                     \
                       const SsspRows<std::int64_t, float>&, int, Monitor&);        \
  template void method(const SsspProblem<std::int64_t, double>&,                    \
                       const SsspRows<std::int64_t, double>&, int, Monitor&)

}  // namespace kleene
