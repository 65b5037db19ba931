// Climbs and sweeps in lanes, and rows from lines, written once with the compiler's vector types
// and compiled for each instruction set: see the rule in simd/levels.hpp.
#if defined(__SSE2__)
#include <immintrin.h>
#endif

#include "closure/tile_arithmetic.inl"
#include "prepared/sweeps/sweep_kernel.hpp"

namespace kleene::prepared::KLEENE_LEVEL {
namespace {

using namespace closure::KLEENE_LEVEL;

// A sum with "no path" is no path, even if what is added is negative.
struct SignedMinPlus : MinPlus {};

template <class Op, class V>
V extend(V a, V b, [[maybe_unused]] V zero) {
  if constexpr (std::is_same_v<Op, SignedMinPlus>) {
    const V sum = a + b;
    return (a == zero) | (b == zero) ? zero : sum;
  } else {
    return Op{}.times(a, b);
  }
}

template <class T>
Lines<T> line_at(const Lines<T>& lines, std::int64_t i) {
  return {lines.values + i * kLanes<T>,
          lines.predecessors ? lines.predecessors + i * kLanes<T> : nullptr};
}

// Past the caches: a line that is next read when many others have been written.
template <class T, class V>
void stream(T* to, V v) {
#if defined(__AVX512F__)
  _mm512_stream_si512(reinterpret_cast<__m512i*>(to), (__m512i)v);
#elif defined(__AVX2__)
  _mm256_stream_si256(reinterpret_cast<__m256i*>(to), (__m256i)v);
#elif defined(__SSE2__)
  _mm_stream_si128(reinterpret_cast<__m128i*>(to), (__m128i)v);
#else
  store(to, v);
#endif
}

// A line in registers; that of predecessors is not touched where these are not kept.
template <class T, bool kPaths>
struct Line {
  using Values = typename Lanes<T>::Values;
  using Indices = typename Lanes<T>::Indices;
  static constexpr int kParts = kLineBytes / KLEENE_BYTES, kWidth = Lanes<T>::kCount;
  Values values[kParts];
  Indices predecessors[kPaths ? kParts : 1];

  void fill(T zero) {
    for (int p = 0; p < kParts; ++p) values[p] = zero - Values{};
    if constexpr (kPaths) {
      for (int p = 0; p < kParts; ++p) predecessors[p] = Indices{} - 1;
    }
  }
  void read(Lines<T> from) {
    for (int p = 0; p < kParts; ++p) values[p] = load<Values>(from.values + p * kWidth);
    if constexpr (kPaths) {
      for (int p = 0; p < kParts; ++p) {
        predecessors[p] = load<Indices>(from.predecessors + p * kWidth);
      }
    }
  }
  void write(Lines<T> to) const {
    for (int p = 0; p < kParts; ++p) store(to.values + p * kWidth, values[p]);
    if constexpr (kPaths) {
      for (int p = 0; p < kParts; ++p) store(to.predecessors + p * kWidth, predecessors[p]);
    }
  }
  void stream_to(Lines<T> to) const {
    for (int p = 0; p < kParts; ++p) stream(to.values + p * kWidth, values[p]);
    if constexpr (kPaths) {
      for (int p = 0; p < kParts; ++p) stream(to.predecessors + p * kWidth, predecessors[p]);
    }
  }

