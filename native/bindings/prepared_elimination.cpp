// From a graph to its elimination, and whether arrays of a file are one.
#include "arrays.hpp"
#include "prepared/elimination/eliminate.hpp"

namespace kleene::bindings {
namespace {

// ---- steps --------------------------------------------------------------------------------------

using Ids = Array<std::int32_t>;

Arcs<std::int32_t> arcs_of(const Offsets& offsets, const Ids& neighbors) {
  require_arcs(offsets, neighbors);
  return {static_cast<std::int64_t>(offsets.size()) - 1, offsets.data(), neighbors.data()};
}

// Raises unless there is one entry per vertex.
void require_vertices(std::int64_t n, const Ids& array) {
  if (static_cast<std::int64_t>(array.size()) != n) raise_wrong_type();
}

template <class Work>
auto without_gil(Work&& work) {
  const GilRelease release;
  return work();
}

nb::object reduce(const Offsets& offsets, const Ids& neighbors) {
  PythonMonitor monitor(nb::none(), 0);
  const Arcs<std::int32_t> arcs = arcs_of(offsets, neighbors);
  prepared::Reduction reduction = without_gil([&] { return prepared::reduce(arcs, monitor); });
  return nb::make_tuple(reduction.eliminated, to_numpy(std::move(reduction.order)),
                        to_numpy(std::move(reduction.offsets)),
                        to_numpy(std::move(reduction.neighbors)));
}

nb::object sample(const Offsets& offsets, const Ids& neighbors, std::int32_t source,
                  std::int64_t most_vertices, std::int64_t most_arcs) {
  PythonMonitor monitor(nb::none(), 0);
  const Arcs<std::int32_t> arcs = arcs_of(offsets, neighbors);
  prepared::Sample piece = without_gil(
      [&] { return prepared::sample(arcs, source, most_vertices, most_arcs, monitor); });
  return nb::make_tuple(to_numpy(std::move(piece.offsets)), to_numpy(std::move(piece.neighbors)),
                        piece.boundary);
}

nb::object count_pairs(const Offsets& offsets, const Ids& neighbors, const Ids& order) {
  PythonMonitor monitor(nb::none(), 0);
  const Arcs<std::int32_t> arcs = arcs_of(offsets, neighbors);
  require_vertices(arcs.n, order);
  prepared::Tree tree =
      without_gil([&] { return prepared::count_pairs(arcs, order.data(), monitor); });
  return nb::make_tuple(to_numpy(std::move(tree.order)), to_numpy(std::move(tree.ranks)),
                        to_numpy(std::move(tree.parents)), to_numpy(std::move(tree.offsets)));
}

nb::object join_pairs(const Offsets& offsets, const Ids& neighbors, const Ids& order,
                      const Ids& ranks, const Ids& parents, const Offsets& pair_offsets) {
  PythonMonitor monitor(nb::none(), 0);
  const Arcs<std::int32_t> arcs = arcs_of(offsets, neighbors);
  for (const Ids* array : {&order, &ranks, &parents}) require_vertices(arcs.n, *array);
  if (pair_offsets.size() != offsets.size()) raise_wrong_type();
  return to_numpy(without_gil([&] {
    return prepared::join_pairs(arcs, order.data(), ranks.data(), parents.data(),
                                pair_offsets.data(), monitor);
  }));
}

nb::object depths(const Ids& parents) {
  return to_numpy(prepared::depths(static_cast<std::int64_t>(parents.size()), parents.data()));
}

nb::object subtree_sizes(const Ids& parents) {
  const auto n = static_cast<std::int64_t>(parents.size());
  return to_numpy(prepared::subtree_sizes(n, parents.data()));
}

// ---- files --------------------------------------------------------------------------------------

using Ranks = Array<std::int32_t>;

nb::object check_elimination(const Ranks& order, const Ranks& ranks, const Ranks& parents,
                             const Offsets& offsets, const Ranks& heads,
                             const Offsets& graph_offsets, const AnyArray& neighbors, int threads) {
  static constexpr const char* kNames[] = {"",        "order", "offsets",   "heads",
                                           "parents", "fill",  "postorder", "arcs"};
  require_arcs(graph_offsets, neighbors);
  const std::size_t n = graph_offsets.size() - 1;
  if (order.size() != n || ranks.size() != n || parents.size() != n || offsets.size() != n + 1) {
    raise_wrong_type();
  }
  const auto count = static_cast<std::int64_t>(n);
  const Arcs<std::int32_t> graph{count, graph_offsets.data(), data_of<std::int32_t>(neighbors)};
  const prepared::Elimination elimination{count, offsets.data(), heads.data(), parents.data()};
  PythonMonitor monitor(nb::none(), 0);
  prepared::Finding finding{};
  {
    const GilRelease release;
    finding = prepared::check_elimination(elimination, order.data(), ranks.data(),
                                          static_cast<std::int64_t>(heads.size()), graph, threads,
                                          monitor);
  }
  if (finding.fault == prepared::Fault::kNone) return nb::none();
  return nb::make_tuple(kNames[static_cast<int>(finding.fault)], finding.rank);
}

}  // namespace

void bind_prepared_elimination(nb::module_& m) {
  m.def("prepared_reduce", &reduce, nb::arg("offsets"), nb::arg("neighbors"));
  m.def("prepared_sample", &sample, nb::arg("offsets"), nb::arg("neighbors"), nb::arg("source"),
        nb::arg("most_vertices"), nb::arg("most_arcs"));
  m.def("prepared_count_pairs", &count_pairs, nb::arg("offsets"), nb::arg("neighbors"),
        nb::arg("order"));
  m.def("prepared_join_pairs", &join_pairs, nb::arg("offsets"), nb::arg("neighbors"),
        nb::arg("order"), nb::arg("ranks"), nb::arg("parents"), nb::arg("pair_offsets"));
  m.def("prepared_depths", &depths, nb::arg("parents"));
  m.def("prepared_subtree_sizes", &subtree_sizes, nb::arg("parents"));
  m.def("prepared_check_elimination", &check_elimination, nb::arg("order"), nb::arg("ranks"),
        nb::arg("parents"), nb::arg("offsets"), nb::arg("heads"), nb::arg("graph_offsets"),
        nb::arg("neighbors"), nb::arg("threads"));
}

}  // namespace kleene::bindings
