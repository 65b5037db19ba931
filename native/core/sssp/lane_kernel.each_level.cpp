// Relaxes arcs for a vector of sources, written once with the compiler's vector types and compiled
// for each instruction set: see the rule in simd/levels.hpp.
#if defined(__SSE2__)
#include <immintrin.h>
#endif

#include "sssp/lane_kernel.hpp"

namespace kleene::sssp::KLEENE_LEVEL {
namespace {

template <class T>
struct Vector {
  typedef T Values __attribute__((vector_size(kLaneBytes)));
  typedef LaneIndex<T> Indices __attribute__((vector_size(kLaneBytes)));
};

// The smallest lane: halves are compared with each other until 16 bytes are left.
template <class T>
T least(const typename Vector<T>::Values& lanes) {
  typedef T Half __attribute__((vector_size(kLaneBytes / 2)));
  typedef T Quarter __attribute__((vector_size(kLaneBytes / 4)));
  const auto* half = reinterpret_cast<const Half*>(&lanes);
  const Half both = half[0] < half[1] ? half[0] : half[1];  // untestable (< to <=): equal values
  const auto* quarter = reinterpret_cast<const Quarter*>(&both);
  // untestable (< to <=): equal values
  const Quarter all = quarter[0] < quarter[1] ? quarter[0] : quarter[1];
  T smallest = all[0];
  // untestable (= 1 to = 0): compares the least with itself
  for (std::size_t k = 1; k < sizeof(all) / sizeof(T); ++k) {
    smallest = all[k] < smallest ? all[k] : smallest;  // untestable (< to <=): equal values
  }
  return smallest;
}

// Is any lane set?
template <class Indices>
bool any(const Indices& lanes) {
#if defined(__AVX512F__)
  const __m512i all = reinterpret_cast<const __m512i&>(lanes);
  return _mm512_test_epi32_mask(all, all) != 0;
#elif defined(__AVX2__)
  const auto* half = reinterpret_cast<const __m256i*>(&lanes);
  return _mm256_movemask_epi8(_mm256_or_si256(half[0], half[1])) != 0;
#elif defined(__SSE2__)
  const auto* part = reinterpret_cast<const __m128i*>(&lanes);
  const __m128i low = _mm_or_si128(part[0], part[1]), high = _mm_or_si128(part[2], part[3]);
  return _mm_movemask_epi8(_mm_or_si128(low, high)) != 0;
#else
  // untestable below: not compiled on x86-64, which has SSE2
  for (std::size_t k = 0; k < sizeof(lanes) / sizeof(lanes[0]); ++k) {
    if (lanes[k]) return true;
  }
  return false;
#endif
}

// Bit k says whether lane k is set. Lanes are copied: through a pointer of another vector type, GCC
// 12 reads them before they are written.
template <class Indices>
std::uint16_t bits(const Indices& lanes) {
  constexpr int kBytes = sizeof(lanes[0]);
#if defined(__AVX512DQ__)
  __m512i all;
  __builtin_memcpy(&all, &lanes, sizeof(all));
  if constexpr (kBytes == 4) return _mm512_movepi32_mask(all);
  return _mm512_movepi64_mask(all);
#elif defined(__AVX2__)
  __m256i half[2];
  __builtin_memcpy(half, &lanes, sizeof(half));
  const auto narrow = [&](int i) { return _mm256_movemask_ps(_mm256_castsi256_ps(half[i])); };
  const auto wide = [&](int i) { return _mm256_movemask_pd(_mm256_castsi256_pd(half[i])); };
  if constexpr (kBytes == 4) return static_cast<std::uint16_t>(narrow(0) | narrow(1) << 8);
  return static_cast<std::uint16_t>(wide(0) | wide(1) << 4);
#elif defined(__SSE2__)
  __m128i part[4];
  __builtin_memcpy(part, &lanes, sizeof(part));
  int found = 0;
  for (int i = 0; i < 4; ++i) {
    found |= kBytes == 4 ? _mm_movemask_ps(_mm_castsi128_ps(part[i])) << 4 * i
                         : _mm_movemask_pd(_mm_castsi128_pd(part[i])) << 2 * i;
  }
  return static_cast<std::uint16_t>(found);
#else
  unsigned found = 0;
  for (int k = 0; k < kLaneBytes / kBytes; ++k) {
    if (lanes[k]) found |= 1u << k;
  }
  return static_cast<std::uint16_t>(found);
#endif
}

template <class T>
void tight(const T* from, std::int64_t count, const std::int32_t* heads, const T* lengths, T limit,
           const T* distances, std::uint16_t* masks) {
  using Values = typename Vector<T>::Values;
  using Indices = typename Vector<T>::Indices;
  constexpr int kWidth = kLanes<T>;
  const Values distance = *reinterpret_cast<const Values*>(from);
  const Values farthest = Values{} + limit;
  for (std::int64_t i = 0; i < count; ++i) {
    const Values through = distance + lengths[i];
    const Values head =
        *reinterpret_cast<const Values*>(distances + heads[i] * std::int64_t{kWidth});
    const Indices equal = through == head;
    const Indices near = through <= farthest;
    const Indices both = equal & near;
    masks[i] = bits(both);
  }
}

template <class T>
std::int64_t relax(const T* from, LaneIndex<T> u, std::int64_t count, const std::int32_t* heads,
                   const T* lengths, T unreached, T* distances, LaneIndex<T>* predecessors,
                   std::int32_t* improved, T* nearest) {
  using Values = typename Vector<T>::Values;
  using Indices = typename Vector<T>::Indices;
  constexpr int kWidth = kLanes<T>;
  const Values distance = *reinterpret_cast<const Values*>(from);
  const Values worst = Values{} + unreached;
  std::int64_t count_improved = 0;
  for (std::int64_t i = 0; i < count; ++i) {
    Values* const at = reinterpret_cast<Values*>(distances + heads[i] * std::int64_t{kWidth});
    const Values through = distance + lengths[i];
    const Values old = *at;
    const Indices better = through < old;
    if (!any(better)) continue;
    const Values gained = better ? through : worst;
    *at = better ? through : old;
    if (predecessors) {
      Indices* const of_head =
          reinterpret_cast<Indices*>(predecessors + heads[i] * std::int64_t{kWidth});
      *of_head = better ? Indices{} + u : *of_head;
    }
    improved[count_improved] = heads[i];
    nearest[count_improved++] = least<T>(gained);
  }
  return count_improved;
}

}  // namespace

template <class T>
RelaxLanes<T>* relax_lanes() {
  return &relax<T>;
}

template <class T>
TightLanes<T>* tight_lanes() {
  return &tight<T>;
}

template RelaxLanes<float>* relax_lanes();
template RelaxLanes<double>* relax_lanes();
template RelaxLanes<std::int32_t>* relax_lanes();
template RelaxLanes<std::int64_t>* relax_lanes();
template TightLanes<double>* tight_lanes();
template TightLanes<std::int32_t>* tight_lanes();
template TightLanes<std::int64_t>* tight_lanes();

}  // namespace kleene::sssp::KLEENE_LEVEL