  // Takes in each lane the better of itself and of `from` extended by an arc.
  template <class Op>
  void relax(const T* from, const DepthArcs<T>& arcs, std::int64_t arc, T zero) {
    const Values value = arcs.values[arc] - Values{};
    for (int p = 0; p < kParts; ++p) {
      const Values through = extend<Op>(load<Values>(from + p * kWidth), value, zero - Values{});
      if constexpr (kPaths) {
        Values old = values[p];
        const Indices improves = Op{}.better(through, old);
        separate(old, improves);
        values[p] = Op{}.best(through, old);
        predecessors[p] = improves ? Indices{} + arcs.last[arc] : predecessors[p];
      } else {
        values[p] = Op{}.best(through, values[p]);
      }
    }
  }
};

template <class T, class Op, bool kPaths>
void climb(const DepthArcs<T>& all_arcs, std::int64_t vertex, const T* from, T zero,
           Lines<T> by_depth) {
  const DepthArcs<T> arcs = all_arcs;
  for (std::int64_t i = arcs.offsets[vertex]; i < arcs.offsets[vertex + 1]; ++i) {
    const Lines<T> at = line_at(by_depth, arcs.depths[i]);
    Line<T, kPaths> head;
    head.read(at);
    head.template relax<Op>(from, arcs, i, zero);
    head.write(at);
  }
}

// Most vertices have at most four upward neighbors, and how many is hard to predict: so four arcs
// are relaxed in any case, the first of them more than once where there are fewer. That is the arc
// to the parent, whose line has often just been computed, and is waited for last.
template <class T, class Op, bool kPaths>
void sweep(const DepthArcs<T>& all_arcs, const SweepRun<T>& whole_run, T zero) {
  constexpr int kAtOnce = 4;
  const DepthArcs<T> arcs = all_arcs;  // copies, which no store can change
  const SweepRun<T> run = whole_run;
  const Lines<T> by_depth = run.by_depth;
  const std::int32_t* const depths = arcs.depths;
  Line<T, kPaths> line;
  line.read(run.initial);
  std::int64_t end = arcs.offsets[run.first + 1];
  for (std::int64_t v = run.first; v > run.first - run.count; --v) {
    const std::int64_t begin = arcs.offsets[v];
    std::int64_t i = end - 1, depth = 0;
    if (i >= begin) {
      for (; i - begin >= kAtOnce; i -= kAtOnce) {
#pragma GCC unroll 4
        for (int a = 0; a < kAtOnce; ++a) {
          line.template relax<Op>(line_at(by_depth, depths[i - a]).values, arcs, i - a, zero);
        }
      }
#pragma GCC unroll 4
      for (int a = 0; a < kAtOnce; ++a) {
        const std::int64_t arc = i - a < begin ? begin : i - a;
        line.template relax<Op>(line_at(by_depth, depths[arc]).values, arcs, arc, zero);
      }
      depth = depths[begin] + 1;
    }
    line.write(line_at(by_depth, depth));
    const Lines<T> to = line_at(run.lines, run.places[v]);
    run.stream ? line.stream_to(to) : line.write(to);
    line.fill(zero);
    end = begin;
  }
}

template <class T, class Op>
SweepKernel<T> make() {
  SweepKernel<T> kernel{&climb<T, Op, false>, &sweep<T, Op, false>};
  if constexpr (sizeof(T) >= 4) {
    kernel.climb_paths = &climb<T, Op, true>;
    kernel.sweep_paths = &sweep<T, Op, true>;
  }
  return kernel;
}

}  // namespace

// Only the combinations that plans use are compiled: max-times for floats; booleans are bytes, or
// integers where predecessors are kept.
template <class T>
SweepKernel<T> kernel(Semiring semiring, [[maybe_unused]] bool negative) {
  if constexpr (std::is_same_v<T, std::uint8_t>) {
    return make<T, MaxMin>();
  } else {
    if (semiring == Semiring::kMaxMin || semiring == Semiring::kBoolean) return make<T, MaxMin>();
    if constexpr (std::is_floating_point_v<T>) {
      if (semiring == Semiring::kMaxTimes) return make<T, MaxTimes>();
    } else {
      if (negative) return make<T, SignedMinPlus>();
    }
    return make<T, MinPlus>();
  }
}

template SweepKernel<float> kernel(Semiring, bool);
template SweepKernel<double> kernel(Semiring, bool);
template SweepKernel<std::int32_t> kernel(Semiring, bool);
template SweepKernel<std::int64_t> kernel(Semiring, bool);
template SweepKernel<std::uint8_t> kernel(Semiring, bool);

// ---- from lines to rows -------------------------------------------------------------------------
//
// A line is a vertex each, and a row a source each: squares of as many lines as a vector has lanes
// are transposed in registers.

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
