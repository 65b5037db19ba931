// Floyd-Warshall on one core: after step k, entry (i, j) holds the best path whose inner vertices
// are all at most k (Floyd 1962, Warshall 1962). Any algebra; booleans are bytes.
#include "dense_relax.hpp"

namespace kleene {
namespace {

template <Algebra algebra, class T>
bool close(const DenseMatrix<T>& matrix, const DenseOptions& options, Monitor& monitor) {
  using P = Paths<algebra, T>;
  const std::int64_t n = matrix.n;
  const bool paths = matrix.last != nullptr;
  for (std::int64_t k = 0; k < n; ++k) {
    const T* const b = matrix.row(k);
    if (!P::passable(matrix.row(k)[k])) return false;
    const std::int32_t* const via = paths ? matrix.last_row(k) : nullptr;
    for (std::int64_t i = 0; i < n; ++i) {
      T* const c = matrix.row(i);
      if (i != k) P::relax(c[k], b, via, c, paths ? matrix.last_row(i) : nullptr, n);
    }
    monitor.advance(static_cast<std::uint64_t>(n));
    monitor.poll();
  }
  return true;
}

}  // namespace

template <class T>
bool dense_floyd_warshall(const DenseMatrix<T>& matrix, const DenseOptions& options,
                          Monitor& monitor) {
  if constexpr (std::is_same_v<T, std::uint8_t>) {
    return close<Algebra::kBoolean>(matrix, options, monitor);
  } else {
    if constexpr (std::is_floating_point_v<T>) {
      if (options.algebra == Algebra::kMaxTimes) {
        return close<Algebra::kMaxTimes>(matrix, options, monitor);
      }
    }
    if (options.algebra == Algebra::kMaxMin) {
      return close<Algebra::kMaxMin>(matrix, options, monitor);
    }
    return close<Algebra::kMinPlus>(matrix, options, monitor);
  }
}

template bool dense_floyd_warshall(const DenseMatrix<float>&, const DenseOptions&, Monitor&);
template bool dense_floyd_warshall(const DenseMatrix<double>&, const DenseOptions&, Monitor&);
template bool dense_floyd_warshall(const DenseMatrix<std::int32_t>&, const DenseOptions&, Monitor&);
template bool dense_floyd_warshall(const DenseMatrix<std::int64_t>&, const DenseOptions&, Monitor&);
template bool dense_floyd_warshall(const DenseMatrix<std::uint8_t>&, const DenseOptions&, Monitor&);

}  // namespace kleene
