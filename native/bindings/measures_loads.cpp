// Trips on their shortest paths.
#include "arrays.hpp"
#include "measures/loads.hpp"
#include "measures/shortest_path_arcs.hpp"

namespace kleene::bindings {
namespace {

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

}  // namespace

void bind_measures_loads(nb::module_& m) {
  m.def("loads", &loads, nb::arg("offsets"), nb::arg("neighbors"), nb::arg("lengths").none(),
        nb::arg("roots"), nb::arg("trip_offsets"), nb::arg("ends"), nb::arg("volumes"),
        nb::arg("limit"), nb::arg("split"), nb::arg("flows").noconvert(),
        nb::arg("assigned").noconvert(), nb::arg("threads"), nb::arg("progress").none());
}

}  // namespace kleene::bindings
