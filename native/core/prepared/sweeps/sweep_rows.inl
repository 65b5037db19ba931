// From lines, a vertex each, to rows, a source each: squares of as many lines as a vector has lanes
// are transposed in registers. Included beside sweep_kernel.inl, by the same rule.
#include "prepared/sweeps/sweep_kernel.hpp"

namespace kleene::prepared::KLEENE_LEVEL {
namespace {

template <int... I>
struct Sequence {};
template <int N, int... I>
struct CountTo : CountTo<N - 1, N - 1, I...> {};
template <int... I>
struct CountTo<0, I...> {
  using Result = Sequence<I...>;
};

// Exchanges the lanes of two rows that are off the diagonal of their blocks of S by S.
template <int S, class V, int... I>
void exchange(V& upper, V& lower, Sequence<I...>) {
  constexpr int N = sizeof...(I);
  const V a = __builtin_shufflevector(upper, lower, ((I & S) ? N + I - S : I)...);
  const V b = __builtin_shufflevector(upper, lower, ((I & S) ? N + I : I + S)...);
  upper = a;
  lower = b;
}

template <class T>
struct Square {
  using Values = typename Lanes<T>::Values;
  static constexpr int N = Lanes<T>::kCount;
  Values rows[N];

  template <int S = N / 2>
  void transpose() {
#pragma GCC unroll 16
    for (int i = 0; i < N; ++i) {
      if (!(i & S)) exchange<S>(rows[i], rows[i + S], typename CountTo<N>::Result{});
    }
    if constexpr (S > 1) transpose<S / 2>();
  }
};

template <class V, int Begin, int... I>
auto slice(const V& v, Sequence<I...>) {
  return __builtin_shufflevector(v, v, (Begin + I)...);
}

// Stores a vector, wider values by halves.
template <class Out, class V>
void put(const V& v, Replacement<Out> replacement, Out* to) {
  constexpr int kCount = sizeof(v) / sizeof(v[0]);
  if constexpr (kCount * sizeof(Out) > KLEENE_BYTES) {
    using Half = typename CountTo<kCount / 2>::Result;
    put(slice<V, 0>(v, Half{}), replacement, to);
    put(slice<V, kCount / 2>(v, Half{}), replacement, to + kCount / 2);
  } else {
    typedef Out Wide __attribute__((vector_size(kCount * sizeof(Out))));
    const Wide wide = __builtin_convertvector(v, Wide);
    const Wide inside = replacement.inside - Wide{}, outside = replacement.outside - Wide{};
    store(to, wide == inside ? outside : wide);
  }
}

template <class T, class Out>
void write(const T* lines, const std::int32_t* columns, std::int64_t begin, std::int64_t end,
           Replacement<Out> replacement, int count, Out* const* rows) {
  const auto line = [&](std::int64_t j) { return lines + (columns ? columns[j] : j) * kLanes<T>; };
  std::int64_t j = begin;
  if constexpr (sizeof(T) >= 4 && sizeof(Out) >= 4) {
    constexpr int N = Square<T>::N;
    for (; j + N <= end; j += N) {
      for (int first = 0; first < count; first += N) {
        Square<T> square;
#pragma GCC unroll 16
        for (int i = 0; i < N; ++i) {
          square.rows[i] = load<typename Square<T>::Values>(line(j + i) + first);
        }
        square.transpose();
#pragma GCC unroll 16
        for (int i = 0; i < N; ++i) {
          if (first + i < count) put(square.rows[i], replacement, rows[first + i] + j);
        }
      }
    }
  }
  for (; j < end; ++j) {
    for (int k = 0; k < count; ++k) {
      const Out value = static_cast<Out>(line(j)[k]);
      rows[k][j] = value == replacement.inside ? replacement.outside : value;
    }
  }
}

}  // namespace

template <class T, class Out>
WriteRows<T, Out>* write_rows() {
  return &write<T, Out>;
}

#define KLEENE_WRITE(T, Out) template WriteRows<T, Out>* write_rows();
KLEENE_WRITE(float, float)
KLEENE_WRITE(double, double)
KLEENE_WRITE(std::int32_t, std::int32_t)
KLEENE_WRITE(std::int32_t, std::int64_t)
KLEENE_WRITE(std::int32_t, bool)
KLEENE_WRITE(std::int64_t, std::int64_t)
KLEENE_WRITE(std::int64_t, std::int32_t)
KLEENE_WRITE(std::uint8_t, bool)
#undef KLEENE_WRITE

}  // namespace kleene::prepared::KLEENE_LEVEL
