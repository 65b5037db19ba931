#include "bfs.hpp"

#include <functional>
#include <unordered_map>

#include "arrays.hpp"
#include "parallel.hpp"

namespace kleene {
namespace {

template <class Id>
using BfsSearch = Id (*)(const BfsProblem<Id>&, Row<Id, Id>, int, Monitor&);

template <class Id>
BfsSearch<Id> find_search(const std::string& method) {
  static const std::unordered_map<std::string, BfsSearch<Id>> kSearches = {
      {"queue", &bfs_queue<Id>},
  };
  return kSearches.at(method);
}

// Fills one row per source. Arrays are the caller's: values and parents have (sources, n) entries.
template <class Id>
void search_rows(const std::string& method, BfsProblem<Id> problem, const Array<Id>& sources,
                 MutableArray<Id>& values, std::optional<MutableArray<Id>>& parents,
                 MutableArray<Id>& horizons, int threads, const nb::object& progress) {
  const BfsSearch<Id> search = find_search<Id>(method);
  const auto rows = static_cast<std::int64_t>(sources.size());
  PythonMonitor monitor(progress, rows);
  const nb::gil_scoped_release release;
  for (std::int64_t i = 0; i < rows; ++i) {
    const std::int64_t at = i * problem.out.n;
    problem.source = sources.data()[i];
    const Row<Id, Id> row{values.data() + at, parents ? parents->data() + at : nullptr};
    horizons.data()[i] = search(problem, row, threads, monitor);
    monitor.advance(1);
    monitor.poll();
  }
  monitor.finish();
}

template <class Id>
void bind(nb::module_& m) {
  m.def(
      "bfs",
      [](const std::string& method, const Array<std::int64_t>& offsets, const Array<Id>& neighbors,
         const std::optional<Array<std::int64_t>>& in_offsets,
         const std::optional<Array<Id>>& in_neighbors, const Array<Id>& sources,
         const std::optional<Array<Id>>& targets, std::int64_t limit, MutableArray<Id> values,
         std::optional<MutableArray<Id>> parents, MutableArray<Id> horizons, int threads,
         const nb::object& progress) {
        const auto n = static_cast<std::int64_t>(offsets.size()) - 1;
        BfsProblem<Id> problem{{n, offsets.data(), neighbors.data()}, {}};
        if (in_offsets) problem.into = {n, in_offsets->data(), in_neighbors->data()};
        problem.stop.limit = static_cast<Id>(limit);
        if (targets) {
          problem.stop.targets = targets->data();
          problem.stop.target_count = static_cast<std::int64_t>(targets->size());
        }
        search_rows<Id>(method, problem, sources, values, parents, horizons, threads, progress);
      },
      nb::arg("method"), nb::arg("offsets"), nb::arg("neighbors"), nb::arg("in_offsets").none(),
      nb::arg("in_neighbors").none(), nb::arg("sources"), nb::arg("targets").none(),
      nb::arg("limit"), nb::arg("values"), nb::arg("parents").none(), nb::arg("horizons"),
      nb::arg("threads"), nb::arg("progress").none());
}

}  // namespace

void bind_bfs(nb::module_& m) {
  bind<std::int32_t>(m);
  bind<std::int64_t>(m);
}

}  // namespace kleene
