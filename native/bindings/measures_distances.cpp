// What distances add up to, and eccentricities.
#include "arrays.hpp"
#include "measures/distance_sums.hpp"
#include "measures/eccentricity_bounds.hpp"

namespace kleene::bindings {
namespace {

// ---- sums ---------------------------------------------------------------------------------------

// Calls body(bfs::Problem<Id>) for the searches from the sources.
template <class Body>
auto with_hops(const Offsets& offsets, const AnyArray& neighbors,
               const std::optional<Offsets>& incoming_offsets,
               const OptionalArray& incoming_neighbors, Body&& body) {
  require_arcs(offsets, neighbors);
  if (incoming_offsets) require_arcs(*incoming_offsets, incoming_neighbors);
  return with_id_type(neighbors, [&]<class Id>(Type<Id>) {
    const auto n = static_cast<std::int64_t>(offsets.size()) - 1;
    bfs::Problem<Id> problem;
    problem.outgoing = {n, offsets.data(), data_of<Id>(neighbors)};
    if (incoming_offsets) {
      problem.incoming = {n, incoming_offsets->data(), data_of<Id>(incoming_neighbors)};
    }
    return body(problem);
  });
}

// Adds to arrays of n entries; returns how many pairs have each number of hops.
nb::object hop_sums(const Offsets& offsets, const AnyArray& neighbors,
                    const std::optional<Offsets>& incoming_offsets,
                    const OptionalArray& incoming_neighbors, const AnyArray& sources,
                    std::int64_t limit, const AnyOutput& reached, const AnyOutput& sums,
                    const AnyOutput& inverses, int threads, const nb::object& progress) {
  const auto count = static_cast<std::int64_t>(sources.size());
  PythonMonitor monitor(progress, count);
  return with_hops(offsets, neighbors, incoming_offsets, incoming_neighbors,
                   [&]<class Id>(bfs::Problem<Id>& problem) {
                     problem.stop.limit = static_cast<Id>(limit);
                     const Id* const from = data_of<Id>(sources);
                     const measures::HopSums totals{data_of<std::int64_t>(reached),
                                                    data_of<std::int64_t>(sums),
                                                    data_of<double>(inverses)};
                     std::vector<std::int64_t> levels;
                     {
                       const GilRelease release;
                       levels = measures::add_hops(problem, from, count, totals, threads, monitor);
                       monitor.finish();
                     }
                     Buffer<std::int64_t> pairs(static_cast<std::int64_t>(levels.size()));
                     std::copy(levels.begin(), levels.end(), pairs.data());
                     return to_numpy(std::move(pairs));
                   });
}

void farthest_hops(const Offsets& offsets, const AnyArray& neighbors,
                   const std::optional<Offsets>& incoming_offsets,
                   const OptionalArray& incoming_neighbors, const AnyArray& sources,
                   const AnyOutput& farthest, int threads, const nb::object& progress) {
  const auto count = static_cast<std::int64_t>(sources.size());
  PythonMonitor monitor(progress, count);
  with_hops(offsets, neighbors, incoming_offsets, incoming_neighbors,
            [&]<class Id>(const bfs::Problem<Id>& problem) {
              const Id* const from = data_of<Id>(sources);
              Id* const most = data_of<Id>(farthest);
              const GilRelease release;
              measures::farthest_hops(problem, from, count, most, threads, monitor);
              monitor.finish();
            });
}

// Sums are int64 or float64 for integers, float64 for floats.
template <class Body>
void with_row_types(nb::dlpack::dtype values, nb::dlpack::dtype sums, Body&& body) {
  with_value_type(values, [&]<class Value>(Type<Value> value) {
    if constexpr (std::is_floating_point_v<Value>) {
      with_type<double>(sums, [&](auto sum) { body(value, sum); });
    } else if constexpr (sizeof(Value) == 4) {
      with_type<std::int64_t>(sums, [&](auto sum) { body(value, sum); });
    } else {
      with_type<std::int64_t, double>(sums, [&](auto sum) { body(value, sum); });
    }
  });
}

using Matrix = nb::ndarray<nb::ro, nb::ndim<2>, nb::c_contig, nb::device::cpu>;

template <class Value>
measures::Rows<Value> rows_of(const Matrix& values, const nb::object& no_path) {
  return {static_cast<const Value*>(values.data()), static_cast<std::int64_t>(values.shape(0)),
          static_cast<std::int64_t>(values.shape(1)), nb::cast<Value>(no_path)};
}

void reduce_rows(const Matrix& values, const nb::object& no_path, const OptionalArray& edges,
                 const AnyOutput& sums, const AnyOutput& maxima, const AnyOutput& reached,
                 const OptionalOutput& histogram, int threads) {
  PythonMonitor monitor(nb::none(), 0);
  with_row_types(values.dtype(), sums.dtype(), [&]<class Value, class Sum>(Type<Value>, Type<Sum>) {
    const auto rows = rows_of<Value>(values, no_path);
    measures::RowTotals<Value, Sum> totals{data_of<Sum>(sums), data_of<Value>(maxima),
                                           data_of<std::int64_t>(reached)};
    if (edges) {
      totals.edges = data_of<Value>(edges);
      totals.bins = static_cast<std::int64_t>(edges->size()) - 1;
      totals.histogram = data_of<std::int64_t>(histogram);
    }
    const GilRelease release;
    measures::reduce_rows(rows, totals, threads, monitor);
  });
}

void add_columns(const Matrix& values, const nb::object& no_path, const AnyArray& sources,
                 const OptionalOutput& reached, const AnyOutput& sums,
                 const OptionalOutput& inverses, int threads) {
  PythonMonitor monitor(nb::none(), 0);
  with_row_types(values.dtype(), sums.dtype(), [&]<class Value, class Sum>(Type<Value>, Type<Sum>) {
    const auto rows = rows_of<Value>(values, no_path);
    const measures::ColumnTotals<Sum> totals{data_of<std::int64_t>(reached), data_of<Sum>(sums),
                                             data_of<double>(inverses)};
    with_id_type(sources, [&]<class Id>(Type<Id>) {
      const Id* const from = data_of<Id>(sources);
      const GilRelease release;
      measures::add_columns(rows, from, totals, threads, monitor);
    });
  });
}

// ---- eccentricities, by bounds ------------------------------------------------------------------

measures::Goal parse_goal(std::string_view name) {
  using measures::Goal;
  if (name == "diameter") return Goal::kDiameter;
  if (name == "radius") return Goal::kRadius;
  if (name == "periphery") return Goal::kPeriphery;
  if (name == "center") return Goal::kCenter;
  return Goal::kAll;
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

// Without incoming arcs, every arc has its reverse arc. Without a component, there is one.
nb::object bound_eccentricities(
    std::string_view goal, const Offsets& offsets, const AnyArray& neighbors,
    const OptionalArray& lengths, const std::optional<Offsets>& incoming_offsets,
    const OptionalArray& incoming_neighbors, const OptionalArray& incoming_lengths, double longest,
    const OptionalArray& component, const std::optional<Array<std::int64_t>>& sizes,
    const AnyOutput& lower, const AnyOutput& upper, const AnyOutput& known, int threads) {
  require_arcs(offsets, neighbors, lengths);
  if (incoming_offsets) require_arcs(*incoming_offsets, incoming_neighbors, incoming_lengths);
  const auto n = static_cast<std::int64_t>(offsets.size()) - 1;
  PythonMonitor monitor(nb::none(), 0);
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
      return bound(graph, goal, lower, upper, known, threads, monitor);
    };
    if (!lengths) return of_type(Type<Id>{});
    if constexpr (sizeof(Id) == 4) {
      return with_type<std::int32_t, std::int64_t, double>(lengths->dtype(), of_type);
    } else {
      return with_type<std::int64_t, double>(lengths->dtype(), of_type);
    }
  });
}

}  // namespace

