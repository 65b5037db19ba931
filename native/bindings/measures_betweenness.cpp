#include <algorithm>
#include <limits>
#include <vector>

#include "arrays.hpp"
#include "measures/betweenness.hpp"

namespace kleene::bindings {
namespace {

// Adds to `through`, of each vertex, and to `along`, of each arc.
void by_lanes(const Offsets& offsets, const AnyArray& neighbors, const Offsets& incoming_offsets,
              const AnyArray& incoming_neighbors, const AnyArray& sources,
              const Array<double>& source_weights, const Array<double>& target_weights,
              std::optional<std::int64_t> limit, bool endpoints,
              const MutableArray<double>& through, const std::optional<MutableArray<double>>& along,
              int lanes, int threads, int level, const nb::object& progress) {
  require_arcs(offsets, neighbors);
  require_arcs(incoming_offsets, incoming_neighbors);
  const auto n = static_cast<std::int64_t>(offsets.size()) - 1;
  const measures::BetweennessProblem problem{
      {n, offsets.data(), data_of<std::int32_t>(neighbors)},
      {n, incoming_offsets.data(), data_of<std::int32_t>(incoming_neighbors)},
      data_of<std::int32_t>(sources),
      static_cast<std::int64_t>(sources.size()),
      source_weights.data(),
      target_weights.data(),
      limit.value_or(std::numeric_limits<std::int64_t>::max()),
      endpoints};
  const measures::BetweennessSums sums{through.data(), along ? along->data() : nullptr};
  PythonMonitor monitor(progress, problem.source_count);
  const GilRelease release;
  measures::betweenness_by_lanes(problem, sums, lanes, threads, level, monitor);
  monitor.finish();
}

template <class T>
nb::object copied(const std::vector<T>& values) {
  Buffer<T> buffer(static_cast<std::int64_t>(values.size()));
  std::copy(values.begin(), values.end(), buffer.data());
  return to_numpy(std::move(buffer));
}

// Adds the sums of trees; returns (vertices, weights, offsets, neighbors, arcs) of the core.
nb::object fold(const Offsets& offsets, const AnyArray& neighbors, bool endpoints,
                const MutableArray<double>& through,
                const std::optional<MutableArray<double>>& along) {
  require_arcs(offsets, neighbors);
  const auto n = static_cast<std::int64_t>(offsets.size()) - 1;
  const Arcs<std::int32_t> arcs{n, offsets.data(), data_of<std::int32_t>(neighbors)};
  const measures::BetweennessSums sums{through.data(), along ? along->data() : nullptr};
  measures::Core core;
  {
    const GilRelease release;
    core = measures::fold_trees(arcs, endpoints, sums);
  }
  return nb::make_tuple(copied(core.vertices), copied(core.weights), copied(core.offsets),
                        copied(core.neighbors), copied(core.arcs));
}

}  // namespace

void bind_measures_betweenness(nb::module_& m) {
  m.def("betweenness_by_lanes", &by_lanes, nb::arg("offsets"), nb::arg("neighbors"),
        nb::arg("incoming_offsets"), nb::arg("incoming_neighbors"), nb::arg("sources"),
        nb::arg("source_weights"), nb::arg("target_weights"), nb::arg("limit").none(),
        nb::arg("endpoints"), nb::arg("through"), nb::arg("along").none(), nb::arg("lanes"),
        nb::arg("threads"), nb::arg("level"), nb::arg("progress").none());
  m.def("fold_trees", &fold, nb::arg("offsets"), nb::arg("neighbors"), nb::arg("endpoints"),
        nb::arg("through"), nb::arg("along").none());
}

}  // namespace kleene::bindings
