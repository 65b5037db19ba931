#include "graph/dense_arcs.hpp"

#include <algorithm>
#include <cmath>
#include <mutex>

#include "parallel/team.hpp"

namespace kleene::graph {
namespace {

constexpr std::int64_t kEntriesPerPiece = 1 << 16;

// Calls body(row) for every row of an n x n matrix, on all threads.
template <class Body>
void each_matrix_row(std::int64_t n, int threads, Monitor& monitor, Body&& body) {
  const std::int64_t grain =
      std::max<std::int64_t>(1, kEntriesPerPiece / std::max<std::int64_t>(1, n));
  parallel_for(n, grain, n * n <= kEntriesPerPiece ? 1 : threads, monitor,
               [&](std::int64_t begin, std::int64_t end, int) {
                 for (std::int64_t row = begin; row < end; ++row) body(row);
               });
}

template <class T>
Magnitude<T> magnitude(T weight) {
  if constexpr (std::is_floating_point_v<T>) return std::abs(weight);
  const auto bits = static_cast<std::uint64_t>(static_cast<std::int64_t>(weight));
  // untestable (< to <=): zero has one magnitude
  return static_cast<Magnitude<T>>(weight < 0 ? 0 - bits : bits);
}

template <class T>
bool is_weight(T entry) {
  if constexpr (std::is_floating_point_v<T>) {
    return entry > -std::numeric_limits<T>::infinity();  // false for NaN
  } else {
    return true;
  }
}

}  // namespace

template <class T>
DenseSummary<T> dense_canonical(const T* entries, std::int64_t n, std::optional<T> null,
                                bool null_nan, T* matrix, std::int64_t* degrees,
                                Magnitude<T>* heaviest, int threads, Monitor& monitor) {
  DenseSummary<T> whole;
  std::mutex guard;
  each_matrix_row(n, threads, monitor, [&](std::int64_t u) {
    const T* const from = entries + u * n;
    T* const row = matrix + u * n;
    DenseSummary<T> own;
    std::int64_t arcs = 0;
    Magnitude<T> heavy = 0;
    for (std::int64_t v = 0; v < n; ++v) {
      const T entry = from[v];
      const bool is_null = (null && entry == *null) || (null_nan && entry != entry);
      if (is_null || entry == kNoPath<T>) {
        row[v] = kNoPath<T>;
        continue;
      }
      row[v] = entry;
      if (!is_weight(entry)) {
        if (own.bad < 0) own.bad = u * n + v;
        continue;
      }
      if (v == u && entry >= 0) continue;
      ++arcs;
      own.lowest = std::min(own.lowest, entry);
      own.highest = std::max(own.highest, entry);
      heavy = std::max(heavy, magnitude(entry));
    }
    if (!(row[u] < 0)) row[u] = 0;  // untestable (< to <=): zero stays zero
    degrees[u] = arcs;
    heaviest[u] = heavy;
    const std::lock_guard lock(guard);
    whole.lowest = std::min(whole.lowest, own.lowest);
    whole.highest = std::max(whole.highest, own.highest);
    // untestable (second < to <=): no two rows share an entry
    if (own.bad >= 0 && (whole.bad < 0 || own.bad < whole.bad)) whole.bad = own.bad;
  });
  return whole;
}

template <class T>
void dense_to_csr(const T* matrix, std::int64_t n, const std::int64_t* offsets,
                  std::int32_t* neighbors, T* weights, int threads, Monitor& monitor) {
  each_matrix_row(n, threads, monitor, [&](std::int64_t u) {
    const T* const row = matrix + u * n;
    std::int64_t arc = offsets[u];
    for (std::int64_t v = 0; v < n; ++v) {
      if (row[v] == kNoPath<T> || (v == u && row[v] >= 0)) continue;
      neighbors[arc] = static_cast<std::int32_t>(v);
      weights[arc++] = row[v];
    }
  });
}

#define KLEENE_DENSE_ARCS(T)                                                                      \
  template DenseSummary<T> dense_canonical(const T*, std::int64_t, std::optional<T>, bool, T*,    \
                                           std::int64_t*, Magnitude<T>*, int, Monitor&);          \
  template void dense_to_csr(const T*, std::int64_t, const std::int64_t*, std::int32_t*, T*, int, \
                             Monitor&);
KLEENE_DENSE_ARCS(float)
KLEENE_DENSE_ARCS(double)
KLEENE_DENSE_ARCS(std::int32_t)
KLEENE_DENSE_ARCS(std::int64_t)
#undef KLEENE_DENSE_ARCS

}  // namespace kleene::graph