void bind_measures_distances(nb::module_& m) {
  m.def("hop_sums", &hop_sums, nb::arg("offsets"), nb::arg("neighbors"),
        nb::arg("incoming_offsets").none(), nb::arg("incoming_neighbors").none(),
        nb::arg("sources"), nb::arg("limit"), nb::arg("reached"), nb::arg("sums"),
        nb::arg("inverses"), nb::arg("threads"), nb::arg("progress").none());
  m.def("farthest_hops", &farthest_hops, nb::arg("offsets"), nb::arg("neighbors"),
        nb::arg("incoming_offsets").none(), nb::arg("incoming_neighbors").none(),
        nb::arg("sources"), nb::arg("farthest"), nb::arg("threads"), nb::arg("progress").none());
  m.def("reduce_rows", &reduce_rows, nb::arg("values"), nb::arg("no_path"), nb::arg("edges").none(),
        nb::arg("sums"), nb::arg("maxima"), nb::arg("reached"), nb::arg("histogram").none(),
        nb::arg("threads"));
  m.def("add_columns", &add_columns, nb::arg("values"), nb::arg("no_path"), nb::arg("sources"),
        nb::arg("reached").none(), nb::arg("sums"), nb::arg("inverses").none(), nb::arg("threads"));
  m.def("bound_eccentricities", &bound_eccentricities, nb::arg("goal"), nb::arg("offsets"),
        nb::arg("neighbors"), nb::arg("lengths").none(), nb::arg("incoming_offsets").none(),
        nb::arg("incoming_neighbors").none(), nb::arg("incoming_lengths").none(),
        nb::arg("longest"), nb::arg("component").none(), nb::arg("sizes").none(), nb::arg("lower"),
        nb::arg("upper"), nb::arg("known"), nb::arg("threads"));
}

}  // namespace kleene::bindings
