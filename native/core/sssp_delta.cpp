#include "sssp_delta.hpp"

#include "sssp_rows.hpp"

namespace kleene {

template <class Id, class Value>
double delta_width(const Arcs<Id>& arcs, const Value* lengths) {
  if (const char* w = std::getenv("DELTA")) return atof(w);
  constexpr std::int64_t kSample = 1024;
  const std::int64_t m = arcs.count();
  const std::int64_t step = std::max<std::int64_t>(1, m / kSample);
  double sum = 0;
  std::int64_t count = 0;
  for (std::int64_t i = 0; i < m; i += step, ++count) sum += static_cast<double>(lengths[i]);
  const double degree = static_cast<double>(m) / static_cast<double>(arcs.n);
  const double width = sum / static_cast<double>(std::max<std::int64_t>(count, 1)) / degree;
  return width > 0 ? width : 1;
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
    search_one_by_one(problem, rows, monitor,
                      [&](const SsspProblem<Id, Value>& own, Row<Id, Value> row, int) {
                        return search.search(own, row, Watch(monitor, 0), monitor);
                      });
  }
}

KLEENE_SSSP_METHOD(sssp_delta_stepping);

}  // namespace kleene
