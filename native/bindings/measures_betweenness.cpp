// Betweenness: exact, by hops and by lengths, and estimated by sampled paths.
#include <algorithm>
#include <limits>
#include <vector>

#include "arrays.hpp"
#include "measures/betweenness.hpp"
#include "measures/shortest_path_arcs.hpp"

namespace kleene::bindings {
namespace {

// ---- by hops ------------------------------------------------------------------------------------

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

// ---- by lengths ---------------------------------------------------------------------------------

// Adds to the sums of vertices and arcs. Returns None, or an arc (tail, head) of a cycle of length
// zero.
nb::object weighted_brandes(const Offsets& offsets, const AnyArray& neighbors,
                            const AnyArray& lengths, const AnyArray& sources,
                            const std::optional<Array<std::uint8_t>>& is_target,
                            const nb::object& limit, bool endpoints,
                            MutableArray<double> vertex_sums,
                            const std::optional<MutableArray<double>>& arc_sums, int threads,
                            const nb::object& progress, int level) {
  require_arcs(offsets, neighbors, lengths, arc_sums);
  const auto n = static_cast<std::int64_t>(offsets.size()) - 1;
  return with_id_type(neighbors, [&]<class Id>(Type<Id>) {
    return with_type<std::int32_t, std::int64_t, double>(
        lengths.dtype(), [&]<class Value>(Type<Value>) -> nb::object {
          const measures::WeightedPaths<Id, Value> paths{
              {n, offsets.data(), data_of<Id>(neighbors), data_of<Value>(lengths)},
              data_of<Id>(sources),
              static_cast<std::int64_t>(sources.size()),
              nb::cast<Value>(limit),
              level};
          const measures::PathSums sums{vertex_sums.data(), arc_sums ? arc_sums->data() : nullptr,
                                        is_target ? is_target->data() : nullptr, endpoints};
          PythonMonitor monitor(progress, paths.count);
          std::optional<measures::CycleOfLengthZero> cycle;
          {
            const GilRelease release;
            try {
              measures::weighted_brandes(paths, sums, threads, monitor);
              monitor.finish();
            } catch (const measures::CycleOfLengthZero& found) {
              cycle = found;
            }
          }
          if (!cycle) return nb::none();
          return nb::make_tuple(cycle->tail, cycle->head);
        });
  });
}

// ---- by sampled paths ---------------------------------------------------------------------------

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

void bind_measures_betweenness(nb::module_& m) {
  m.def("betweenness_by_lanes", &by_lanes, nb::arg("offsets"), nb::arg("neighbors"),
        nb::arg("incoming_offsets"), nb::arg("incoming_neighbors"), nb::arg("sources"),
        nb::arg("source_weights"), nb::arg("target_weights"), nb::arg("limit").none(),
        nb::arg("endpoints"), nb::arg("through"), nb::arg("along").none(), nb::arg("lanes"),
        nb::arg("threads"), nb::arg("level"), nb::arg("progress").none());
  m.def("fold_trees", &fold, nb::arg("offsets"), nb::arg("neighbors"), nb::arg("endpoints"),
        nb::arg("through"), nb::arg("along").none());
  m.def("weighted_brandes", &weighted_brandes, nb::arg("offsets"), nb::arg("neighbors"),
        nb::arg("lengths"), nb::arg("sources"), nb::arg("is_target").none(), nb::arg("limit"),
        nb::arg("endpoints"), nb::arg("vertex_sums").noconvert(),
        nb::arg("arc_sums").noconvert().none(), nb::arg("threads"), nb::arg("progress").none(),
        nb::arg("level") = -1);
  m.def("sample_paths", &sample_paths, nb::arg("offsets"), nb::arg("neighbors"),
        nb::arg("weights").none(), nb::arg("incoming_offsets"), nb::arg("incoming_neighbors"),
        nb::arg("incoming_weights").none(), nb::arg("endpoints"), nb::arg("arcs"),
        nb::arg("undirected"), nb::arg("seed"), nb::arg("first"), nb::arg("ends"),
        nb::arg("limits"), nb::arg("class_of").none(), nb::arg("counts"), nb::arg("threads"),
        nb::arg("progress").none());
}

}  // namespace kleene::bindings
