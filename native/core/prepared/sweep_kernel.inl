// Climbs and sweeps in lanes, written once with the compiler's vector types. A file that includes
// this one defines KLEENE_LEVEL (a namespace) and KLEENE_BYTES (of a vector) and is compiled for
// one instruction set: see the rule in simd/levels.hpp.
#include "closure/tile_arithmetic.inl"
#include "prepared/sweep_kernel.hpp"

namespace kleene::prepared::KLEENE_LEVEL {
namespace {

using namespace closure::KLEENE_LEVEL;

// A sum with "no path" is no path, even if what is added is negative.
struct SignedMinPlus : MinPlus {
  template <class V, class T>
  static V times(V a, V b, T zero) {
    const V none = zero - V{};
    const V sum = a + b;
    return (a == none) | (b == none) ? none : sum;
  }
};

template <class Op, class V, class T>
V extend(V a, V b, [[maybe_unused]] T zero) {
  if constexpr (std::is_same_v<Op, SignedMinPlus>) {
    return Op::times(a, b, zero);
  } else {
    return Op{}.times(a, b);
  }
}

// A line in registers.
template <class T>
struct Line {
  using Values = typename Lanes<T>::Values;
  static constexpr int kParts = kLineBytes / KLEENE_BYTES;
  static constexpr int kWidth = Lanes<T>::kCount;
  Values part[kParts];

  static Line filled(T value) {
    Line line;
    for (int p = 0; p < kParts; ++p) line.part[p] = value - Values{};
    return line;
  }
  static Line read(const T* from) {
    Line line;
    for (int p = 0; p < kParts; ++p) line.part[p] = load<Values>(from + p * kWidth);
    return line;
  }
  void write(T* to) const {
    for (int p = 0; p < kParts; ++p) store(to + p * kWidth, part[p]);
  }

  // Takes the better of each lane and that of `from` extended by an arc.
  template <class Op>
  void relax(const Line& from, T value, T zero) {
    for (int p = 0; p < kParts; ++p) {
      part[p] = Op{}.best(extend<Op>(from.part[p], value - Values{}, zero), part[p]);
    }
  }
};

template <class T, class Op>
void climb(const DepthArcs<T>& arcs, std::int64_t vertex, const T* from, T zero,
           Lines<T> by_depth) {
  const Line<T> line = Line<T>::read(from);
  for (std::int64_t i = arcs.offsets[vertex]; i < arcs.offsets[vertex + 1]; ++i) {
    T* const at = by_depth.at(arcs.depths[i]).values;
    Line<T> head = Line<T>::read(at);
    head.template relax<Op>(line, arcs.values[i], zero);
    head.write(at);
  }
}

template <class T, class Op>
void sweep(const DepthArcs<T>& arcs, const std::int32_t* list, std::int64_t first,
           std::int64_t count, Lines<T> initial, T zero, Lines<T> by_depth, Lines<T> by_rank) {
  Line<T> line = Line<T>::read(initial.values);
  for (std::int64_t k = 0; k < count; ++k) {
    const std::int64_t v = list ? list[k] : first - k;
    const std::int64_t begin = arcs.offsets[v], end = arcs.offsets[v + 1];
    for (std::int64_t i = begin; i < end; ++i) {
      const Line<T> above = Line<T>::read(by_depth.at(arcs.depths[i]).values);
      line.template relax<Op>(above, arcs.values[i], zero);
    }
    const std::int64_t depth = begin < end ? arcs.depths[begin] + 1 : 0;
    line.write(by_depth.at(depth).values);
    line.write(by_rank.at(v).values);
    line = Line<T>::filled(zero);
  }
}

template <class T, class Op>
SweepKernel<T> make() {
  return {&climb<T, Op>, &sweep<T, Op>};
}

}  // namespace

// Only the combinations that plans use are compiled: max-times for floats, booleans in bytes.
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
