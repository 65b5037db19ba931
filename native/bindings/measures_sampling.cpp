#include "arrays.hpp"
#include "measures/kadabra.hpp"
#include "measures/shortest_path_arcs.hpp"

namespace kleene::bindings {
namespace {

// Adds to `counts` what random shortest paths pass. Returns how many were taken and None, or an arc
// (tail, head) of a cycle of length zero.
nb::object sample_paths(const Offsets& offsets, const AnyArray& neighbors,
                        const OptionalArray& weights, const Offsets& incoming_offsets,
                        const AnyArray& incoming_neighbors, const OptionalArray& incoming_weights,
                        bool endpoints, bool arcs, bool undirected, std::uint64_t seed,
                        std::int64_t first, const Array<std::int64_t>& ends, const AnyInput& limits,
                        const OptionalArray& class_of, const AnyOutput& counts, int threads,
                        const nb::object& progress) {
  require_arcs(incoming_offsets, incoming_neighbors, incoming_weights);
  const auto stops = static_cast<std::int64_t>(ends.size());
  measures::StopLimits stop{ends.data(), stops, nullptr, 0, data_of<std::int64_t>(class_of)};
  if (class_of) {
    if (limits.dtype() != nb::dtype<std::int64_t>()) raise_wrong_type();
    stop.limits = static_cast<const std::int64_t*>(limits.data());
    stop.classes = static_cast<std::int64_t>(limits.size()) / stops;
  }
  return with_arcs(
      offsets, neighbors, weights, [&]<class Id, class Weight>(const Arcs<Id, Weight>& outgoing) {
        Arcs<Id, Weight> incoming{outgoing.n, incoming_offsets.data(),
                                  data_of<Id>(incoming_neighbors)};
        if constexpr (graph::kWeighted<Weight>)
          incoming.weights = data_of<Weight>(incoming_weights);
        const measures::PathSampling<Id, Weight> sampling{outgoing, incoming,   endpoints,
                                                          arcs,     undirected, seed};
        auto* const out = data_of<std::int64_t>(counts);
        PythonMonitor monitor(progress, ends.data()[stops - 1]);
        std::int64_t taken = 0;
        std::optional<measures::CycleOfLengthZero> cycle;
        {
          const GilRelease release;
          try {
            taken = measures::sample_paths(sampling, first, stop, out, threads, monitor);
            monitor.finish();
          } catch (const measures::CycleOfLengthZero& found) {
            cycle = found;
          }
        }
        if (!cycle) return nb::object(nb::make_tuple(taken, nb::none()));
        return nb::object(nb::make_tuple(taken, nb::make_tuple(cycle->tail, cycle->head)));
      });
}

}  // namespace

void bind_measures_sampling(nb::module_& m) {
  m.def("sample_paths", &sample_paths, nb::arg("offsets"), nb::arg("neighbors"),
        nb::arg("weights").none(), nb::arg("incoming_offsets"), nb::arg("incoming_neighbors"),
        nb::arg("incoming_weights").none(), nb::arg("endpoints"), nb::arg("arcs"),
        nb::arg("undirected"), nb::arg("seed"), nb::arg("first"), nb::arg("ends"),
        nb::arg("limits"), nb::arg("class_of").none(), nb::arg("counts"), nb::arg("threads"),
        nb::arg("progress").none());
}

}  // namespace kleene::bindings
