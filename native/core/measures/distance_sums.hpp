// Sums over the hop counts of many searches, without the hop counts.
//
// Searches run in batches of up to 512, a bit each (bfs/multi_source.hpp). The searches that reach
// a vertex at a level are a set of bits; how many there are says all that sums need. So a vertex
// costs one count of bits a level, whatever the number of searches, and no row is written.
#pragma once

#include <cstdint>
#include <vector>

#include "bfs/bfs.hpp"
#include "parallel/monitor.hpp"

namespace kleene::measures {

using namespace parallel;
using namespace graph;

// For each vertex, over all sources but itself that reach it: how many, the sum of their distances,
// and the sum of the inverses. The caller's memory, n entries each, zeros at first.
struct HopSums {
  std::int64_t* reached = nullptr;
  std::int64_t* sums = nullptr;
  double* inverses = nullptr;
};

// Adds up the distances from all sources to each vertex. Returns how many pairs of a source and
// another vertex have each number of hops. No source may be listed twice.
template <class Id>
std::vector<std::int64_t> add_hops(const bfs::Problem<Id>& problem, const Id* sources,
                                   std::int64_t count, const HopSums& totals, int threads,
                                   Monitor& monitor);

// Fills the number of hops to the farthest vertex that each source reaches.
template <class Id>
void farthest_hops(const bfs::Problem<Id>& problem, const Id* sources, std::int64_t count,
                   Id* farthest, int threads, Monitor& monitor);

// ---- over rows of distances ---------------------------------------------------------------------
//
// Sums, maxima and counts over rows of distances, by row or by column, in one pass.

// Rows of distances in the caller's memory; `no_path` is the entry of an unreached vertex.
template <class Value>
struct Rows {
  const Value* distances = nullptr;
  std::int64_t count = 0, n = 0;
  Value no_path{};
};

// What is left of each row. Bin j of the histogram counts distances from edge j up to, but not
// including, edge j + 1; `bins` is 0 where none is wanted.
template <class Value, class Sum>
struct RowTotals {
  Sum* sums = nullptr;
  Value* maxima = nullptr;
  std::int64_t* reached = nullptr;
  const Value* edges = nullptr;  // bins + 1, ascending
  std::int64_t bins = 0;
  std::int64_t* histogram = nullptr;  // count x bins, zeros at first
};

template <class Value, class Sum>
void reduce_rows(const Rows<Value>& rows, const RowTotals<Value, Sum>& totals, int threads,
                 Monitor& monitor);

// What is left of each column, the rows being those of `sources`: how many other vertices reach
// this one, the sum of their distances, and the sum of the inverses of those that are not zero.
// Adds to what is there; null where it is not wanted.
template <class Sum>
struct ColumnTotals {
  std::int64_t* reached = nullptr;
  Sum* sums = nullptr;
  double* inverses = nullptr;
};

template <class Id, class Value, class Sum>
void add_columns(const Rows<Value>& rows, const Id* sources, const ColumnTotals<Sum>& totals,
                 int threads, Monitor& monitor);

}  // namespace kleene::measures
