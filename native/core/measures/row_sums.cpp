#include "measures/row_sums.hpp"

#include <algorithm>
#include <limits>

#include "parallel/team.hpp"

namespace kleene::measures {
namespace {

constexpr std::int64_t kLanes = 8;      // sums side by side, so that the compiler uses vectors
constexpr std::int64_t kColumns = 512;  // whose totals stay in the cache
constexpr std::int64_t kWorthThread = 1 << 15;  // entries

template <class Value, class Sum>
void reduce_row(const Value* row, std::int64_t n, Value no_path, Sum& sum, Value& maximum,
                std::int64_t& reached) {
  Sum sums[kLanes]{};
  std::int64_t counts[kLanes]{};
  Value largest[kLanes];
  std::fill_n(largest, kLanes, std::numeric_limits<Value>::lowest());
  const auto take = [&](std::int64_t v, std::int64_t lane) {
    const bool there = row[v] != no_path;
    sums[lane] += there ? static_cast<Sum>(row[v]) : Sum{0};
    counts[lane] += there;
    largest[lane] = there ? std::max(largest[lane], row[v]) : largest[lane];
  };
  const std::int64_t whole = n - n % kLanes;
  for (std::int64_t v = 0; v < whole; v += kLanes) {
    for (std::int64_t lane = 0; lane < kLanes; ++lane) take(v + lane, lane);
  }
  for (std::int64_t v = whole; v < n; ++v) take(v, v - whole);
  sum = 0;
  reached = 0;
  maximum = *std::max_element(largest, largest + kLanes);
  for (std::int64_t lane = 0; lane < kLanes; ++lane) {
    sum += sums[lane];
    reached += counts[lane];
  }
}

template <class Value>
void count_bins(const Value* row, std::int64_t n, Value no_path, const Value* edges,
                std::int64_t bins, std::int64_t* histogram) {
  for (std::int64_t v = 0; v < n; ++v) {
    if (row[v] == no_path) continue;
    const auto bin = std::upper_bound(edges, edges + bins + 1, row[v]) - edges - 1;
    if (bin >= 0 && bin < bins) ++histogram[bin];
  }
}

// The columns from `begin` to `end`, which are no more than kColumns.
template <class Id, class Value, class Sum>
void add_column_range(const Rows<Value>& rows, const Id* sources, const ColumnTotals<Sum>& totals,
                      std::int64_t begin, std::int64_t end) {
  for (std::int64_t r = 0; r < rows.count; ++r) {
    const Value* row = rows.distances + r * rows.n;
    const auto there = [&](std::int64_t v) { return row[v] != rows.no_path; };
    if (totals.reached) {
      for (std::int64_t v = begin; v < end; ++v) totals.reached[v] += there(v);
      const Id own = sources[r];
      if (own >= begin && own < end) totals.reached[own] -= there(own);
    }
    if (totals.sums) {
      for (std::int64_t v = begin; v < end; ++v) {
        totals.sums[v] += there(v) ? static_cast<Sum>(row[v]) : Sum{0};
      }
    }
    if (totals.inverses) {
      for (std::int64_t v = begin; v < end; ++v) {
        const bool counts = there(v) && row[v] != Value{0};
        totals.inverses[v] += counts ? 1.0 / static_cast<double>(row[v]) : 0.0;
      }
    }
  }
}

int team_size(std::int64_t count, std::int64_t n, int threads) {
  return static_cast<int>(std::clamp<std::int64_t>(count * n / kWorthThread, 1, threads));
}

}  // namespace

template <class Value, class Sum>
void reduce_rows(const Rows<Value>& rows, const RowTotals<Value, Sum>& totals, int threads,
                 Monitor& monitor) {
  parallel_for(rows.count, 1, team_size(rows.count, rows.n, threads), monitor,
               [&](std::int64_t r, std::int64_t, int) {
                 const Value* row = rows.distances + r * rows.n;
                 reduce_row(row, rows.n, rows.no_path, totals.sums[r], totals.maxima[r],
                            totals.reached[r]);
                 if (totals.bins == 0) return;
                 count_bins(row, rows.n, rows.no_path, totals.edges, totals.bins,
                            totals.histogram + r * totals.bins);
               });
}

template <class Id, class Value, class Sum>
void add_columns(const Rows<Value>& rows, const Id* sources, const ColumnTotals<Sum>& totals,
                 int threads, Monitor& monitor) {
  parallel_for(rows.n, kColumns, team_size(rows.count, rows.n, threads), monitor,
               [&](std::int64_t begin, std::int64_t end, int) {
                 add_column_range(rows, sources, totals, begin, end);
               });
}

#define KLEENE_ROW_SUMS(Value, Sum)                                                            \
  template void reduce_rows(const Rows<Value>&, const RowTotals<Value, Sum>&, int, Monitor&);  \
  template void add_columns(const Rows<Value>&, const std::int32_t*, const ColumnTotals<Sum>&, \
                            int, Monitor&);                                                    \
  template void add_columns(const Rows<Value>&, const std::int64_t*, const ColumnTotals<Sum>&, \
                            int, Monitor&);
KLEENE_ROW_SUMS(float, double)
KLEENE_ROW_SUMS(double, double)
KLEENE_ROW_SUMS(std::int32_t, std::int64_t)
KLEENE_ROW_SUMS(std::int64_t, std::int64_t)
KLEENE_ROW_SUMS(std::int64_t, double)

}  // namespace kleene::measures
