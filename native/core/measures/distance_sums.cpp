#include "measures/distance_sums.hpp"

#include <mutex>

#include "bfs/multi_source.hpp"

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

}  // namespace kleene::measures
