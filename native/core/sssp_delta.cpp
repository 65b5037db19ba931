#include "sssp_delta.hpp"

#include "sssp_rows.hpp"

namespace kleene {

// Wider buckets mean fewer meetings of threads, narrower ones fewer vertices relaxed too early. The
// more arcs a vertex has, the more a wrong distance costs and the fewer buckets there are anyway.
// 16 x mean length / degree^2 was among the best powers of two on R-MAT and uniform graphs of 2^20
// vertices (degree 30: 1 to 8 are alike), a 2048 x 2048 grid (64 to 128) and the highways of the
// world (4 to 16 km); one Sapphire Rapids core, while other work was running.
template <class Id, class Value>
double delta_width(const Arcs<Id>& arcs, const Value* lengths) {
  constexpr std::int64_t kSample = 1024;
  constexpr double kFactor = 16;
  const std::int64_t m = arcs.count();
  const std::int64_t step = std::max<std::int64_t>(1, m / kSample);
  double sum = 0;
  std::int64_t count = 0;
  for (std::int64_t i = 0; i < m; i += step, ++count) sum += static_cast<double>(lengths[i]);
  if (!(sum > 0)) return 1;
  const double mean = sum / static_cast<double>(count);
  const double degree = std::max(1.0, static_cast<double>(m) / static_cast<double>(arcs.n));
  return kFactor * mean / (degree * degree);
}

template <class Id, class Value>
void sssp_delta_stepping(const SsspProblem<Id, Value>& problem, const SsspRows<Id, Value>& rows,
                         int threads, Monitor& monitor) {
  using Search = DeltaStepping<Id, Value>;
  const double width = delta_width(problem.out, problem.lengths);
  if (rows.count >= threads) {
    std::vector<std::unique_ptr<Search>> searches(static_cast<std::size_t>(threads));
    search_side_by_side(problem, rows, threads, monitor,
                        [&](const SsspProblem<Id, Value>& own, Row<Id, Value> row, int thread) {
                          auto& search = searches[thread];
                          if (!search) search = std::make_unique<Search>(own, 1, width);
                          return search->search(own, row, Watch(monitor, thread), monitor);
                        });
  } else {
    Search search(problem, threads, width);
    search_one_by_one(problem, rows, threads, monitor,
                      [&](const SsspProblem<Id, Value>& own, Row<Id, Value> row) {
                        return search.search(own, row, Watch(monitor, 0), monitor);
                      });
  }
}

KLEENE_SSSP_METHOD(sssp_delta_stepping);

}  // namespace kleene
