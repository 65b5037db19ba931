// Searches on compressed rows that are not checked beforehand, such as those of a SciPy array.
#include "arrays.hpp"
#include "bfs/order.hpp"
#include "closure/small_matrix.hpp"
#include "sssp/stored_rows_search.hpp"

namespace kleene::bindings {
namespace {

using graph::BadRow;
using graph::StoredRows;
using OptionalLengths = std::optional<Array<double>>;
using Ids = MutableArray<std::int32_t>;

// The rows of two arrays, and of the same types those transposed, if there are any.
template <class Offset, class Id>
struct RowsBothWays {
  StoredRows<Offset, Id> rows, transposed;
  bool has_transposed = false;

  const StoredRows<Offset, Id>* other() const { return has_transposed ? &transposed : nullptr; }
};

template <class Offset, class Id>
StoredRows<Offset, Id> rows_of(const AnyArray& offsets, const AnyArray& neighbors,
                               const OptionalLengths& lengths) {
  const auto n = static_cast<std::int64_t>(offsets.size()) - 1;
  const std::size_t stored =
      lengths ? std::min(neighbors.size(), lengths->size()) : neighbors.size();
  return {n, data_of<Offset>(offsets), data_of<Id>(neighbors), lengths ? lengths->data() : nullptr,
          static_cast<std::int64_t>(stored)};
}

// Calls body(RowsBothWays) without the GIL; returns what it returns, or -1 for rows that are not
// sound.
template <class Body>
std::int64_t with_rows(const AnyArray& offsets, const AnyArray& neighbors,
                       const OptionalLengths& lengths, const OptionalArray& transposed_offsets,
                       const OptionalArray& transposed_neighbors,
                       const OptionalLengths& transposed_lengths, Body&& body) {
  const auto run = [&]<class Offset, class Id>(Type<Offset>, Type<Id>) -> std::int64_t {
    RowsBothWays<Offset, Id> both{rows_of<Offset, Id>(offsets, neighbors, lengths), {}, false};
    if (transposed_offsets) {
      both.transposed =
          rows_of<Offset, Id>(*transposed_offsets, *transposed_neighbors, transposed_lengths);
      both.has_transposed = true;
    }
    const GilRelease release;
    try {
      return body(both);
    } catch (const BadRow&) {
      return -1;
    }
  };
  const bool narrow = neighbors.dtype() == nb::dtype<std::int32_t>();
  if (offsets.dtype() == nb::dtype<std::int32_t>()) {
    return run(Type<std::int32_t>{}, Type<std::int32_t>{});
  }
  return narrow ? run(Type<std::int64_t>{}, Type<std::int32_t>{})
                : run(Type<std::int64_t>{}, Type<std::int64_t>{});
}

// Copies of checked rows, as (int64 offsets, int32 neighbors); None for rows that are not sound.
nb::object checked_rows(const AnyArray& offsets, const AnyArray& neighbors) {
  const auto n = static_cast<std::int64_t>(offsets.size()) - 1;
  const auto stored = static_cast<std::int64_t>(neighbors.size());
  Buffer<std::int64_t> starts(n + 1);
  bool sound = with_id_type(offsets, [&]<class Offset>(Type<Offset>) {
    return graph::copy_offsets(data_of<Offset>(offsets), n, stored, starts.data());
  });
  if (!sound) return nb::none();
  Buffer<std::int32_t> heads(starts[n]);
  sound = with_id_type(neighbors, [&]<class Id>(Type<Id>) {
    return graph::copy_heads(data_of<Id>(neighbors), heads.size(), n, heads.data());
  });
  if (!sound) return nb::none();
  return nb::make_tuple(to_numpy(std::move(starts)), to_numpy(std::move(heads)));
}

// Fills `order` and `predecessors`, n entries each; returns how many vertices are reached, or -1
// for rows that are not sound.
std::int64_t order(const AnyArray& offsets, const AnyArray& neighbors,
                   const OptionalArray& transposed_offsets,
                   const OptionalArray& transposed_neighbors, std::int32_t source,
                   std::int32_t none, Ids order, Ids predecessors) {
  PythonMonitor monitor(nb::none(), 0);
  return with_rows(offsets, neighbors, {}, transposed_offsets, transposed_neighbors, {},
                   [&](const auto& both) {
                     return bfs::visit_order(both.rows, both.other(), source, none, order.data(),
                                             predecessors.data(), monitor);
                   });
}

// Fills the rows of a tree, n + 1 offsets and n heads and lengths; returns how many arcs there are,
// or -1 for rows that are not sound.
std::int64_t tree(const AnyArray& offsets, const AnyArray& neighbors, const Array<double>& lengths,
                  const Array<std::int32_t>& predecessors, Ids tree_offsets, Ids tree_heads,
                  MutableArray<double> tree_lengths) {
  return with_rows(offsets, neighbors, lengths, {}, {}, {}, [&](const auto& both) {
    return bfs::tree_rows(both.rows, predecessors.data(), tree_offsets.data(), tree_heads.data(),
                          tree_lengths.data());
  });
}

// Fills a row for each source, or one for the nearest. Returns 1; 0 if a length is negative, NaN or
// so large that sums might overflow, and -1 for rows that are not sound.
std::int64_t search(const AnyArray& offsets, const AnyArray& neighbors,
                    const Array<double>& lengths, const OptionalArray& transposed_offsets,
                    const OptionalArray& transposed_neighbors,
                    const OptionalLengths& transposed_lengths, const Array<std::int32_t>& sources,
                    bool nearest, bool unit, double limit, std::int32_t none,
                    MutableArray<double> distances, const std::optional<Ids>& predecessors,
                    const std::optional<Ids>& origins) {
  PythonMonitor monitor(nb::none(), 0);
  const sssp::StoredRowsRequest request{sources.data(), static_cast<std::int64_t>(sources.size()),
                                        nearest, unit, limit};
  const sssp::StoredRowsAnswer answer{distances.data(),
                                      predecessors ? predecessors->data() : nullptr,
                                      origins ? origins->data() : nullptr, none};
  return with_rows(offsets, neighbors, lengths, transposed_offsets, transposed_neighbors,
                   transposed_lengths, [&](const auto& both) -> std::int64_t {
                     const auto& rows = both.rows;
                     const std::int64_t arcs = parallel::relaxed_load(rows.offsets[rows.n]);
                     if (arcs < 0 || arcs > rows.stored) throw BadRow{};
                     if (!sssp::are_simple_lengths(rows.lengths, arcs, rows.n, unit)) return 0;
                     sssp::search_stored_rows(rows, both.other(), request, answer, monitor);
                     return 1;
                   });
}

closure::SmallMatrix small_matrix(MutableArray<double>& values,
                                  const std::optional<Ids>& predecessors, std::int32_t none) {
  return {static_cast<std::int64_t>(values.shape(0)), values.data(),
          predecessors ? predecessors->data() : nullptr, none};
}

// Closes a matrix in place. Returns 1, or 0 for a negative cycle or sums that might overflow.
int close_matrix(MutableArray<double> values, const std::optional<Ids>& predecessors,
                 std::int32_t none, double null, bool unit, bool undirected) {
  const auto matrix = small_matrix(values, predecessors, none);
  const GilRelease release;
  closure::canonicalise(matrix, null);
  return closure::close(matrix, unit, undirected);
}

// The same, of rows; -1 for rows that are not sound.
std::int64_t close_rows(const AnyArray& offsets, const AnyArray& neighbors,
                        const Array<double>& lengths, MutableArray<double> values,
                        const std::optional<Ids>& predecessors, std::int32_t none, bool unit,
                        bool undirected) {
  const auto matrix = small_matrix(values, predecessors, none);
  return with_rows(offsets, neighbors, lengths, {}, {}, {}, [&](const auto& both) -> std::int64_t {
    closure::fill(matrix, both.rows);
    return closure::close(matrix, unit, undirected);
  });
}

}  // namespace

void bind_stored_rows(nb::module_& m) {
  m.def("checked_rows", &checked_rows, nb::arg("offsets"), nb::arg("neighbors"));
  m.def("bfs_order", &order, nb::arg("offsets"), nb::arg("neighbors"),
        nb::arg("transposed_offsets").none(), nb::arg("transposed_neighbors").none(),
        nb::arg("source"), nb::arg("none"), nb::arg("order"), nb::arg("predecessors"));
  m.def("tree_rows", &tree, nb::arg("offsets"), nb::arg("neighbors"), nb::arg("lengths"),
        nb::arg("predecessors"), nb::arg("tree_offsets"), nb::arg("tree_heads"),
        nb::arg("tree_lengths"));
  m.def("close_small_matrix", &close_matrix, nb::arg("values"), nb::arg("predecessors").none(),
        nb::arg("none"), nb::arg("null"), nb::arg("unit"), nb::arg("undirected"));
  m.def("close_stored_rows", &close_rows, nb::arg("offsets"), nb::arg("neighbors"),
        nb::arg("lengths"), nb::arg("values"), nb::arg("predecessors").none(), nb::arg("none"),
        nb::arg("unit"), nb::arg("undirected"));
  m.def("search_stored_rows", &search, nb::arg("offsets"), nb::arg("neighbors"), nb::arg("lengths"),
        nb::arg("transposed_offsets").none(), nb::arg("transposed_neighbors").none(),
        nb::arg("transposed_lengths").none(), nb::arg("sources"), nb::arg("nearest"),
        nb::arg("unit"), nb::arg("limit"), nb::arg("none"), nb::arg("distances"),
        nb::arg("predecessors").none(), nb::arg("origins").none());
}

}  // namespace kleene::bindings
