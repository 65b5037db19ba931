// From arcs to a matrix, and from a closed matrix to the answer.
#include <algorithm>

#include "dense.hpp"
#include "parallel.hpp"

namespace kleene {
namespace {

constexpr std::int64_t kEntriesPerPiece = 1 << 16;

// Calls body(row) for every row, on all threads, counting no progress.
template <class Body>
void each_row(std::int64_t rows, std::int64_t n, int threads, Monitor& monitor, Body&& body) {
  if (rows * n <= kEntriesPerPiece) threads = 1;
  const std::int64_t grain =
      std::max<std::int64_t>(1, kEntriesPerPiece / std::max<std::int64_t>(1, n));
  Monitor uncounted;
  parallel_for(rows, grain, threads, uncounted,
               [&](std::int64_t begin, std::int64_t end, int thread) {
                 for (std::int64_t row = begin; row < end; ++row) body(row);
                 if (thread == 0) monitor.poll();
               });
}

}  // namespace

template <class T>
void dense_fill(const DenseMatrix<T>& matrix, const DenseArcs<T>& arcs, Scale<T> scale, int threads,
                Monitor& monitor) {
  each_row(matrix.n, matrix.n, threads, monitor, [&](std::int64_t u) {
    T* const row = matrix.row(u);
    std::int32_t* const last = matrix.last == nullptr ? nullptr : matrix.last_row(u);
    std::fill_n(row, matrix.n, scale.zero);
    if (last != nullptr) std::fill_n(last, matrix.n, -1);
    row[u] = scale.one;
    if (!arcs.uses(u)) return;
    for (std::int64_t arc = arcs.offsets[u]; arc < arcs.offsets[u + 1]; ++arc) {
      const std::int32_t v = arcs.neighbors[arc];
      if (!scale.better(arcs.weight(arc), row[v])) continue;  // a loop, or as good as no arc
      row[v] = arcs.weight(arc);
      if (last != nullptr && v != u) last[v] = static_cast<std::int32_t>(u);
    }
  });
}

void dense_fill_bits(const DenseMatrix<std::uint64_t>& matrix, const std::int64_t* offsets,
                     const std::int32_t* neighbors, int threads, Monitor& monitor) {
  each_row(matrix.n, matrix.stride(), threads, monitor, [&](std::int64_t u) {
    std::uint64_t* const row = matrix.row(u);
    const auto set = [&](std::int64_t v) { row[v / 64] |= std::uint64_t{1} << (v % 64); };
    std::fill_n(row, matrix.stride(), 0);
    set(u);
    for (std::int64_t arc = offsets[u]; arc < offsets[u + 1]; ++arc) set(neighbors[arc]);
  });
}

template <class T, class Out>
void dense_export(const DenseMatrix<T>& matrix, T lowest, T highest, Out no_path,
                  const DenseRows<Out>& to, int threads, Monitor& monitor) {
  each_row(to.count, matrix.n, threads, monitor, [&](std::int64_t i) {
    const T* const from = matrix.row(to.rows[i]);
    Out* const values = to.values + i * matrix.n;
    for (std::int64_t v = 0; v < matrix.n; ++v) {
      const bool reached = lowest <= from[v] && from[v] <= highest;
      if constexpr (std::is_same_v<Out, std::uint8_t>) {
        values[v] = reached;
      } else {
        values[v] = reached ? static_cast<Out>(from[v]) : no_path;
      }
    }
  });
}

void dense_export_bits(const DenseMatrix<std::uint64_t>& matrix, const DenseRows<bool>& to,
                       int threads, Monitor& monitor) {
  each_row(to.count, matrix.n, threads, monitor, [&](std::int64_t i) {
    const std::uint64_t* const from = matrix.row(to.rows[i]);
    bool* const values = to.values + i * matrix.n;
    for (std::int64_t v = 0; v < matrix.n; ++v) values[v] = from[v / 64] >> (v % 64) & 1;
  });
}

#define KLEENE_FILL(T) \
  template void dense_fill(const DenseMatrix<T>&, const DenseArcs<T>&, Scale<T>, int, Monitor&);
KLEENE_FILL(float)
KLEENE_FILL(double)
KLEENE_FILL(std::int16_t)
KLEENE_FILL(std::int32_t)
KLEENE_FILL(std::int64_t)
KLEENE_FILL(std::uint8_t)
#undef KLEENE_FILL

#define KLEENE_EXPORT(T, Out)                                                              \
  template void dense_export(const DenseMatrix<T>&, T, T, Out, const DenseRows<Out>&, int, \
                             Monitor&);
KLEENE_EXPORT(float, float)
KLEENE_EXPORT(double, double)
KLEENE_EXPORT(std::int32_t, std::int32_t)
KLEENE_EXPORT(std::int64_t, std::int64_t)
KLEENE_EXPORT(std::int16_t, std::int32_t)
KLEENE_EXPORT(std::int16_t, std::int64_t)
KLEENE_EXPORT(std::int32_t, std::uint8_t)
KLEENE_EXPORT(std::int16_t, double)
KLEENE_EXPORT(std::int32_t, double)
KLEENE_EXPORT(std::int64_t, double)
#undef KLEENE_EXPORT

}  // namespace kleene
