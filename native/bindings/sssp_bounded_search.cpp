// Answers of bounded searches, and of searches for the nearest facilities.
#include "arrays.hpp"
#include "reached_rows.hpp"
#include "sssp/near.hpp"

namespace kleene::bindings {
namespace {

// Calls body(Type<Id>, Type<Value>): ids as the neighbours, values as the other array.
template <class Typed, class Body>
auto with_types(const AnyArray& neighbors, const Typed& values, Body&& body) {
  return with_id_type(neighbors, [&](auto id) {
    return with_value_type(values.dtype(), [&](auto value) { return body(id, value); });
  });
}

// `limits` has the type of the distances: one for all sources, or one each. Returns offsets,
// vertices, distances and predecessors.
nb::object bounded_search(const Offsets& offsets, const AnyArray& neighbors,
                          const OptionalArray& lengths, const AnyArray& sources,
                          const AnyArray& limits, std::int64_t most, bool predecessors,
                          std::int64_t available, int threads, const nb::object& progress) {
  require_arcs(offsets, neighbors, lengths);
  return with_types(neighbors, limits, [&]<class Id, class Value>(Type<Id>, Type<Value>) {
    const auto n = static_cast<std::int64_t>(offsets.size()) - 1;
    const Arcs<Id> arcs{n, offsets.data(), data_of<Id>(neighbors)};
    const auto count = static_cast<std::int64_t>(sources.size());
    const sssp::Bounds<Value> bounds{data_of<Value>(limits), limits.size() != 1, most};
    const auto* own_lengths = data_of<Value>(lengths);
    const auto* starts = data_of<Id>(sources);
    PythonMonitor monitor(progress, count);
    return reached_rows(predecessors, monitor, [&] {
      return sssp::bounded_search<Id, Value>(arcs, own_lengths, starts, count, bounds, predecessors,
                                             available, threads, monitor);
    });
  });
}

// Rows of k labels for each vertex, the caller's, filled with "no path" and -1.
void k_nearest(const Offsets& offsets, const AnyArray& neighbors, const OptionalArray& lengths,
               const AnyArray& facilities, const AnyArray& limit, std::int64_t k,
               const AnyOutput& distances, const AnyOutput& which, int threads,
               const nb::object& progress) {
  require_arcs(offsets, neighbors, lengths);
  with_types(neighbors, limit, [&]<class Id, class Value>(Type<Id>, Type<Value>) {
    const auto n = static_cast<std::int64_t>(offsets.size()) - 1;
    const Arcs<Id> arcs{n, offsets.data(), data_of<Id>(neighbors)};
    const auto* own_lengths = data_of<Value>(lengths);
    const sssp::Facilities<Id> list{data_of<Id>(facilities),
                                    static_cast<std::int64_t>(facilities.size())};
    const sssp::Labels<Id, Value> labels{k, data_of<Value>(distances), data_of<Id>(which)};
    const Value farthest = *data_of<Value>(limit);
    PythonMonitor monitor(progress, n * k);
    const GilRelease release;
    sssp::k_nearest<Id, Value>(arcs, own_lengths, list, farthest, labels, threads, monitor);
    monitor.finish();
  });
}

// Fills `owners`, which holds -1.
void nearest_owners(const Offsets& offsets, const AnyArray& neighbors, const OptionalArray& lengths,
                    const AnyArray& facilities, const AnyArray& distances,
                    const AnyOutput& owners) {
  require_arcs(offsets, neighbors, lengths);
  with_types(neighbors, distances, [&]<class Id, class Value>(Type<Id>, Type<Value>) {
    const auto n = static_cast<std::int64_t>(offsets.size()) - 1;
    const Arcs<Id> arcs{n, offsets.data(), data_of<Id>(neighbors)};
    const auto* own_lengths = data_of<Value>(lengths);
    const sssp::Facilities<Id> list{data_of<Id>(facilities),
                                    static_cast<std::int64_t>(facilities.size())};
    const auto* values = data_of<Value>(distances);
    auto* whose = data_of<Id>(owners);
    PythonMonitor monitor(nb::none(), n);
    const GilRelease release;
    sssp::nearest_owners<Id, Value>(arcs, own_lengths, list, values, whose, monitor);
  });
}

}  // namespace

void bind_sssp_bounded_search(nb::module_& m) {
  m.def("bounded_search", &bounded_search, nb::arg("offsets"), nb::arg("neighbors"),
        nb::arg("lengths").none(), nb::arg("sources"), nb::arg("limits"), nb::arg("most"),
        nb::arg("predecessors"), nb::arg("available"), nb::arg("threads"),
        nb::arg("progress").none());
  m.def("k_nearest", &k_nearest, nb::arg("offsets"), nb::arg("neighbors"),
        nb::arg("lengths").none(), nb::arg("facilities"), nb::arg("limit"), nb::arg("k"),
        nb::arg("distances").noconvert(), nb::arg("which").noconvert(), nb::arg("threads"),
        nb::arg("progress").none());
  m.def("nearest_owners", &nearest_owners, nb::arg("offsets"), nb::arg("neighbors"),
        nb::arg("lengths").none(), nb::arg("facilities"), nb::arg("distances"),
        nb::arg("owners").noconvert());
}

}  // namespace kleene::bindings
