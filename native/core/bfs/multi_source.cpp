// Rows of distances, and of predecessors, by many searches at once (multi_source.hpp).
#include "bfs/multi_source.hpp"

namespace kleene::bfs {
namespace {

// Writes every arrival to the row of its search.
template <class Id>
class RowArrivals {
 public:
  RowArrivals(const ResultRows<Id, Id>& rows, std::int64_t n, Id no_path)
      : rows_(rows), n_(n), no_path_(no_path) {}

  void begin(std::int64_t first, int search, Id source) {
    if (search == 0) batch_ = rows_.at(first, n_);
    const std::int64_t row = search * n_;
    std::fill_n(batch_.distances + row, n_, no_path_);
    if (batch_.predecessors) std::fill_n(batch_.predecessors + row, n_, kNoPredecessor<Id>);
    batch_.distances[row + source] = 0;
  }

  template <class Set>
  void enter(const Set& gained, Id v, Id u, Id depth) {
    const ResultRow<Id, Id> rows = batch_;  // a copy, which no store can change
    gained.for_each([=, n = n_](int search) {
      const std::int64_t at = search * n + v;
      rows.distances[at] = depth;
      if (rows.predecessors) rows.predecessors[at] = u;
    });
  }

  template <class Vertices, class Sets>
  void end_level(const Vertices&, const Sets&, Id) {}

  bool links() const { return rows_.predecessors != nullptr; }

 private:
  const ResultRows<Id, Id>& rows_;
  const std::int64_t n_;
  const Id no_path_;
  ResultRow<Id, Id> batch_;  // its rows follow one another in memory
};

}  // namespace

template <class Id>
void multi_source(const Problem<Id>& problem, const ResultRows<Id, Id>& rows, Id no_path,
                  int threads, Monitor& monitor) {
  using Arrivals = RowArrivals<Id>;
  const auto make = [&] { return Arrivals(rows, problem.outgoing.n, no_path); };
  const auto finish = [&](Arrivals&, std::int64_t first, int count, Id horizon) {
    std::fill_n(rows.horizons + first, count, horizon);
  };
  with_batch_width(rows.count, threads, [&]<int kWords>() {
    run_batches<Id, kWords>(problem, rows.sources, rows.count, threads, monitor, make, finish,
                            [](Arrivals&) {});
  });
}

template void multi_source(const Problem<std::int32_t>&,
                           const ResultRows<std::int32_t, std::int32_t>&, std::int32_t, int,
                           Monitor&);
template void multi_source(const Problem<std::int64_t>&,
                           const ResultRows<std::int64_t, std::int64_t>&, std::int64_t, int,
                           Monitor&);

}  // namespace kleene::bfs
