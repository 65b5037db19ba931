#include "arrays.hpp"
#include "measures/eccentricity_bounds.hpp"
#include "measures/eccentricity_targets.hpp"

namespace kleene::bindings {
namespace {

measures::Goal parse_goal(std::string_view name) {
  using measures::Goal;
  if (name == "diameter") return Goal::kDiameter;
  if (name == "radius") return Goal::kRadius;
  if (name == "periphery") return Goal::kPeriphery;
  return Goal::kCenter;
}

// Fills the bounds; returns the largest and the smallest eccentricity known, the number of
// searches, and that of vertices that still matter.
template <class Id, class Value>
nb::object bound(const measures::Lengths<Id, Value>& graph, std::string_view goal,
                 const AnyOutput& lower, const AnyOutput& upper, const AnyOutput& known,
                 int threads, Monitor& monitor) {
  using Bound = measures::BoundOf<Value>;
  const measures::EccentricityBounds<Bound> bounds{data_of<Bound>(lower), data_of<Bound>(upper),
                                                   data_of<std::uint8_t>(known)};
  const measures::Goal wanted = parse_goal(goal);
  measures::Extremes<Bound> found;
  {
    const GilRelease release;
    found = measures::bound_eccentricities(graph, wanted, bounds, threads, monitor);
  }
  return nb::make_tuple(found.largest, found.smallest, found.searches, found.undecided);
}

// Calls use() with the graph. Without incoming arcs, every arc has its reverse arc. Without a
// component, there is one.
template <class Use>
nb::object with_lengths(const Offsets& offsets, const AnyArray& neighbors,
                        const OptionalArray& lengths,
                        const std::optional<Offsets>& incoming_offsets,
                        const OptionalArray& incoming_neighbors,
                        const OptionalArray& incoming_lengths, double longest,
                        const OptionalArray& component,
                        const std::optional<Array<std::int64_t>>& sizes, Use&& use) {
  require_arcs(offsets, neighbors, lengths);
  if (incoming_offsets) require_arcs(*incoming_offsets, incoming_neighbors, incoming_lengths);
  const auto n = static_cast<std::int64_t>(offsets.size()) - 1;
  return with_id_type(neighbors, [&]<class Id>(Type<Id>) {
    const auto of_type = [&]<class Value>(Type<Value>) {
      measures::Lengths<Id, Value> graph;
      graph.outgoing = graph.incoming = {n, offsets.data(), data_of<Id>(neighbors)};
      graph.lengths = graph.incoming_lengths = data_of<Value>(lengths);
      graph.directed = incoming_offsets.has_value();
      if (graph.directed) {
        graph.incoming = {n, incoming_offsets->data(), data_of<Id>(incoming_neighbors)};
        graph.incoming_lengths = data_of<Value>(incoming_lengths);
      }
      graph.longest = longest;
      if (component && sizes) {
        graph.component = data_of<Id>(component);
        graph.sizes = sizes->data();
        graph.components = static_cast<std::int64_t>(sizes->size());
      }
      return use(graph);
    };
    if (!lengths) return of_type(Type<Id>{});
    if constexpr (sizeof(Id) == 4) {
      return with_type<std::int32_t, std::int64_t, double>(lengths->dtype(), of_type);
    } else {
      return with_type<std::int64_t, double>(lengths->dtype(), of_type);
    }
  });
}

nb::object bound_eccentricities(
    std::string_view goal, const Offsets& offsets, const AnyArray& neighbors,
    const OptionalArray& lengths, const std::optional<Offsets>& incoming_offsets,
    const OptionalArray& incoming_neighbors, const OptionalArray& incoming_lengths, double longest,
    const OptionalArray& component, const std::optional<Array<std::int64_t>>& sizes,
    const AnyOutput& lower, const AnyOutput& upper, const AnyOutput& known, int threads) {
  PythonMonitor monitor(nb::none(), 0);
  return with_lengths(offsets, neighbors, lengths, incoming_offsets, incoming_neighbors,
                      incoming_lengths, longest, component, sizes, [&](const auto& graph) {
                        return bound(graph, goal, lower, upper, known, threads, monitor);
                      });
}

template <class Id, class Value>
nb::object aim(const measures::Lengths<Id, Value>& graph, bool closed, const AnyOutput& values,
               const AnyOutput& known, int threads) {
  PythonMonitor monitor(nb::none(), 0);
  auto* const found = data_of<measures::BoundOf<Value>>(values);
  auto* const which = data_of<std::uint8_t>(known);
  std::int64_t searches = 0;
  {
    const GilRelease release;
    searches = measures::target_eccentricities(graph, closed, found, which, threads, monitor);
  }
  return nb::int_(searches);
}

// Fills the values where it sets `known`; returns the number of searches.
nb::object target_eccentricities(bool closed, const Offsets& offsets, const AnyArray& neighbors,
                                 const OptionalArray& lengths,
                                 const std::optional<Offsets>& incoming_offsets,
                                 const OptionalArray& incoming_neighbors,
                                 const OptionalArray& incoming_lengths, double longest,
                                 const OptionalArray& component,
                                 const std::optional<Array<std::int64_t>>& sizes,
                                 const AnyOutput& values, const AnyOutput& known, int threads) {
  return with_lengths(offsets, neighbors, lengths, incoming_offsets, incoming_neighbors,
                      incoming_lengths, longest, component, sizes, [&](const auto& graph) {
                        return aim(graph, closed, values, known, threads);
                      });
}

}  // namespace

void bind_measures_eccentricity(nb::module_& m) {
  m.def("bound_eccentricities", &bound_eccentricities, nb::arg("goal"), nb::arg("offsets"),
        nb::arg("neighbors"), nb::arg("lengths").none(), nb::arg("incoming_offsets").none(),
        nb::arg("incoming_neighbors").none(), nb::arg("incoming_lengths").none(),
        nb::arg("longest"), nb::arg("component").none(), nb::arg("sizes").none(), nb::arg("lower"),
        nb::arg("upper"), nb::arg("known"), nb::arg("threads"));
  m.def("target_eccentricities", &target_eccentricities, nb::arg("closed"), nb::arg("offsets"),
        nb::arg("neighbors"), nb::arg("lengths").none(), nb::arg("incoming_offsets").none(),
        nb::arg("incoming_neighbors").none(), nb::arg("incoming_lengths").none(),
        nb::arg("longest"), nb::arg("component").none(), nb::arg("sizes").none(), nb::arg("values"),
        nb::arg("known"), nb::arg("threads"));
}

}  // namespace kleene::bindings
