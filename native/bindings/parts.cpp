#include "parts/parts.hpp"

#include <algorithm>

#include "arrays.hpp"

namespace kleene::bindings {
namespace {

using Flags = MutableArray<std::uint8_t>;
using parallel::CancelCheck;

template <class T>
nb::object as_numpy(const std::vector<T>& values) {
  Buffer<T> copy(static_cast<std::int64_t>(values.size()));
  std::copy(values.begin(), values.end(), copy.data());
  return to_numpy(std::move(copy));
}

// Calls search(Arcs<Slot>, CancelCheck) without the GIL; returns (heads, tails).
template <class Search>
nb::object visits_of(const Offsets& offsets, const AnyArray& slots, Search&& search) {
  PythonMonitor monitor(nb::none(), 0);
  require_arcs(offsets, slots);
  const auto rows = static_cast<std::int64_t>(offsets.size()) - 1;
  return with_id_type(slots, [&]<class Slot>(Type<Slot>) {
    const Arcs<Slot> arcs{rows, offsets.data(), data_of<Slot>(slots)};
    parts::Visits<Slot> visits;
    {
      const GilRelease release;
      visits = search(arcs, CancelCheck(monitor, 0));
    }
    return nb::object(nb::make_tuple(as_numpy(visits.heads), as_numpy(visits.tails)));
  });
}

nb::object push(const Offsets& offsets, const AnyArray& slots, const AnyArray& frontier,
                const Flags& visited) {
  if (frontier.dtype() != slots.dtype()) raise_wrong_type();
  const auto count = static_cast<std::int64_t>(frontier.size());
  return visits_of(offsets, slots, [&]<class Slot>(const Arcs<Slot>& arcs, CancelCheck check) {
    const auto* const vertices = static_cast<const Slot*>(frontier.data());
    return parts::push(arcs, vertices, count, visited.data(), check);
  });
}

nb::object pull(const Offsets& offsets, const AnyArray& slots, const Flags& in_frontier,
                const Flags& visited) {
  return visits_of(offsets, slots, [&]<class Slot>(const Arcs<Slot>& arcs, CancelCheck check) {
    return parts::pull(arcs, in_frontier.data(), visited.data(), check);
  });
}

// Calls body(Type<Slot>, Type<Id>): no part has more slots than the graph has vertices.
template <class Body>
auto with_slot_and_id_type(const AnyArray& slots, const AnyOutput& links, Body&& body) {
  using Narrow = std::int32_t;
  using Wide = std::int64_t;
  if (slots.dtype() == nb::dtype<Wide>()) return body(Type<Wide>{}, Type<Wide>{});
  return with_type<Narrow, Wide>(links.dtype(), [&](auto id) { return body(Type<Narrow>{}, id); });
}

// Returns (pending, fallen); `bound` has one entry, of the type of the values.
nb::object settle(const Offsets& offsets, const AnyArray& slots, const OptionalArray& lengths,
                  const AnyArray& pending, const AnyArray& bound, const AnyOutput& values,
                  const AnyOutput& links, std::int64_t first, const Flags& queued) {
  PythonMonitor monitor(nb::none(), 0);
  require_arcs(offsets, slots, lengths);
  const auto rows = static_cast<std::int64_t>(offsets.size()) - 1;
  const auto count = static_cast<std::int64_t>(pending.size());
  return with_slot_and_id_type(slots, links, [&]<class Slot, class Id>(Type<Slot>, Type<Id>) {
    return with_value_type(values.dtype(), [&]<class Value>(Type<Value>) {
      const Slot* const vertices = data_of<Slot>(pending);
      const Value farthest = *data_of<Value>(bound);
      const parts::PartState<Slot, Id, Value> state{{rows, offsets.data(), data_of<Slot>(slots)},
                                                    data_of<Value>(lengths),
                                                    data_of<Value>(values),
                                                    data_of<Id>(links),
                                                    static_cast<Id>(first),
                                                    queued.data()};
      parts::Settled<Slot> settled;
      {
        const GilRelease release;
        settled = parts::settle(state, vertices, count, farthest, CancelCheck(monitor, 0));
      }
      return nb::object(nb::make_tuple(as_numpy(settled.pending), as_numpy(settled.fallen)));
    });
  });
}

}  // namespace

void bind_parts(nb::module_& m) {
  m.def("part_bfs_push", &push, nb::arg("offsets"), nb::arg("slots"), nb::arg("frontier"),
        nb::arg("visited"));
  m.def("part_bfs_pull", &pull, nb::arg("offsets"), nb::arg("slots"), nb::arg("in_frontier"),
        nb::arg("visited"));
  m.def("part_sssp_settle", &settle, nb::arg("offsets"), nb::arg("slots"),
        nb::arg("lengths").none(), nb::arg("pending"), nb::arg("bound"), nb::arg("values"),
        nb::arg("links"), nb::arg("first"), nb::arg("queued"));
}

}  // namespace kleene::bindings
