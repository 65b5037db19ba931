#include "spmv/spmv.hpp"

#include <algorithm>
#include <limits>
#include <type_traits>
#include <vector>

#include "graph/no_path.hpp"
#include "parallel/buffer.hpp"
#include "parallel/team.hpp"

namespace kleene::spmv {
namespace {

constexpr std::int64_t kRowGrain = 1 << 10;
constexpr std::int64_t kColumnGrain = 1 << 8;
constexpr std::int64_t kArcGrain = 1 << 14;

// ---- the semirings ------------------------------------------------------------------------------

template <class T>
constexpr T kLowest = std::is_floating_point_v<T> ? -std::numeric_limits<T>::infinity()
                                                  : std::numeric_limits<T>::min();

template <class T>
struct MinPlus {
  static T zero() { return kNoPath<T>; }
  static T add(T a, T b) { return std::min(a, b); }
  static T times(T a, T w) {
    if constexpr (std::is_integral_v<T>) {  // "no path" stays so
      T sum;
      if (a == kNoPath<T>) return a;
      // untestable (< to <=): a sum with zero does not overflow
      if (__builtin_add_overflow(a, w, &sum)) return w < 0 ? kLowest<T> : kNoPath<T>;
      return sum;
    } else {
      return a + w;
    }
  }
};

template <class T>
struct Boolean {
  static T zero() { return T{0}; }
  static T add(T a, T b) { return static_cast<T>(a | b); }
  static T times(T a, T) { return a; }
};

template <class T>
struct MaxMin {
  static T zero() { return kLowest<T>; }
  static T add(T a, T b) { return std::max(a, b); }
  static T times(T a, T w) { return std::min(a, w); }
};

template <class T>
struct PlusTimes {
  using Wide = std::conditional_t<std::is_integral_v<T>, std::uint64_t, T>;  // wraps, as NumPy's
  static T zero() { return T{0}; }
  static T add(T a, T b) { return static_cast<T>(static_cast<Wide>(a) + static_cast<Wide>(b)); }
  static T times(T a, T w) { return static_cast<T>(static_cast<Wide>(a) * static_cast<Wide>(w)); }
};

template <class T>
struct MaxTimes {
  static T zero() { return T{0}; }
  static T add(T a, T b) { return std::max(a, b); }
  static T times(T a, T w) { return PlusTimes<T>::times(a, w); }
};

// ---- the forms ----------------------------------------------------------------------------------

template <class Id, class T>
T weight(const MatrixForm<Id, T>& a, std::int64_t arc) {
  return a.weights == nullptr ? T{1} : a.weights[arc];
}

// Calls arc(u, v, w) for the arcs of pieces of the rows, or of the arcs (COO).
template <class Id, class T, class Arc>
void for_each_arc(const MatrixForm<Id, T>& a, std::int64_t begin, std::int64_t end, Arc&& arc) {
  using Kind = typename MatrixForm<Id, T>::Kind;
  if (a.kind == Kind::kCoo) {
    for (std::int64_t i = begin; i < end; ++i) arc(a.tails[i], a.ids[i], weight(a, i));
    return;
  }
  for (std::int64_t u = begin; u < end; ++u) {
    const bool padded = a.kind == Kind::kEll;
    const std::int64_t first = padded ? u * a.width : a.offsets[u];
    const std::int64_t last = padded ? first + a.width : a.offsets[u + 1];
    for (std::int64_t i = first; i < last && a.ids[i] >= 0; ++i) {
      arc(static_cast<Id>(u), a.ids[i], weight(a, i));
    }
  }
}

// Arcs by tail: every thread adds into a y of its own, then all add these up.
template <class S, class Id, class T>
void scatter(const MatrixForm<Id, T>& a, const T* x, T* y, int threads, Monitor& monitor) {
  const bool by_arc = a.kind == MatrixForm<Id, T>::Kind::kCoo;
  std::vector<Buffer<T>> own(static_cast<std::size_t>(threads));
  run_team(threads, monitor, [&](Team::Worker& worker) {
    const int thread = worker.thread();
    // untestable (> to >=): memory that the leader does not use
    if (thread > 0) own[thread] = Buffer<T>(a.n);
    T* sums = thread > 0 ? own[thread].data() : y;
    std::fill(sums, sums + a.n, S::zero());
    worker.loop(by_arc ? a.arcs : a.n, by_arc ? kArcGrain : kRowGrain,
                [&](std::int64_t begin, std::int64_t end) {
                  for_each_arc(a, begin, end, [&](Id u, Id v, T w) {
                    sums[v] = S::add(sums[v], S::times(x[u], w));
                  });
                });
    worker.loop(a.n, kRowGrain, [&](std::int64_t begin, std::int64_t end) {
      for (int other = 1; other < worker.threads(); ++other) {
        for (std::int64_t v = begin; v < end; ++v) y[v] = S::add(y[v], own[other][v]);
      }
    });
  });
}

// Arcs by head: every y[v] is one sum.
template <class S, class Id, class T>
void gather(const MatrixForm<Id, T>& a, const T* x, T* y, int threads, Monitor& monitor) {
  parallel_for(a.n, kRowGrain, threads, monitor, [&](std::int64_t begin, std::int64_t end, int) {
    for (std::int64_t v = begin; v < end; ++v) {
      T sum = S::zero();
      for (std::int64_t i = a.offsets[v]; i < a.offsets[v + 1]; ++i) {
        sum = S::add(sum, S::times(x[a.ids[i]], weight(a, i)));
      }
      y[v] = sum;
    }
  });
}

// Adds along some cells of a row. Sums are made for all of them and chosen from, so that vector
// instructions can do it.
template <class S, class T>
void add_row(T from, const T* __restrict row, T no_arc, T* __restrict y, std::int64_t count) {
  for (std::int64_t v = 0; v < count; ++v) {
    const T sum = S::add(y[v], S::times(from, row[v]));
    y[v] = row[v] == no_arc ? y[v] : sum;
  }
}

// A thread takes some columns, as many as it can, and goes down all rows. The diagonal of a graph's
// matrix is the empty path, which is no arc, unless it holds a (negative) loop.
template <class S, class T>
void dense(std::int64_t n, const T* weights, T no_arc, const T* x, T* y, int threads,
           Monitor& monitor) {
  const std::int64_t grain = std::max(kColumnGrain, (n + threads - 1) / threads);
  parallel_for(n, grain, threads, monitor, [&](std::int64_t begin, std::int64_t end, int) {
    std::fill(y + begin, y + end, S::zero());
    for (std::int64_t u = 0; u < n; ++u) {
      const T* row = weights + u * n;
      const std::int64_t split = row[u] == T{0} ? std::clamp(u, begin, end) : end;
      add_row<S>(x[u], row + begin, no_arc, y + begin, split - begin);
      const std::int64_t rest = split == u ? u + 1 : split;
      // untestable (< to <=): adds along no cells
      if (rest < end) add_row<S>(x[u], row + rest, no_arc, y + rest, end - rest);
    }
  });
}

template <class S, class Id, class T>
void multiply_by(const MatrixForm<Id, T>& a, const T* x, T* y, int threads, Monitor& monitor) {
  using Kind = typename MatrixForm<Id, T>::Kind;
  switch (a.kind) {
    case Kind::kCsc:
      return gather<S>(a, x, y, threads, monitor);
    case Kind::kDense:
      return dense<S>(a.n, a.weights, a.no_arc, x, y, threads, monitor);
    default:
      return scatter<S>(a, x, y, threads, monitor);
  }
}

}  // namespace

template <class Id, class T>
void multiply(Semiring semiring, const MatrixForm<Id, T>& a, const T* x, T* y, int threads,
              Monitor& monitor) {
  switch (semiring) {
    case Semiring::kMinPlus:
      return multiply_by<MinPlus<T>>(a, x, y, threads, monitor);
    case Semiring::kMaxMin:
      return multiply_by<MaxMin<T>>(a, x, y, threads, monitor);
    case Semiring::kMaxTimes:
      return multiply_by<MaxTimes<T>>(a, x, y, threads, monitor);
    case Semiring::kPlusTimes:
      return multiply_by<PlusTimes<T>>(a, x, y, threads, monitor);
    case Semiring::kBoolean:
      if constexpr (std::is_integral_v<T>)
        return multiply_by<Boolean<T>>(a, x, y, threads, monitor);
  }
}

#define KLEENE_INSTANTIATE(Id, T) \
  template void multiply(Semiring, const MatrixForm<Id, T>&, const T*, T*, int, Monitor&);
#define KLEENE_INSTANTIATE_ALL(Id)     \
  KLEENE_INSTANTIATE(Id, float)        \
  KLEENE_INSTANTIATE(Id, double)       \
  KLEENE_INSTANTIATE(Id, std::int32_t) \
  KLEENE_INSTANTIATE(Id, std::int64_t)
KLEENE_INSTANTIATE_ALL(std::int32_t)
KLEENE_INSTANTIATE_ALL(std::int64_t)

}  // namespace kleene::spmv
