#include "sssp_dijkstra.hpp"

#include "sssp_rows.hpp"

namespace kleene {

template <class Id, class Value>
void sssp_dijkstra(const SsspProblem<Id, Value>& problem, const SsspRows<Id, Value>& rows,
                   int threads, Monitor& monitor) {
  std::vector<Dijkstra<Id, Value>> searches(static_cast<std::size_t>(threads));
  search_side_by_side(problem, rows, all_places(rows), threads, monitor,
                      [&](const SsspProblem<Id, Value>& own, Row<Id, Value> row, int thread) {
                        return searches[thread].search(own, row, Watch(monitor, thread));
                      });
}

KLEENE_SSSP_METHOD(sssp_dijkstra);

}  // namespace kleene
