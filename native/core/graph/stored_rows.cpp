#include "graph/stored_rows.hpp"

#include <algorithm>

namespace kleene::graph {

// The arrays are read twice. If another thread changes them in between, a row might get more arcs
// than were counted: that is checked as well.
template <class Offset, class Id>
TransposedRows<Offset, Id> transpose(const StoredRows<Offset, Id>& rows) {
  const std::int64_t n = rows.n;
  TransposedRows<Offset, Id> made{Buffer<Offset>(n + 1), {}, {}};
  std::fill_n(made.offsets.data(), n + 1, Offset{0});
  for (std::int64_t u = 0; u < n; ++u) {
    const auto [first, last] = rows.row(u);
    for (std::int64_t i = first; i < last; ++i) ++made.offsets[rows.head(i) + 1];
  }
  for (std::int64_t v = 0; v < n; ++v) made.offsets[v + 1] += made.offsets[v];
  const std::int64_t count = made.offsets[n];
  Buffer<Offset> cursors(n);
  std::copy_n(made.offsets.data(), n, cursors.data());
  made.neighbors = Buffer<Id>(count);
  if (rows.lengths) made.lengths = Buffer<double>(count);
  for (std::int64_t u = 0; u < n; ++u) {
    const auto [first, last] = rows.row(u);
    for (std::int64_t i = first; i < last; ++i) {
      const std::int32_t v = rows.head(i);
      const Offset at = cursors[v]++;
      if (at >= made.offsets[v + 1]) throw BadRow{};
      made.neighbors[at] = static_cast<Id>(u);
      if (rows.lengths) made.lengths[at] = rows.lengths[i];
    }
  }
  return made;
}

// What is checked is the copy, which no other thread writes to.

template <class Offset>
bool copy_offsets(const Offset* offsets, std::int64_t n, std::int64_t stored, std::int64_t* copy) {
  std::copy_n(offsets, n + 1, copy);
  bool sound = copy[0] == 0 && copy[n] <= stored;
  for (std::int64_t v = 0; v < n; ++v) sound &= copy[v] <= copy[v + 1];
  return sound;
}

template <class Id>
bool copy_heads(const Id* heads, std::int64_t count, std::int64_t n, std::int32_t* copy) {
  bool sound = true;
  for (std::int64_t i = 0; i < count; ++i) {
    const Id v = heads[i];
    sound &= 0 <= v && v < static_cast<Id>(n);
    copy[i] = static_cast<std::int32_t>(v);
  }
  return sound;
}

#define KLEENE_TRANSPOSE(Offset, Id) \
  template TransposedRows<Offset, Id> transpose(const StoredRows<Offset, Id>&);
KLEENE_TRANSPOSE(std::int32_t, std::int32_t)
KLEENE_TRANSPOSE(std::int64_t, std::int32_t)
KLEENE_TRANSPOSE(std::int64_t, std::int64_t)

template bool copy_offsets(const std::int32_t*, std::int64_t, std::int64_t, std::int64_t*);
template bool copy_offsets(const std::int64_t*, std::int64_t, std::int64_t, std::int64_t*);
template bool copy_heads(const std::int32_t*, std::int64_t, std::int64_t, std::int32_t*);
template bool copy_heads(const std::int64_t*, std::int64_t, std::int64_t, std::int32_t*);

}  // namespace kleene::graph
