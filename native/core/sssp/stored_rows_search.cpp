#include "sssp/stored_rows_search.hpp"

#include <algorithm>
#include <bit>
#include <limits>
#include <vector>

#include "graph/no_path.hpp"
#include "sssp/heap.hpp"

namespace kleene::sssp {
namespace {

constexpr double kFar = std::numeric_limits<double>::infinity();

// The searches of one call, one after the other.
template <class Offset, class Id>
class Search {
 public:
  Search(const StoredRows<Offset, Id>& rows, const StoredRows<Offset, Id>* transposed, double limit,
         std::int32_t none, Monitor& monitor)
      : rows_(rows), transposed_(transposed), limit_(limit), none_(none), monitor_(monitor) {}

  void run(const std::int32_t* sources, std::int64_t count, bool unit,
           const StoredRowsAnswer& row) {
    row_ = row;
    std::fill_n(row.distances, rows_.n, kFar);
    if (row.predecessors) std::fill_n(row.predecessors, rows_.n, none_);
    if (row.origins) std::fill_n(row.origins, rows_.n, none_);
    queue_.clear();
    for (std::int64_t i = 0; i < count; ++i) {
      if (row.distances[sources[i]] == 0) continue;  // given twice
      row.distances[sources[i]] = 0;
      if (row.origins) row.origins[sources[i]] = sources[i];
      queue_.push_back(sources[i]);
    }
    if (unit) {
      by_level();
    } else {
      by_distance();
    }
  }

 private:
  void by_distance() {
    heap_.clear();
    for (const std::int32_t source : queue_) heap_.push({0, source});
    while (!heap_.empty()) {
      const auto [distance, u] = heap_.pop();
      if (distance != row_.distances[u]) continue;
      poll();
      const auto scan = [&, distance = distance, u = u](const StoredRows<Offset, Id>& of) {
        const auto [first, last] = of.row(u);
        for (std::int64_t i = first; i < last; ++i) {
          const std::int32_t v = of.head(i);
          const double through = distance + of.lengths[i];
          if (!(through < row_.distances[v]) || through > limit_) continue;
          reach(v, through, u);
          heap_.push({through, v});
        }
      };
      scan(rows_);
      if (transposed_) scan(*transposed_);
    }
  }

  void by_level() {
    for (std::size_t at = 0; at < queue_.size(); ++at) {
      const std::int32_t u = queue_[at];
      const double through = row_.distances[u] + 1;
      if (through > limit_) return;
      poll();
      const auto scan = [&](const StoredRows<Offset, Id>& of) {
        const auto [first, last] = of.row(u);
        for (std::int64_t i = first; i < last; ++i) {
          const std::int32_t v = of.head(i);
          if (row_.distances[v] != kFar) continue;
          reach(v, through, u);
          queue_.push_back(v);
        }
      };
      scan(rows_);
      if (transposed_) scan(*transposed_);
    }
  }

  void reach(std::int32_t v, double distance, std::int32_t from) {
    row_.distances[v] = distance;
    if (row_.predecessors) row_.predecessors[v] = from;
    if (row_.origins) row_.origins[v] = row_.origins[from];
  }

  void poll() {
    if (++steps_ % 1024 == 0) monitor_.poll();
  }

  const StoredRows<Offset, Id>& rows_;
  const StoredRows<Offset, Id>* const transposed_;
  const double limit_;
  const std::int32_t none_;
  Monitor& monitor_;
  StoredRowsAnswer row_;
  QuadHeap<std::int32_t, double> heap_;
  std::vector<std::int32_t> queue_;
  std::uint64_t steps_ = 0;
};

}  // namespace

// Non-negative numbers are ordered as their bits are; negative ones, and NaN with a sign, have the
// highest bit. So have differences from the largest length that is allowed, where that is exceeded.
// The loop has integer operations alone, which every vector unit has.
bool are_simple_lengths(const double* lengths, std::int64_t count, std::int64_t n, bool unit) {
  constexpr std::uint64_t kHighest = std::uint64_t{1} << 63;
  constexpr std::int64_t kBlock = 4096;
  const double longest = std::numeric_limits<double>::max() / static_cast<double>(n + 1);
  const std::uint64_t most = unit ? kHighest - 1 : std::bit_cast<std::uint64_t>(longest);
  for (std::int64_t begin = 0; begin < count; begin += kBlock) {
    const std::int64_t end = std::min(begin + kBlock, count);
    std::uint64_t odd = 0;
    for (std::int64_t i = begin; i < end; ++i) {
      const auto bits = std::bit_cast<std::uint64_t>(lengths[i]);
      odd |= bits | (most - bits);
    }
    if (odd & kHighest) return false;
  }
  return true;
}

template <class Offset, class Id>
void search_stored_rows(const StoredRows<Offset, Id>& rows,
                        const StoredRows<Offset, Id>* transposed, const StoredRowsRequest& request,
                        const StoredRowsAnswer& answer, Monitor& monitor) {
  Search<Offset, Id> search(rows, transposed, request.limit, answer.none, monitor);
  if (request.nearest) {
    search.run(request.sources, request.count, request.unit, answer);
    return;
  }
  StoredRowsAnswer row = answer;
  for (std::int64_t i = 0; i < request.count; ++i) {
    search.run(request.sources + i, 1, request.unit, row);
    row.distances += rows.n;
    if (row.predecessors) row.predecessors += rows.n;
  }
}

#define KLEENE_STORED_ROWS(Offset, Id)                                                           \
  template void search_stored_rows(const StoredRows<Offset, Id>&, const StoredRows<Offset, Id>*, \
                                   const StoredRowsRequest&, const StoredRowsAnswer&, Monitor&);
KLEENE_STORED_ROWS(std::int32_t, std::int32_t)
KLEENE_STORED_ROWS(std::int64_t, std::int32_t)
KLEENE_STORED_ROWS(std::int64_t, std::int64_t)

}  // namespace kleene::sssp
