// Searches on compressed rows that nobody has checked, such as those of a SciPy array.
#include "arrays.hpp"
#include "bfs/order.hpp"
#include "sssp/stored_rows_search.hpp"

namespace kleene::bindings {
namespace {

using graph::BadRow;
using graph::StoredRows;
using Heads = Array<std::int32_t>;
using Ids = MutableArray<std::int32_t>;

// The rows of two arrays; `lengths` may be empty.
template <class Offset>
StoredRows<Offset> rows_of(const AnyArray& offsets, const Heads& neighbors,
                           const std::optional<Array<double>>& lengths = {}) {
  const auto n = static_cast<std::int64_t>(offsets.size()) - 1;
  const std::size_t stored =
      lengths ? std::min(neighbors.size(), lengths->size()) : neighbors.size();
  return {n, static_cast<const Offset*>(offsets.data()), neighbors.data(),
          lengths ? lengths->data() : nullptr, static_cast<std::int64_t>(stored)};
}

template <class Body>
auto with_offset_type(const AnyArray& offsets, Body&& body) {
  return with_type<std::int32_t, std::int64_t>(offsets.dtype(), body);
}

// Copies of checked rows, as (int64 offsets, int32 neighbors); None for rows that are not sound.
nb::object checked_rows(const AnyArray& offsets, const AnyArray& neighbors) {
  const auto n = static_cast<std::int64_t>(offsets.size()) - 1;
  const auto stored = static_cast<std::int64_t>(neighbors.size());
  Buffer<std::int64_t> starts(n + 1);
  bool sound = with_offset_type(offsets, [&]<class Offset>(Type<Offset>) {
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

// Fills `order`, which has n + 1 entries, and `predecessors`; returns how many vertices are
// reached, or -1 for rows that are not sound.
std::int64_t order(const AnyArray& offsets, const Heads& neighbors,
                   const std::optional<AnyArray>& transposed_offsets,
                   const std::optional<Heads>& transposed_neighbors, std::int32_t source,
                   std::int32_t none, Ids order, Ids predecessors) {
  PythonMonitor monitor(nb::none(), 0);
  return with_offset_type(offsets, [&]<class Offset>(Type<Offset>) -> std::int64_t {
    const auto rows = rows_of<Offset>(offsets, neighbors);
    StoredRows<Offset> transposed;
    if (transposed_offsets) {
      if (transposed_offsets->dtype() != offsets.dtype()) raise_wrong_type();
      transposed = rows_of<Offset>(*transposed_offsets, *transposed_neighbors);
    }
    const GilRelease release;
    try {
      return bfs::visit_order(rows, transposed_offsets ? &transposed : nullptr, source, none,
                              order.data(), predecessors.data(), monitor);
    } catch (const BadRow&) {
      return -1;
    }
  });
}

// Fills the rows of a tree, n + 1 offsets and n heads and lengths; returns how many arcs there are,
// or -1 for rows that are not sound.
std::int64_t tree(const AnyArray& offsets, const Heads& neighbors, const Array<double>& lengths,
                  const Heads& predecessors, Ids tree_offsets, Ids tree_heads,
                  MutableArray<double> tree_lengths) {
  return with_offset_type(offsets, [&]<class Offset>(Type<Offset>) -> std::int64_t {
    const auto rows = rows_of<Offset>(offsets, neighbors, lengths);
    const GilRelease release;
    try {
      return bfs::tree_rows(rows, predecessors.data(), tree_offsets.data(), tree_heads.data(),
                            tree_lengths.data());
    } catch (const BadRow&) {
      return -1;
    }
  });
}

// Fills a row for each source, or one for the nearest. Returns 1; 0 if a length is negative, NaN or
// so large that sums might overflow, and -1 for rows that are not sound.
int search(const AnyArray& offsets, const Heads& neighbors, const Array<double>& lengths,
           const std::optional<AnyArray>& transposed_offsets,
           const std::optional<Heads>& transposed_neighbors,
           const std::optional<Array<double>>& transposed_lengths, const Heads& sources,
           bool nearest, bool unit, double limit, std::int32_t none, MutableArray<double> distances,
           const std::optional<Ids>& predecessors, const std::optional<Ids>& origins) {
  PythonMonitor monitor(nb::none(), 0);
  return with_offset_type(offsets, [&]<class Offset>(Type<Offset>) -> int {
    const auto rows = rows_of<Offset>(offsets, neighbors, lengths);
    StoredRows<Offset> transposed;
    if (transposed_offsets) {
      if (transposed_offsets->dtype() != offsets.dtype()) raise_wrong_type();
      transposed = rows_of<Offset>(*transposed_offsets, *transposed_neighbors, transposed_lengths);
    }
    const sssp::StoredRowsRequest request{sources.data(), static_cast<std::int64_t>(sources.size()),
                                          nearest, unit, limit};
    const sssp::StoredRowsAnswer answer{distances.data(),
                                        predecessors ? predecessors->data() : nullptr,
                                        origins ? origins->data() : nullptr, none};
    const GilRelease release;
    const std::int64_t arcs = parallel::relaxed_load(rows.offsets[rows.n]);
    if (arcs < 0 || arcs > rows.stored) return -1;
    if (!sssp::are_simple_lengths(lengths.data(), arcs, rows.n, unit)) return 0;
    try {
      sssp::search_stored_rows(rows, transposed_offsets ? &transposed : nullptr, request, answer,
                               monitor);
    } catch (const BadRow&) {
      return -1;
    }
    return 1;
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
  m.def("search_stored_rows", &search, nb::arg("offsets"), nb::arg("neighbors"), nb::arg("lengths"),
        nb::arg("transposed_offsets").none(), nb::arg("transposed_neighbors").none(),
        nb::arg("transposed_lengths").none(), nb::arg("sources"), nb::arg("nearest"),
        nb::arg("unit"), nb::arg("limit"), nb::arg("none"), nb::arg("distances"),
        nb::arg("predecessors").none(), nb::arg("origins").none());
}

}  // namespace kleene::bindings
