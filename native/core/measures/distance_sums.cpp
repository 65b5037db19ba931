#include "measures/distance_sums.hpp"

#include <algorithm>
#include <limits>
#include <mutex>

#include "bfs/multi_source.hpp"
#include "parallel/team.hpp"

namespace kleene::measures {
namespace {

// The sums of one thread.
class ArrivalCounts {
 public:
  explicit ArrivalCounts(std::int64_t n) : totals_(static_cast<std::size_t>(n)) {}

  template <class Id>
  void begin(std::int64_t, int, Id) {}

  template <class Set, class Id>
  void enter(const Set&, Id, Id, Id) {}

  template <class Id, class Sets>
  void end_level(const std::vector<Id>& active, const Sets& next, Id depth) {
    if (active.empty()) return;
    const double inverse = 1.0 / static_cast<double>(depth);
    std::int64_t pairs = 0;
    for (const Id v : active) {
      const std::int64_t arrived = next[v].count();
      Total& total = totals_[v];
      total.reached += arrived;
      total.sum += arrived * depth;
      total.inverses += static_cast<double>(arrived) * inverse;
      pairs += arrived;
    }
    if (levels_.size() <= static_cast<std::size_t>(depth)) {
      levels_.resize(static_cast<std::size_t>(depth) + 1);
    }
    levels_[depth] += pairs;
  }

  bool links() const { return false; }

  void add_to(const HopSums& totals, std::vector<std::int64_t>& levels) const {
    for (std::size_t v = 0; v < totals_.size(); ++v) {
      totals.reached[v] += totals_[v].reached;
      totals.sums[v] += totals_[v].sum;
      totals.inverses[v] += totals_[v].inverses;
    }
    if (levels.size() < levels_.size()) levels.resize(levels_.size());
    for (std::size_t d = 0; d < levels_.size(); ++d) levels[d] += levels_[d];
  }

 private:
  struct Total {
    std::int64_t reached = 0, sum = 0;
    double inverses = 0;
  };
  std::vector<Total> totals_;
  std::vector<std::int64_t> levels_;  // pairs, by hops
};

// The level of the last arrival of each search of a batch.
template <class Id>
class LastArrivals {
 public:
  explicit LastArrivals(Id* farthest) : farthest_(farthest) {}

  void begin(std::int64_t first, int search, Id) {
    batch_ = farthest_ + first;
    batch_[search] = 0;
  }

  template <class Set>
  void enter(const Set&, Id, Id, Id) {}

  template <class Sets>
  void end_level(const std::vector<Id>& active, const Sets& next, Id depth) {
    typename Sets::value_type arrived{};
    for (const Id v : active) arrived |= next[v];
    arrived.for_each([&](int search) { batch_[search] = depth; });
  }

  bool links() const { return false; }

 private:
  Id* farthest_;
  Id* batch_ = nullptr;
};

}  // namespace

template <class Id>
std::vector<std::int64_t> add_hops(const bfs::Problem<Id>& problem, const Id* sources,
                                   std::int64_t count, const HopSums& totals, int threads,
                                   Monitor& monitor) {
  std::vector<std::int64_t> levels;
  std::mutex adding;
  const auto make = [&] { return ArrivalCounts(problem.outgoing.n); };
  const auto finish = [](ArrivalCounts&, std::int64_t, int, Id) {};
  const auto leave = [&](const ArrivalCounts& own) {
    const std::lock_guard lock(adding);
    own.add_to(totals, levels);
  };
  bfs::with_batch_width(count, threads, [&]<int kWords>() {
    bfs::run_batches<Id, kWords>(problem, sources, count, threads, monitor, make, finish, leave);
  });
  return levels;
}

template <class Id>
void farthest_hops(const bfs::Problem<Id>& problem, const Id* sources, std::int64_t count,
                   Id* farthest, int threads, Monitor& monitor) {
  using Arrivals = LastArrivals<Id>;
  bfs::with_batch_width(count, threads, [&]<int kWords>() {
    bfs::run_batches<Id, kWords>(
        problem, sources, count, threads, monitor, [&] { return Arrivals(farthest); },
        [](Arrivals&, std::int64_t, int, Id) {}, [](Arrivals&) {});
  });
}

#define KLEENE_DISTANCE_SUMS(Id)                                                                \
  template std::vector<std::int64_t> add_hops(const bfs::Problem<Id>&, const Id*, std::int64_t, \
                                              const HopSums&, int, Monitor&);                   \
  template void farthest_hops(const bfs::Problem<Id>&, const Id*, std::int64_t, Id*, int, Monitor&);
KLEENE_DISTANCE_SUMS(std::int32_t)
KLEENE_DISTANCE_SUMS(std::int64_t)

// ---- over rows of distances ---------------------------------------------------------------------

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
