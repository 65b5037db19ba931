// A vertex without predecessor is not visited; the source is its own until the end.
#include "bfs/order.hpp"

#include <algorithm>

namespace kleene::bfs {
namespace {

constexpr std::int64_t kNear = 1 << 16;  // arcs that the caches hold, where prefetching costs time
constexpr std::int64_t kAhead = 8;       // vertices of the queue between two steps of prefetching

template <class Offset, class Id>
void prefetch(const StoredRows<Offset, Id>& rows, const std::int32_t* queue) {
  __builtin_prefetch(&rows.offsets[queue[2 * kAhead]]);
  __builtin_prefetch(&rows.neighbors[relaxed_load(rows.offsets[queue[kAhead]])]);
}

}  // namespace

template <class Offset, class Id>
std::int64_t visit_order(const StoredRows<Offset, Id>& rows,
                         const StoredRows<Offset, Id>* transposed, std::int32_t source,
                         std::int32_t none, std::int32_t* order, std::int32_t* predecessors,
                         Monitor& monitor) {
  std::fill_n(predecessors, rows.n, none);
  predecessors[source] = source;
  order[0] = source;
  std::int64_t end = 1;
  const auto scan = [&](const StoredRows<Offset, Id> of, std::int32_t u) {
    const auto [first, last] = of.row(u);
    std::int32_t* to = order + end;
    for (std::int64_t i = first; i < last; ++i) {
      const std::int32_t v = of.head(i);
      if (predecessors[v] != none) continue;
      predecessors[v] = u;
      *to++ = v;
    }
    end = to - order;
  };
  const bool far = rows.stored > kNear;
  for (std::int64_t at = 0; at < end && end < rows.n; ++at) {
    if (at % 4096 == 0) monitor.poll();
    if (far && at + 2 * kAhead < end) prefetch(rows, order + at);
    scan(rows, order[at]);
    if (transposed != nullptr) scan(*transposed, order[at]);
  }
  predecessors[source] = none;
  return end;
}

template <class Offset, class Id>
std::int64_t tree_rows(const StoredRows<Offset, Id>& rows, const std::int32_t* predecessors,
                       std::int32_t* offsets, std::int32_t* heads, double* lengths) {
  std::int64_t end = 0;
  for (std::int64_t u = 0; u < rows.n; ++u) {
    offsets[u] = static_cast<std::int32_t>(end);
    const auto [first, last] = rows.row(u);
    for (std::int64_t i = first; i < last; ++i) {
      const std::int32_t v = rows.head(i);
      if (predecessors[v] != u) continue;
      if (end == rows.n) throw BadRow{};  // an arc that is stored twice
      heads[end] = v;
      lengths[end] = rows.lengths[i];
      ++end;
    }
  }
  offsets[rows.n] = static_cast<std::int32_t>(end);
  return end;
}

#define KLEENE_STORED_ROWS(Offset, Id)                                                            \
  template std::int64_t visit_order(const StoredRows<Offset, Id>&, const StoredRows<Offset, Id>*, \
                                    std::int32_t, std::int32_t, std::int32_t*, std::int32_t*,     \
                                    Monitor&);                                                    \
  template std::int64_t tree_rows(const StoredRows<Offset, Id>&, const std::int32_t*,             \
                                  std::int32_t*, std::int32_t*, double*);
KLEENE_STORED_ROWS(std::int32_t, std::int32_t)
KLEENE_STORED_ROWS(std::int64_t, std::int32_t)
KLEENE_STORED_ROWS(std::int64_t, std::int64_t)

}  // namespace kleene::bfs
