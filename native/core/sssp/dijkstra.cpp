#include "sssp/dijkstra.hpp"

#include "sssp/sources.hpp"

namespace kleene::sssp {

template <class Id, class Value>
void dijkstra(const Problem<Id, Value>& problem, const ResultRows<Id, Value>& rows, int threads,
              Monitor& monitor) {
  std::vector<Dijkstra<Id, Value>> searches(static_cast<std::size_t>(threads));
  search_side_by_side(problem, rows, all_sources(rows), threads, monitor,
                      [&](const Problem<Id, Value>& own, ResultRow<Id, Value> row, int thread) {
                        return searches[thread].search(own, row, CancelCheck(monitor, thread));
                      });
}

KLEENE_SSSP_METHOD(dijkstra)

}  // namespace kleene::sssp
