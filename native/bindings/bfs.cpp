#include "bfs.hpp"

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
      {"spmv", &bfs_spmv<Id>},
      {"edge", &bfs_edge<Id>},
      {"vertex_push", &bfs_vertex_push<Id>},
      {"vertex_pull", &bfs_vertex_pull<Id>},
      {"frontier", &bfs_frontier<Id>},
      {"privatized", &bfs_privatized<Id>},
      {"direction_optimizing", &bfs_direction_optimizing<Id>},
  };
  return kSearches.at(method);
}

// Fills one row per source. Many sources are shared out among the threads; a few are taken one
// after another, by all threads.
template <class Id>
void search_rows(BfsSearch<Id> search, const BfsProblem<Id>& problem, const Id* sources,
                 std::int64_t count, Row<Id, Id> rows, Id* horizons, int threads,
                 Monitor& monitor) {
  const std::int64_t n = problem.out.n;
  const bool shared = count >= 2 * threads;
  const int each = shared ? 1 : threads;
  parallel_each(count, shared ? threads : 1, monitor, [&](std::int64_t i, Monitor& own) {
    BfsProblem<Id> from = problem;
    from.source = sources[i];
    const Row<Id, Id> row{rows.values + i * n, rows.parents ? rows.parents + i * n : nullptr};
    parallel_fill(row.values, n, Id{-1}, each, own);
    if (row.parents) parallel_fill(row.parents, n, Id{-1}, each, own);
    horizons[i] = search(from, row, each, own);
  });
}

template <class Id>
using Optional = std::optional<Array<Id>>;

// Arrays are the caller's: values and parents have (sources, n) entries and are filled here.
template <class Id>
void bind(nb::module_& m) {
  m.def(
      "bfs",
      [](const std::string& method, const Array<std::int64_t>& offsets, const Array<Id>& neighbors,
         const Optional<std::int64_t>& in_offsets, const Optional<Id>& in_neighbors,
         const Optional<Id>& tails, const Array<Id>& sources, const Optional<Id>& targets, Id limit,
         Id no_path, MutableArray<Id> values, std::optional<MutableArray<Id>> parents,
         MutableArray<Id> horizons, int threads, const nb::object& progress) {
        const auto n = static_cast<std::int64_t>(offsets.size()) - 1;
        const auto count = static_cast<std::int64_t>(sources.size());
        BfsProblem<Id> problem{{n, offsets.data(), neighbors.data()}, {}};
        if (in_offsets) problem.into = {n, in_offsets->data(), in_neighbors->data()};
        if (tails) problem.tails = tails->data();
        problem.stop.limit = limit;
        if (targets) {
          problem.stop.targets = targets->data();
          problem.stop.target_count = static_cast<std::int64_t>(targets->size());
        }
        const Row<Id, Id> rows{values.data(), parents ? parents->data() : nullptr};
        PythonMonitor monitor(progress, count);
        const nb::gil_scoped_release release;
        if (method == "multi_source") {
          bfs_multi_source(problem, sources.data(), count, rows, horizons.data(), no_path, threads,
                           monitor);
        } else {
          search_rows(find_search<Id>(method), problem, sources.data(), count, rows,
                      horizons.data(), threads, monitor);
        }
        monitor.finish();
      },
      nb::arg("method"), nb::arg("offsets"), nb::arg("neighbors"), nb::arg("in_offsets").none(),
      nb::arg("in_neighbors").none(), nb::arg("tails").none(), nb::arg("sources"),
      nb::arg("targets").none(), nb::arg("limit"), nb::arg("no_path"), nb::arg("values"),
      nb::arg("parents").none(), nb::arg("horizons"), nb::arg("threads"),
      nb::arg("progress").none());
}

// Fills `order` and `parents`, n entries each; returns how many vertices are reached.
std::int64_t order(const Array<std::int64_t>& offsets, const Array<std::int32_t>& neighbors,
                   const Optional<std::int64_t>& also_offsets,
                   const Optional<std::int32_t>& also_neighbors, std::int32_t source,
                   MutableArray<std::int32_t> order, MutableArray<std::int32_t> parents) {
  const auto n = static_cast<std::int64_t>(offsets.size()) - 1;
  const Arcs<std::int32_t> arcs{n, offsets.data(), neighbors.data()};
  Arcs<std::int32_t> also;
  if (also_offsets) also = {n, also_offsets->data(), also_neighbors->data()};
  PythonMonitor monitor(nb::none(), n);
  const nb::gil_scoped_release release;
  return bfs_order(arcs, also_offsets ? &also : nullptr, source, order.data(), parents.data(),
                   monitor);
}

}  // namespace

void bind_bfs(nb::module_& m) {
  bind<std::int32_t>(m);
  bind<std::int64_t>(m);
  m.def("bfs_order", &order, nb::arg("offsets"), nb::arg("neighbors"),
        nb::arg("also_offsets").none(), nb::arg("also_neighbors").none(), nb::arg("source"),
        nb::arg("order"), nb::arg("parents"));
}

}  // namespace kleene
