#include "components/components.hpp"

#include "arrays.hpp"

namespace kleene::bindings {
namespace {

// Calls fill(Arcs<Id>, component) without the GIL; returns (component, sizes).
template <class Fill>
nb::object numbered(const Offsets& offsets, const AnyArray& neighbors, Fill&& fill) {
  require_arcs(offsets, neighbors);
  const auto n = static_cast<std::int64_t>(offsets.size()) - 1;
  return with_id_type(neighbors, [&]<class Id>(Type<Id>) {
    const Arcs<Id> arcs{n, offsets.data(), data_of<Id>(neighbors)};
    Buffer<Id> component(n);
    Buffer<std::int64_t> sizes;
    {
      const GilRelease release;
      sizes = fill(arcs, component.data());
    }
    return nb::object(nb::make_tuple(to_numpy(std::move(component)), to_numpy(std::move(sizes))));
  });
}

nb::object weak(const Offsets& offsets, const AnyArray& neighbors, bool symmetric, int threads) {
  PythonMonitor monitor(nb::none(), 0);
  return numbered(offsets, neighbors, [&]<class Id>(const Arcs<Id>& arcs, Id* component) {
    return components::weak(arcs, symmetric, component, threads, monitor);
  });
}

nb::object strong(const Offsets& offsets, const AnyArray& neighbors,
                  const std::optional<Offsets>& incoming_offsets,
                  const OptionalArray& incoming_neighbors, int threads) {
  PythonMonitor monitor(nb::none(), 0);
  if (incoming_offsets) require_arcs(*incoming_offsets, incoming_neighbors);
  const auto* incoming_starts = incoming_offsets ? incoming_offsets->data() : nullptr;
  return numbered(offsets, neighbors, [&]<class Id>(const Arcs<Id>& arcs, Id* component) {
    const Arcs<Id> incoming{arcs.n, incoming_starts, data_of<Id>(incoming_neighbors)};
    return components::strong(arcs, incoming_starts ? &incoming : nullptr, component, threads,
                              monitor);
  });
}

nb::object strong_in_search_order(const Offsets& offsets, const AnyArray& neighbors) {
  PythonMonitor monitor(nb::none(), 0);
  return numbered(offsets, neighbors, [&]<class Id>(const Arcs<Id>& arcs, Id* component) {
    return components::strong_in_search_order(arcs, component, monitor);
  });
}

// In place.
void number_by_first(const AnyOutput& component, std::int64_t count) {
  const auto n = static_cast<std::int64_t>(component.size());
  with_type<std::int32_t, std::int64_t>(component.dtype(), [&]<class Id>(Type<Id>) {
    components::number_by_first(n, count, static_cast<Id*>(component.data()));
  });
}

}  // namespace

void bind_components(nb::module_& m) {
  m.def("weak_components", &weak, nb::arg("offsets"), nb::arg("neighbors"), nb::arg("symmetric"),
        nb::arg("threads"));
  m.def("number_components_by_first", &number_by_first, nb::arg("component"), nb::arg("count"));
  m.def("strong_components", &strong, nb::arg("offsets"), nb::arg("neighbors"),
        nb::arg("incoming_offsets").none(), nb::arg("incoming_neighbors").none(),
        nb::arg("threads"));
  m.def("strong_components_in_search_order", &strong_in_search_order, nb::arg("offsets"),
        nb::arg("neighbors"));
}

}  // namespace kleene::bindings
