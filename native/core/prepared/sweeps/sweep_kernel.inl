// Climbs and sweeps in lanes, written once with the compiler's vector types. A file that includes
// this one defines KLEENE_LEVEL (a namespace) and KLEENE_BYTES (of a vector) and is compiled for
// one instruction set: see the rule in simd/levels.hpp.
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

}  // namespace kleene::prepared::KLEENE_LEVEL
