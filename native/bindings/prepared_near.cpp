// What is near in an eliminated graph: facilities of some sources, and all within a limit.
#include "prepared/near/near.hpp"
#include "prepared_climb_tree.hpp"
#include "reached_rows.hpp"

namespace kleene::bindings {
namespace {

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

}  // namespace

void bind_prepared_near(nb::module_& m) {
  m.def("prepared_nearest", &nearest, nb::arg("tree"), nb::arg("up"), nb::arg("down"),
        nb::arg("sources"), nb::arg("facilities"), nb::arg("limit"),
        nb::arg("distances").noconvert(), nb::arg("which").noconvert(), nb::arg("threads"),
        nb::arg("progress").none());
  m.def("prepared_within", &within, nb::arg("tree"), nb::arg("order"), nb::arg("sizes"),
        nb::arg("up"), nb::arg("down"), nb::arg("sources"), nb::arg("limit"),
        nb::arg("incoming_offsets").none(), nb::arg("incoming_neighbors").none(),
        nb::arg("lengths").none(), nb::arg("available"), nb::arg("threads"),
        nb::arg("progress").none());
}

}  // namespace kleene::bindings
