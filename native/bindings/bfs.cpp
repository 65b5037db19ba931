#include "bfs/bfs.hpp"

#include "arrays.hpp"

namespace kleene::bindings {
namespace {

template <class Id>
bfs::SearchAll<Id>* find_method(std::string_view name) {
  for (const auto& method : bfs::methods<Id>()) {
    if (name == method.traits.name) return method.search_all;
  }
  throw nb::key_error(std::string(name).c_str());
}

// Fills (sources, n) distances and predecessors, and the horizons, in the caller's arrays.
void search(std::string_view method, const Offsets& offsets, const AnyArray& neighbors,
            const std::optional<Offsets>& incoming_offsets, const OptionalArray& incoming_neighbors,
            const OptionalArray& tails, const AnyArray& sources, const OptionalArray& targets,
            const nb::object& limit, const nb::object& no_path, const AnyOutput& distances,
            const OptionalOutput& predecessors, const AnyOutput& horizons, int threads,
            const nb::object& progress) {
  require_arcs(offsets, neighbors, tails);
  if (incoming_offsets) require_arcs(*incoming_offsets, incoming_neighbors);
  with_id_type(neighbors, [&]<class Id>(Type<Id>) {
    const auto n = static_cast<std::int64_t>(offsets.size()) - 1;
    bfs::Problem<Id> problem;
    problem.outgoing = {n, offsets.data(), data_of<Id>(neighbors)};
    if (incoming_offsets) {
      problem.incoming = {n, incoming_offsets->data(), data_of<Id>(incoming_neighbors)};
    }
    problem.tails = data_of<Id>(tails);
    problem.stop = {nb::cast<Id>(limit), data_of<Id>(targets),
                    targets ? static_cast<std::int64_t>(targets->size()) : 0};
    const graph::ResultRows<Id, Id> rows{
        data_of<Id>(sources), static_cast<std::int64_t>(sources.size()), data_of<Id>(distances),
        data_of<Id>(predecessors), data_of<Id>(horizons)};
    bfs::SearchAll<Id>* const search_all = find_method<Id>(method);
    const Id unreached = nb::cast<Id>(no_path);
    PythonMonitor monitor(progress, rows.count);
    const GilRelease release;
    search_all(problem, rows, unreached, threads, monitor);
    monitor.finish();
  });
}

// (depth, a vertex of the last level, vertices reached).
nb::object eccentricity(const Offsets& offsets, const AnyArray& neighbors, std::int64_t source) {
  const auto n = static_cast<std::int64_t>(offsets.size()) - 1;
  PythonMonitor monitor(nb::none(), n);
  require_arcs(offsets, neighbors);
  return with_id_type(neighbors, [&]<class Id>(Type<Id>) {
    const Arcs<Id> arcs{n, offsets.data(), data_of<Id>(neighbors)};
    bfs::Eccentricity found;
    {
      const GilRelease release;
      found = bfs::eccentricity(arcs, static_cast<Id>(source), monitor);
    }
    return nb::object(nb::make_tuple(found.depth, found.farthest, found.reached));
  });
}

}  // namespace

void bind_bfs(nb::module_& m) {
  m.def("bfs", &search, nb::arg("method"), nb::arg("offsets"), nb::arg("neighbors"),
        nb::arg("incoming_offsets").none(), nb::arg("incoming_neighbors").none(),
        nb::arg("tails").none(), nb::arg("sources"), nb::arg("targets").none(), nb::arg("limit"),
        nb::arg("no_path"), nb::arg("distances"), nb::arg("predecessors").none(),
        nb::arg("horizons"), nb::arg("threads"), nb::arg("progress").none());
  m.def("bfs_eccentricity", &eccentricity, nb::arg("offsets"), nb::arg("neighbors"),
        nb::arg("source"));
}

}  // namespace kleene::bindings
