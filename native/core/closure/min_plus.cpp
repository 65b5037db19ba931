// All pairs by min-plus matrix products: the square of the matrix of paths of at most m arcs is the
// matrix of paths of at most 2 m arcs, so that log2(n) squarings are enough (Cormen et al. 2009,
// section 25.1), and fewer when a square changes nothing. Products are computed by blocks of rows,
// which the threads share, and by blocks of inner vertices, whose rows stay in the cache.
//
// Integers do not wrap along a negative cycle: while every cycle of at most m arcs weighs nothing
// or more, a walk of at most 2 m arcs is a path and at most one cycle, and the diagonal is checked
// after every product.
#include <algorithm>
#include <atomic>
#include <utility>

#include "closure/relax_row.hpp"
#include "parallel/buffer.hpp"
#include "parallel/team.hpp"

namespace kleene::closure {
namespace {

constexpr std::int64_t kRows = 16, kInner = 64;

// to = from, improved by from times from; returns whether anything improved.
template <class T>
bool square(const Matrix<T>& from, const Matrix<T>& to, int threads, Monitor& monitor) {
  using P = RowRelaxation<Semiring::kMinPlus, T>;
  const std::int64_t n = from.n;
  const bool paths = from.predecessors != nullptr;
  std::atomic<bool> improved{false};
  parallel_for(n, kRows, threads, monitor, [&](std::int64_t begin, std::int64_t end, int) {
    std::copy_n(from.row(begin), (end - begin) * n, to.row(begin));
    if (paths)
      std::copy_n(from.predecessor_row(begin), (end - begin) * n, to.predecessor_row(begin));
    // untestable (< to <=): a block more, of no vertices
    for (std::int64_t inner = 0; inner < n; inner += kInner) {
      for (std::int64_t i = begin; i < end; ++i) {
        for (std::int64_t k = inner; k < std::min(inner + kInner, n); ++k) {
          if (i == k) continue;
          P::relax(from.row(i)[k], from.row(k), paths ? from.predecessor_row(k) : nullptr,
                   to.row(i), paths ? to.predecessor_row(i) : nullptr, n);
        }
      }
      if (monitor.cancelled()) return;
    }
    if (!std::equal(to.row(begin), to.row(end), from.row(begin))) improved = true;
  });
  return improved;
}

}  // namespace

template <class T>
bool min_plus(const Matrix<T>& matrix, const Options& options, Monitor& monitor) {
  using P = RowRelaxation<Semiring::kMinPlus, T>;
  const std::int64_t n = matrix.n;
  Buffer<T> values(n * n);
  Buffer<std::int32_t> predecessors(matrix.predecessors == nullptr ? 0 : n * n);
  Matrix<T> now = matrix,
            next{n, values.data(), predecessors.size() == 0 ? nullptr : predecessors.data()};
  for (std::int64_t arcs = 1;; arcs *= 2) {
    for (std::int64_t k = 0; k < n; ++k) {
      if (!P::passable(now.row(k)[k])) return false;
    }
    // In spite of rounding, paths of n - 1 arcs are all there are.
    // untestable (>= to >): a further square improves nothing
    if (arcs >= 2 * n || !square(now, next, options.threads, monitor)) break;
    std::swap(now, next);
  }
  // untestable (!= to ==): the last square improved nothing, so both matrices are equal
  if (now.values != matrix.values) {
    std::copy_n(now.values, n * n, matrix.values);
    if (matrix.predecessors != nullptr) std::copy_n(now.predecessors, n * n, matrix.predecessors);
  }
  return true;
}

template bool min_plus(const Matrix<float>&, const Options&, Monitor&);
template bool min_plus(const Matrix<double>&, const Options&, Monitor&);
template bool min_plus(const Matrix<std::int32_t>&, const Options&, Monitor&);
template bool min_plus(const Matrix<std::int64_t>&, const Options&, Monitor&);

}  // namespace kleene::closure
