// From arcs to a matrix, and from a closed matrix to result rows.
#include <algorithm>
#include <functional>

#include "closure/closure.hpp"
#include "parallel/team.hpp"

namespace kleene::closure {
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
void fill(const Matrix<T>& matrix, const MatrixArcs<T>& arcs, Elements<T> elements, int threads,
          Monitor& monitor) {
  each_row(matrix.n, matrix.n, threads, monitor, [&](std::int64_t u) {
    T* const row = matrix.row(u);
    std::int32_t* const predecessors =
        matrix.predecessors == nullptr ? nullptr : matrix.predecessor_row(u);
    std::fill_n(row, matrix.n, elements.zero);
    if (predecessors != nullptr) std::fill_n(predecessors, matrix.n, -1);
    row[u] = elements.one;
    if (!arcs.uses(u)) return;
    for (std::int64_t arc = arcs.offsets[u]; arc < arcs.offsets[u + 1]; ++arc) {
      const std::int32_t v = arcs.neighbors[arc];
      if (!elements.better(arcs.weight(arc), row[v])) continue;  // a loop, or as good as no arc
      row[v] = arcs.weight(arc);
      if (predecessors != nullptr && v != u) predecessors[v] = static_cast<std::int32_t>(u);
    }
  });
}

void fill_bits(const Matrix<std::uint64_t>& matrix, const std::int64_t* offsets,
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
void fill_from_matrix(const T* weights, const Matrix<Out>& matrix, Elements<Out> elements,
                      int threads, Monitor& monitor) {
  const std::int64_t n = matrix.n;
  const auto fill_row = [&](std::int64_t u, auto better) {  // known when compiled, for vectors
    const T* const from = weights + u * n;
    Out* const row = matrix.row(u);
    for (std::int64_t v = 0; v < n; ++v) {
      const Out weight = from[v] == kNoPath<T> ? elements.zero : static_cast<Out>(from[v]);
      row[v] = better(weight, elements.zero) ? weight : elements.zero;  // as good as no arc
    }
    if (!better(row[u], elements.one)) row[u] = elements.one;
    if (matrix.predecessors == nullptr) return;
    std::int32_t* const predecessors = matrix.predecessor_row(u);
    for (std::int64_t v = 0; v < n; ++v) {
      predecessors[v] = row[v] == elements.zero ? -1 : static_cast<std::int32_t>(u);
    }
    predecessors[u] = -1;
  };
  each_row(n, n, threads, monitor, [&](std::int64_t u) {
    if (elements.smaller_is_better) {
      fill_row(u, std::less<Out>());
    } else {
      fill_row(u, std::greater<Out>());
    }
  });
}

template <class T, class Out>
void export_rows(const Matrix<T>& matrix, T lowest, T highest, Out no_path,
                 const OutputRows<Out>& to, int threads, Monitor& monitor) {
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

void export_bit_rows(const Matrix<std::uint64_t>& matrix, const OutputRows<bool>& to, int threads,
                     Monitor& monitor) {
  each_row(to.count, matrix.n, threads, monitor, [&](std::int64_t i) {
    const std::uint64_t* const from = matrix.row(to.rows[i]);
    bool* const values = to.values + i * matrix.n;
    for (std::int64_t v = 0; v < matrix.n; ++v) values[v] = from[v / 64] >> (v % 64) & 1;
  });
}

#define KLEENE_FILL(T) \
  template void fill(const Matrix<T>&, const MatrixArcs<T>&, Elements<T>, int, Monitor&);
KLEENE_FILL(float)
KLEENE_FILL(double)
KLEENE_FILL(std::int16_t)
KLEENE_FILL(std::int32_t)
KLEENE_FILL(std::int64_t)
KLEENE_FILL(std::uint8_t)
#undef KLEENE_FILL

#define KLEENE_FILL_FROM(T, Out) \
  template void fill_from_matrix(const T*, const Matrix<Out>&, Elements<Out>, int, Monitor&);
KLEENE_FILL_FROM(float, float)
KLEENE_FILL_FROM(double, double)
KLEENE_FILL_FROM(std::int32_t, std::int32_t)
KLEENE_FILL_FROM(std::int64_t, std::int64_t)
KLEENE_FILL_FROM(std::int32_t, std::int16_t)
KLEENE_FILL_FROM(std::int64_t, std::int16_t)
#undef KLEENE_FILL_FROM

#define KLEENE_EXPORT(T, Out) \
  template void export_rows(const Matrix<T>&, T, T, Out, const OutputRows<Out>&, int, Monitor&);
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

}  // namespace kleene::closure
