#include "arrays.hpp"
#include "measures/distance_sums.hpp"

namespace kleene::bindings {
namespace {

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
}

}  // namespace kleene::bindings
