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
void fill(const Rectangle<T>& part, const MatrixArcs<T>& arcs, Elements<T> elements, int threads,
          Monitor& monitor) {
  each_row(part.rows, part.columns, threads, monitor, [&](std::int64_t i) {
    const std::int64_t u = part.first_row + i, own = u - part.first_column;
    T* const row = part.values + i * part.columns;
    std::int32_t* const predecessors =
        part.predecessors == nullptr ? nullptr : part.predecessors + i * part.columns;
    std::fill_n(row, part.columns, elements.zero);
    if (predecessors != nullptr) std::fill_n(predecessors, part.columns, -1);
    if (own >= 0 && own < part.columns) row[own] = elements.one;
    if (!arcs.uses(u)) return;
    part.each_arc(arcs.offsets, arcs.neighbors, u, [&](std::int64_t arc, std::int64_t v) {
      if (!elements.better(arcs.weight(arc), row[v])) return;  // a loop, or as good as no arc
      row[v] = arcs.weight(arc);
      if (predecessors != nullptr && v != own) predecessors[v] = static_cast<std::int32_t>(u);
    });
  });
}

void fill_bits(const Rectangle<std::uint64_t>& part, const std::int64_t* offsets,
               const std::int32_t* neighbors, int threads, Monitor& monitor) {
  each_row(part.rows, part.stride(), threads, monitor, [&](std::int64_t i) {
    const std::int64_t u = part.first_row + i, own = u - part.first_column;
    std::uint64_t* const row = part.values + i * part.stride();
    const auto set = [&](std::int64_t v) { row[v / 64] |= std::uint64_t{1} << (v % 64); };
    std::fill_n(row, part.stride(), 0);
    if (own >= 0 && own < part.columns) set(own);
    part.each_arc(offsets, neighbors, u, [&](std::int64_t, std::int64_t v) { set(v); });
  });
}

template <class T, class Out>
void fill_from_matrix(const T* weights, std::int64_t n, const Rectangle<Out>& part,
                      Elements<Out> elements, int threads, Monitor& monitor) {
  const auto fill_row = [&](std::int64_t i, auto better) {  // known when compiled, for vectors
    const std::int64_t u = part.first_row + i, own = u - part.first_column;
    const T* const from = weights + u * n + part.first_column;
    Out* const row = part.values + i * part.columns;
    for (std::int64_t v = 0; v < part.columns; ++v) {
      const Out weight = from[v] == kNoPath<T> ? elements.zero : static_cast<Out>(from[v]);
      row[v] = better(weight, elements.zero) ? weight : elements.zero;  // as good as no arc
    }
    const bool has_own = own >= 0 && own < part.columns;
    if (has_own && !better(row[own], elements.one)) row[own] = elements.one;
    if (part.predecessors == nullptr) return;
    std::int32_t* const predecessors = part.predecessors + i * part.columns;
    for (std::int64_t v = 0; v < part.columns; ++v) {
      predecessors[v] = row[v] == elements.zero ? -1 : static_cast<std::int32_t>(u);
    }
    if (has_own) predecessors[own] = -1;
  };
  each_row(part.rows, part.columns, threads, monitor, [&](std::int64_t i) {
    if (elements.smaller_is_better) {
      fill_row(i, std::less<Out>());
    } else {
      fill_row(i, std::greater<Out>());
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
  template void fill(const Rectangle<T>&, const MatrixArcs<T>&, Elements<T>, int, Monitor&);
KLEENE_FILL(float)
KLEENE_FILL(double)
KLEENE_FILL(std::int16_t)
KLEENE_FILL(std::int32_t)
KLEENE_FILL(std::int64_t)
KLEENE_FILL(std::uint8_t)
#undef KLEENE_FILL

#define KLEENE_FILL_FROM(T, Out)                                                               \
  template void fill_from_matrix(const T*, std::int64_t, const Rectangle<Out>&, Elements<Out>, \
                                 int, Monitor&);
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
