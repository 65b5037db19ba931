// What goes along shortest paths: trips, numbers of paths, and flows that NetworkX divides.
#include <algorithm>
#include <vector>

#include "arrays.hpp"
#include "measures/divided_flow.hpp"
#include "measures/loads.hpp"
#include "measures/path_counts.hpp"
#include "measures/shortest_path_arcs.hpp"
#include "parallel/team.hpp"

namespace kleene::bindings {
namespace {

// ---- trips --------------------------------------------------------------------------------------

// Trips by root, in compressed rows; `limit` has the type of the distances, and one entry. `flows`,
// one per arc, are added to; `assigned`, one per trip, is filled. Returns None, or an arc (tail,
// head) of a cycle of length zero where trips are split.
nb::object loads(const Offsets& offsets, const AnyArray& neighbors, const OptionalArray& lengths,
                 const AnyArray& roots, const Offsets& trip_offsets, const AnyArray& ends,
                 const Array<double>& volumes, const AnyArray& limit, bool split,
                 const MutableArray<double>& flows, const MutableArray<std::uint8_t>& assigned,
                 int threads, const nb::object& progress) {
  require_arcs(offsets, neighbors, lengths, flows);
  require_arcs(trip_offsets, ends, volumes, assigned);
  if (trip_offsets.size() != roots.size() + 1) raise_wrong_type();
  std::optional<measures::CycleOfLengthZero> cycle;
  with_id_type(neighbors, [&]<class Id>(Type<Id>) {
    with_type<std::int32_t, std::int64_t, double>(limit.dtype(), [&]<class Value>(Type<Value>) {
      const auto n = static_cast<std::int64_t>(offsets.size()) - 1;
      const Arcs<Id> arcs{n, offsets.data(), data_of<Id>(neighbors)};
      const auto count = static_cast<std::int64_t>(roots.size());
      const measures::Trips<Id> trips{count, data_of<Id>(roots), trip_offsets.data(),
                                      data_of<Id>(ends), volumes.data()};
      const auto* own_lengths = data_of<Value>(lengths);
      const Value farthest = *data_of<Value>(limit);
      const measures::Loads found{flows.data(), assigned.data()};
      const auto load = split ? measures::split_loads<Id, Value> : measures::tree_loads<Id, Value>;
      PythonMonitor monitor(progress, count);
      const GilRelease release;
      try {
        load(arcs, own_lengths, trips, farthest, found, threads, monitor);
        monitor.finish();
      } catch (const measures::CycleOfLengthZero& on) {
        cycle = on;
      }
    });
  });
  if (!cycle) return nb::none();
  return nb::make_tuple(cycle->tail, cycle->head);
}

// ---- numbers of paths ---------------------------------------------------------------------------

// Words of the counts of all vertices, an array as long as n times the words of each; None if each
// has more than `most_words`. Or an arc (tail, head) of a cycle of length zero. Raises
// MemoryNeeded.
nb::object path_counts(const Offsets& offsets, const AnyArray& neighbors,
                       const OptionalArray& lengths, const AnyArray& distances,
                       const nb::object& no_path, std::int64_t source, std::int64_t most_words,
                       std::int64_t available) {
  require_arcs(offsets, neighbors, lengths);
  const auto n = static_cast<std::int64_t>(offsets.size()) - 1;
  return with_id_type(neighbors, [&]<class Id>(Type<Id>) {
    return with_type<std::int32_t, std::int64_t, double>(
        distances.dtype(), [&]<class Value>(Type<Value>) -> nb::object {
          const Arcs<Id> arcs{n, offsets.data(), data_of<Id>(neighbors)};
          const auto* own_lengths = data_of<Value>(lengths);
          const auto* values = data_of<Value>(distances);
          const auto unreached = nb::cast<Value>(no_path);
          PythonMonitor monitor(nb::none(), 0);
          Buffer<std::uint64_t> counts;
          std::int64_t words = 0;
          std::optional<measures::CycleOfLengthZero> cycle;
          {
            const GilRelease release;
            try {
              measures::PathCounts<Id> paths(arcs, own_lengths, values, unreached,
                                             static_cast<Id>(source),
                                             parallel::CancelCheck(monitor, 0));
              words = paths.words();
              if (words <= most_words && words <= available / 8 / n) {
                counts = Buffer<std::uint64_t>(n * words);
                std::fill_n(counts.data(), n * words, 0);
                paths.fill(words, counts.data(), parallel::CancelCheck(monitor, 0));
              }
            } catch (const measures::CycleOfLengthZero& found) {
              cycle = found;
            }
          }
          if (cycle) return nb::make_tuple(cycle->tail, cycle->head);
          if (words > most_words) return nb::none();
          if (words > available / 8 / n) raise_memory_needed(8 * n * words);
          return to_numpy(std::move(counts));
        });
  });
}

// ---- flows, divided by rules of NetworkX --------------------------------------------------------

measures::Division parse_division(std::string_view name) {
  if (name == "edge_load") return measures::Division::kEdgeLoad;
  if (name == "targets") return measures::Division::kTargets;
  return measures::Division::kLoad;
}

void add_all(const std::vector<double>& from, MutableArray<double>& to) {
  for (std::size_t i = 0; i < from.size(); ++i) to.data()[i] += from[i];
}

// Adds to the sums of the vertices and of the incoming arcs; one row of distances per source.
void divided_flow(const Offsets& offsets, const Array<std::int32_t>& tails,
                  const OptionalArray& weights, const AnyOutput& distances,
                  const nb::object& no_path, const Array<std::int32_t>& sources,
                  const Array<std::uint8_t>& is_target, std::string_view division,
                  MutableArray<double> vertex_sums, MutableArray<double> arc_sums, int threads) {
  require_arcs(offsets, tails, weights, arc_sums);
  const auto n = static_cast<std::int64_t>(offsets.size()) - 1;
  const auto rows = static_cast<std::int64_t>(sources.size());
  const measures::Division rule = parse_division(division);
  const auto run = [&]<class Weight, class Distance>(Type<Weight>, Type<Distance>) {
    const auto* lengths = weights ? static_cast<const Weight*>(weights->data()) : nullptr;
    const Arcs<std::int32_t, Weight> incoming{n, offsets.data(), tails.data(), lengths};
    const auto* values = static_cast<const Distance*>(distances.data());
    const measures::FlowDivision<Weight, Distance> flow(incoming, rule, is_target.data(),
                                                        nb::cast<Distance>(no_path));
    std::vector<measures::DividedFlow> sums(static_cast<std::size_t>(threads));
    PythonMonitor monitor(nb::none(), rows);
    const GilRelease release;
    parallel::parallel_for(rows, 1, threads, monitor, [&](std::int64_t row, std::int64_t, int own) {
      flow.add(values + row * n, sources.data()[row], sums[static_cast<std::size_t>(own)]);
    });
    for (const auto& own : sums) {
      add_all(own.vertex_sums, vertex_sums);
      add_all(own.arc_sums, arc_sums);
    }
  };
  if (!weights) {
    if (distances.dtype() != nb::dtype<std::int32_t>()) raise_wrong_type();
    return run(Type<NoWeight>{}, Type<std::int32_t>{});
  }
  if (weights->dtype() != distances.dtype()) raise_wrong_type();
  with_type<std::int64_t, double>(distances.dtype(), [&](auto type) { run(type, type); });
}

}  // namespace

void bind_measures_paths(nb::module_& m) {
  m.def("loads", &loads, nb::arg("offsets"), nb::arg("neighbors"), nb::arg("lengths").none(),
        nb::arg("roots"), nb::arg("trip_offsets"), nb::arg("ends"), nb::arg("volumes"),
        nb::arg("limit"), nb::arg("split"), nb::arg("flows").noconvert(),
        nb::arg("assigned").noconvert(), nb::arg("threads"), nb::arg("progress").none());
  m.def("path_counts", &path_counts, nb::arg("offsets"), nb::arg("neighbors"),
        nb::arg("lengths").none(), nb::arg("distances"), nb::arg("no_path"), nb::arg("source"),
        nb::arg("most_words"), nb::arg("available"));
  m.def("divided_flow", &divided_flow, nb::arg("offsets"), nb::arg("tails"),
        nb::arg("weights").none(), nb::arg("distances"), nb::arg("no_path"), nb::arg("sources"),
        nb::arg("is_target"), nb::arg("division"), nb::arg("vertex_sums"), nb::arg("arc_sums"),
        nb::arg("threads"));
}

}  // namespace kleene::bindings
