// What is near: vertices and facilities, by searches and in eliminated graphs.
#include "prepared/near/near.hpp"

#include "arrays.hpp"
#include "graph/reached_rows.hpp"
#include "prepared.hpp"
#include "sssp/near.hpp"

namespace kleene::bindings {
namespace {

// Rows of what searches reach, as NumPy arrays: calls search() without the GIL, and returns
// offsets, vertices, distances and predecessors, or None for these. Raises
// kleene._native.MemoryNeeded where the rows take too much.
template <class Search>
nb::object reached_rows(bool predecessors, PythonMonitor& monitor, Search&& search) {
  decltype(search()) reached;
  std::int64_t needed = 0;  // bytes, if more than available
  {
    const GilRelease release;
    try {
      reached = search();
      monitor.finish();
    } catch (const graph::MemoryNeeded& caught) {
      needed = caught.bytes;
    }
  }
  if (needed) raise_memory_needed(needed);
  nb::object tree = nb::none();
  if (predecessors) tree = to_numpy(std::move(reached.predecessors));
  return nb::make_tuple(to_numpy(std::move(reached.offsets)), to_numpy(std::move(reached.vertices)),
                        to_numpy(std::move(reached.distances)), tree);
}

// ---- by searches --------------------------------------------------------------------------------

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

// ---- in eliminated graphs, of some sources ------------------------------------------------------

// Fills rows of k, where `which` is -1. Vertices are ranks; the limit has the type of the
// distances. Lengths lead up from the sources, and down to the facilities.
void nearest(const ClimbTree& tree, const AnyArray& up, const AnyArray& down, const Ids& sources,
             const Ids& facilities, const AnyArray& limit, const AnyOutput& distances,
             const MutableArray<std::int32_t>& which, int threads, const nb::object& progress) {
  tree.require_pairs(up);
  tree.require_pairs(down);
  const prepared::RankList starts{sources.data(), static_cast<std::int64_t>(sources.size())};
  const prepared::RankList places{facilities.data(), static_cast<std::int64_t>(facilities.size())};
  if (which.ndim() != 2 || which.shape(0) != sources.size() || distances.size() != which.size()) {
    raise_wrong_type();
  }
  with_value_type(up.dtype(), [&]<class Value>(Type<Value>) {
    const prepared::PairValues<Value> values{data_of<Value>(up), data_of<Value>(down)};
    const prepared::NearestRows<Value> rows{static_cast<std::int64_t>(which.shape(1)),
                                            data_of<Value>(distances), which.data()};
    const Value farthest = *data_of<Value>(limit);
    PythonMonitor monitor(progress, starts.count);
    const GilRelease release;
    prepared::nearest<Value>(tree.elimination, tree.tree, values, starts, places, farthest, rows,
                             threads, monitor);
    monitor.finish();
  });
}

// Returns offsets, vertices, distances and predecessors, as bounded_search does. Sources are ranks,
// incoming arcs are those of the graph, or None for no predecessors.
nb::object within(const ClimbTree& tree, const Ids& order, const Ids& sizes, const AnyArray& up,
                  const AnyArray& down, const Ids& sources, const AnyArray& limit,
                  const std::optional<Offsets>& incoming_offsets,
                  const std::optional<Ids>& incoming_neighbors, const OptionalArray& lengths,
                  std::int64_t available, int threads, const nb::object& progress) {
  tree.require_vertices(order);
  tree.require_vertices(sizes);
  tree.require_pairs(up);
  tree.require_pairs(down);
  if (incoming_offsets) {
    require_arcs(*incoming_offsets, incoming_neighbors, lengths);
    if (!incoming_neighbors || incoming_offsets->size() != tree.offsets.size()) raise_wrong_type();
  }
  return with_type<std::int32_t, std::int64_t>(up.dtype(), [&]<class Value>(Type<Value>) {
    const prepared::SweptTree swept{tree.tree, order.data(), sizes.data()};
    const prepared::PairValues<Value> values{data_of<Value>(up), data_of<Value>(down)};
    Arcs<std::int32_t> incoming{tree.elimination.n, nullptr, nullptr};
    if (incoming_offsets) {
      incoming.offsets = incoming_offsets->data();
      incoming.neighbors = incoming_neighbors->data();
    }
    const auto count = static_cast<std::int64_t>(sources.size());
    const Value farthest = *data_of<Value>(limit);
    const Value* const own_lengths = data_of<Value>(lengths);
    const std::int32_t* const starts = sources.data();
    PythonMonitor monitor(progress, count);
    return reached_rows(incoming_offsets.has_value(), monitor, [&] {
      return prepared::within<Value>(swept, values, starts, count, farthest,
                                     incoming_offsets ? &incoming : nullptr, own_lengths, available,
                                     threads, monitor);
    });
  });
}

// ---- in eliminated graphs, of every vertex ------------------------------------------------------

template <class Value>
using Output = nb::ndarray<Value, nb::ndim<2>, nb::c_contig, nb::device::cpu>;

// Arrays by rank; the lower neighbors are pairs by their upper end. Rows of k labels each.
template <class Value>
void nearest_labels(const Offsets& offsets, const Ids& heads, const Ids& parents, const Ids& sizes,
                    const Offsets& lower_offsets, const Ids& tails, const Ids& places,
                    const Array<Value>& up, const Array<Value>& down, const Ids& facilities,
                    Value limit, const Output<Value>& distances, const Output<std::int32_t>& which,
                    int threads, const nb::object& progress) {
  require_arcs(offsets, heads, up, down);
  require_arcs(lower_offsets, tails, places);
  const auto n = static_cast<std::int64_t>(parents.size());
  const bool sound = offsets.size() == parents.size() + 1 &&
                     lower_offsets.size() == offsets.size() && sizes.size() == parents.size() &&
                     distances.shape(0) == parents.size() && which.shape(0) == parents.size() &&
                     which.shape(1) == distances.shape(1);
  if (!sound) raise_wrong_type();
  const prepared::Elimination elimination{n, offsets.data(), heads.data(), parents.data()};
  const prepared::LowerNeighbors lower{lower_offsets.data(), tails.data(), places.data()};
  const prepared::NearestLabels<Value> labels{static_cast<std::int64_t>(which.shape(1)),
                                              distances.data(), which.data()};
  const auto count = static_cast<std::int64_t>(facilities.size());
  PythonMonitor monitor(progress, 2 * n);
  const GilRelease release;
  prepared::nearest_labels<Value>(elimination, lower, sizes.data(), {up.data(), down.data()},
                                  facilities.data(), count, limit, labels, threads, monitor);
  monitor.finish();
}

template <class Value>
void bind_labels(nb::module_& m) {
  m.def("prepared_nearest_labels", &nearest_labels<Value>, nb::arg("offsets"), nb::arg("heads"),
        nb::arg("parents"), nb::arg("sizes"), nb::arg("lower_offsets"), nb::arg("tails"),
        nb::arg("places"), nb::arg("up").noconvert(), nb::arg("down").noconvert(),
        nb::arg("facilities"), nb::arg("limit"), nb::arg("distances").noconvert(),
        nb::arg("which").noconvert(), nb::arg("threads"), nb::arg("progress").none());
}

}  // namespace

void bind_near(nb::module_& m) {
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
  m.def("prepared_nearest", &nearest, nb::arg("tree"), nb::arg("up"), nb::arg("down"),
        nb::arg("sources"), nb::arg("facilities"), nb::arg("limit"),
        nb::arg("distances").noconvert(), nb::arg("which").noconvert(), nb::arg("threads"),
        nb::arg("progress").none());
  m.def("prepared_within", &within, nb::arg("tree"), nb::arg("order"), nb::arg("sizes"),
        nb::arg("up"), nb::arg("down"), nb::arg("sources"), nb::arg("limit"),
        nb::arg("incoming_offsets").none(), nb::arg("incoming_neighbors").none(),
        nb::arg("lengths").none(), nb::arg("available"), nb::arg("threads"),
        nb::arg("progress").none());
  bind_labels<std::int32_t>(m);
  bind_labels<std::int64_t>(m);
}

}  // namespace kleene::bindings
