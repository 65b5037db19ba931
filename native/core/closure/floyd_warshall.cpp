// Floyd-Warshall on one core: after step k, entry (i, j) holds the best path whose inner vertices
// are all at most k (Floyd 1962, Warshall 1962). Any semiring; booleans are bytes.
#include "closure/relax_row.hpp"

namespace kleene::closure {
namespace {

template <Semiring semiring, class T>
bool close(const Matrix<T>& matrix, Monitor& monitor) {
  using P = RowRelaxation<semiring, T>;
  const std::int64_t n = matrix.n;
  const bool paths = matrix.predecessors != nullptr;
  for (std::int64_t k = 0; k < n; ++k) {
    const T* const b = matrix.row(k);
    if (!P::passable(matrix.row(k)[k])) return false;
    const std::int32_t* const b_predecessors = paths ? matrix.predecessor_row(k) : nullptr;
    for (std::int64_t i = 0; i < n; ++i) {
      T* const c = matrix.row(i);
      if (i != k)
        P::relax(c[k], b, b_predecessors, c, paths ? matrix.predecessor_row(i) : nullptr, n);
    }
    monitor.advance(static_cast<std::uint64_t>(n));
    monitor.poll();
  }
  return true;
}

}  // namespace

template <class T>
bool floyd_warshall(const Matrix<T>& matrix, const Options& options, Monitor& monitor) {
  if constexpr (std::is_same_v<T, std::uint8_t>) {
    return close<Semiring::kBoolean>(matrix, monitor);
  } else {
    if constexpr (std::is_floating_point_v<T>) {
      if (options.semiring == Semiring::kMaxTimes) {
        return close<Semiring::kMaxTimes>(matrix, monitor);
      }
    }
    if (options.semiring == Semiring::kMaxMin) {
      return close<Semiring::kMaxMin>(matrix, monitor);
    }
    return close<Semiring::kMinPlus>(matrix, monitor);
  }
}

template bool floyd_warshall(const Matrix<float>&, const Options&, Monitor&);
template bool floyd_warshall(const Matrix<double>&, const Options&, Monitor&);
template bool floyd_warshall(const Matrix<std::int32_t>&, const Options&, Monitor&);
template bool floyd_warshall(const Matrix<std::int64_t>&, const Options&, Monitor&);
template bool floyd_warshall(const Matrix<std::uint8_t>&, const Options&, Monitor&);

}  // namespace kleene::closure
