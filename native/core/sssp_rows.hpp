// How searches from many sources are dealt out to threads.
#pragma once

#include "parallel.hpp"
#include "sssp.hpp"

namespace kleene {

// Calls search(problem, row, thread) for every source, on one thread each. The thread that searches
// a row also fills it, just before, so that the row is in that core's cache.
template <class Id, class Value, class Search>
void search_side_by_side(const SsspProblem<Id, Value>& problem, const SsspRows<Id, Value>& rows,
                         int threads, Monitor& monitor, Search&& search) {
  parallel_for(rows.count, 1, threads, monitor, [&](std::int64_t i, std::int64_t, int thread) {
    SsspProblem<Id, Value> own = problem;
    own.source = rows.sources[i];
    rows.horizons[i] = search(own, rows.start(i, own.out.n), thread);
  });
}

// The same, one after the other, for searches that use all threads themselves.
template <class Id, class Value, class Search>
void search_one_by_one(const SsspProblem<Id, Value>& problem, const SsspRows<Id, Value>& rows,
                       Monitor& monitor, Search&& search) {
  search_side_by_side(problem, rows, 1, monitor, search);
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
