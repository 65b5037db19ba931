// Climbs, written once with the compiler's vector types and compiled for each instruction set: see
// the rule in simd/levels.hpp.
#if defined(__AVX2__)
#include <immintrin.h>
#endif

#include <type_traits>

#include "prepared/pairs/climb_kernel.hpp"

namespace kleene::prepared::KLEENE_LEVEL {
namespace {

template <PathKind kind, class T>
T join(T a, T b) {  // neither is "no path", where lengths may be negative
  if constexpr (kind == PathKind::kMaxMin) return a < b ? a : b;
  if constexpr (kind == PathKind::kMaxTimes) return a * b;
  return static_cast<T>(a + b);
}

template <PathKind kind, class T>
bool is_better(T a, T b) {
  constexpr bool kLess = kind == PathKind::kMinPlus || kind == PathKind::kSignedMinPlus;
  return kLess ? a < b : a > b;
}

// ---- one vector of places -----------------------------------------------------------------------

#if defined(__AVX512F__)
typedef __m512i Bits;

// The values at the places of the mask, "no path" elsewhere. Reads a whole vector.
template <class T>
Bits spread(const T* packed, std::uint32_t mask, Bits none) {
  const Bits values = _mm512_loadu_si512(packed);
  if constexpr (sizeof(T) == 4) {
    return _mm512_mask_expand_epi32(none, static_cast<__mmask16>(mask), values);
  } else {
    return _mm512_mask_expand_epi64(none, static_cast<__mmask8>(mask), values);
  }
}

#elif defined(__AVX2__)
typedef __m256i Bits;

// For each mask of eight places, which of the packed values belongs to each.
struct SpreadTable {
  std::uint64_t of[256];
  constexpr SpreadTable() : of{} {
    for (unsigned mask = 0; mask < 256; ++mask) {
      std::uint64_t next = 0;
      for (unsigned k = 0; k < 8; ++k) {
        of[mask] |= next << (8 * k);
        next += mask >> k & 1;
      }
    }
  }
};
constexpr SpreadTable kSpread;

template <class T>
Bits spread(const T* packed, std::uint32_t mask, Bits none) {
  if constexpr (sizeof(T) == 8) {  // two halves each, so every bit twice
    mask = (mask | mask << 2) & 0x33;
    mask = ((mask | mask << 1) & 0x55) * 3;
  }
  const Bits values = _mm256_loadu_si256(reinterpret_cast<const Bits*>(packed));
  const auto from = _mm_cvtsi64_si128(static_cast<long long>(kSpread.of[mask]));
  const Bits moved = _mm256_permutevar8x32_epi32(values, _mm256_cvtepu8_epi32(from));
  const Bits bits = _mm256_setr_epi32(1, 2, 4, 8, 16, 32, 64, 128);
  const Bits all = _mm256_set1_epi32(static_cast<int>(mask));
  return _mm256_blendv_epi8(none, moved, _mm256_cmpeq_epi32(_mm256_and_si256(all, bits), bits));
}

#endif

#if defined(__AVX2__)

template <class T>
constexpr int kLanes = sizeof(Bits) / sizeof(T);

template <class T>
struct Vector {
  typedef T Values __attribute__((vector_size(sizeof(Bits))));
  typedef std::int32_t Places __attribute__((vector_size(kLanes<T> * sizeof(std::int32_t))));
};

// Relaxes the pairs of some places, the first of which is `at`.
template <class T, PathKind kind, bool kTails>
void relax_vector(T from, std::int32_t place, const T* packed, std::uint32_t mask,
                  const Climb<T>& climb, std::int32_t at, T no_path) {
  using Values = typename Vector<T>::Values;
  using Places = typename Vector<T>::Places;
  const Values none = Values{} + no_path, start = Values{} + from;
  const auto values = (Values)spread(packed, mask, (Bits)none);
  Values through;
  if constexpr (kind == PathKind::kMinPlus) through = start + values;
  if constexpr (kind == PathKind::kSignedMinPlus) through = values == none ? none : start + values;
  if constexpr (kind == PathKind::kMaxMin) through = start < values ? start : values;
  if constexpr (kind == PathKind::kMaxTimes) through = start * values;
  auto* const best = reinterpret_cast<Values*>(climb.best + at);
  const Values old = *best;
  constexpr bool kLess = kind == PathKind::kMinPlus || kind == PathKind::kSignedMinPlus;
  // untestable (< to <=): another of several best paths
  const auto better = kLess ? through < old : through > old;
  *best = better ? through : old;
  if constexpr (kTails) {
    auto* const tails = reinterpret_cast<Places*>(climb.tails + at);
    *tails = __builtin_convertvector(better, Places) ? Places{} + place : *tails;
  }
}

// Relaxes the pairs of one block; reads whole vectors of values.
template <class T, PathKind kind, bool kTails>
void relax_block(T from, std::int32_t place, const T* packed, const ClimbBlock& block,
                 const Climb<T>& climb, T no_path) {
  for (int first = 0; first < kBlock; first += kLanes<T>) {
    const std::uint32_t mask = block.mask >> first & ((1u << kLanes<T>)-1);
    relax_vector<T, kind, kTails>(from, place, packed, mask, climb, block.index * kBlock + first,
                                  no_path);
    packed += __builtin_popcount(mask);
  }
}

#endif

// ---- rows ---------------------------------------------------------------------------------------

// Relaxes the pairs of one block, one by one.
template <class T, PathKind kind, bool kTails>
void relax_places(T from, std::int32_t place, const T* packed, const ClimbBlock& block,
                  const Climb<T>& climb, T no_path) {
  const std::int32_t first = block.index * kBlock;
  for (std::uint32_t left = block.mask; left != 0; left &= left - 1) {
    const T value = *packed++;
    if (kind == PathKind::kSignedMinPlus && value == no_path) continue;
    const std::int32_t at = first + __builtin_ctz(left);
    const T through = join<kind>(from, value), old = climb.best[at];
    const bool better = is_better<kind>(through, old);
    climb.best[at] = better ? through : old;
    if constexpr (kTails) climb.tails[at] = better ? place : climb.tails[at];
  }
}

template <class T, PathKind kind, bool kTails>
void relax_row(const ClimbRows& tree, const ClimbRow* row, T from, const Climb<T>& climb,
               T no_path) {
  const ClimbBlock* const end = tree.blocks + row[1].blocks;
  const T* packed = climb.values + row->values;
  const ClimbBlock* block = tree.blocks + row->blocks;
#if defined(__AVX2__)
  if constexpr (sizeof(T) >= 4) {
    if (row[1].values + kBlock <= tree.arcs) {  // vectors do not reach past the last value
      for (; block != end; ++block) {
        relax_block<T, kind, kTails>(from, row->place, packed, *block, climb, no_path);
        packed += __builtin_popcount(block->mask);
      }
      return;
    }
  }
#endif
  for (; block != end; ++block) {
    relax_places<T, kind, kTails>(from, row->place, packed, *block, climb, no_path);
    packed += __builtin_popcount(block->mask);
  }
}

// ---- climbs -------------------------------------------------------------------------------------

template <class T, PathKind kind, bool kTails>
std::int32_t climb_until(const ClimbRows& tree, const Climb<T>& climb, std::int32_t v,
                         std::int32_t end, T no_path) {
  while (v < end) {
    const ClimbRow* const row = tree.rows + v;
    if constexpr (kTails) climb.ancestors[row->place] = v;
    const T from = climb.best[row->place];
    if (from != no_path) relax_row<T, kind, kTails>(tree, row, from, climb, no_path);
    v = row->parent;
  }
  return v;
}

template <class T, PathKind kind, bool kTails>
Meeting<T> meet(const ClimbRows& tree, const Climb<T>& origin, const Climb<T>& destination,
                std::int32_t v, T no_path, bool prune) {
  Meeting<T> found{no_path, -1};
  while (v < tree.n) {
    const ClimbRow* const row = tree.rows + v;
    if constexpr (kTails) origin.ancestors[row->place] = destination.ancestors[row->place] = v;
    const T up = origin.best[row->place], down = destination.best[row->place];
    const bool has_up = up != no_path, has_down = down != no_path;
    if (has_up && has_down) {
      const T value = join<kind>(up, down);
      if (is_better<kind>(value, found.value)) found = {value, row->place};
    }
    if (has_up && (!prune || is_better<kind>(up, found.value))) {
      relax_row<T, kind, kTails>(tree, row, up, origin, no_path);
    }
    if (has_down && (!prune || is_better<kind>(down, found.value))) {
      relax_row<T, kind, kTails>(tree, row, down, destination, no_path);
    }
    v = row->parent;
  }
  return found;
}

template <class T, PathKind kind>
T join_climbs(const T* origin, const T* destination, std::int64_t count, T no_path) {
  T best = no_path;
  for (std::int64_t i = 0; i < count; ++i) {
    const bool none =
        kind == PathKind::kSignedMinPlus && (origin[i] == no_path || destination[i] == no_path);
    const T value = none ? no_path : join<kind>(origin[i], destination[i]);
    best = is_better<kind>(value, best) ? value : best;
  }
  return best;
}

}  // namespace

template <class T, PathKind kind>
ClimbKernel<T> climb_kernel(bool with_tails) {
  if (with_tails) {
    return {climb_until<T, kind, true>, meet<T, kind, true>, join_climbs<T, kind>};
  }
  return {climb_until<T, kind, false>, meet<T, kind, false>, join_climbs<T, kind>};
}

template ClimbKernel<std::int32_t> climb_kernel<std::int32_t, PathKind::kMinPlus>(bool);
template ClimbKernel<std::int64_t> climb_kernel<std::int64_t, PathKind::kMinPlus>(bool);
template ClimbKernel<float> climb_kernel<float, PathKind::kMinPlus>(bool);
template ClimbKernel<double> climb_kernel<double, PathKind::kMinPlus>(bool);
template ClimbKernel<std::int32_t> climb_kernel<std::int32_t, PathKind::kSignedMinPlus>(bool);
template ClimbKernel<std::int64_t> climb_kernel<std::int64_t, PathKind::kSignedMinPlus>(bool);
template ClimbKernel<std::uint8_t> climb_kernel<std::uint8_t, PathKind::kMaxMin>(bool);
template ClimbKernel<std::int32_t> climb_kernel<std::int32_t, PathKind::kMaxMin>(bool);
template ClimbKernel<std::int64_t> climb_kernel<std::int64_t, PathKind::kMaxMin>(bool);
template ClimbKernel<float> climb_kernel<float, PathKind::kMaxMin>(bool);
template ClimbKernel<double> climb_kernel<double, PathKind::kMaxMin>(bool);
template ClimbKernel<float> climb_kernel<float, PathKind::kMaxTimes>(bool);
template ClimbKernel<double> climb_kernel<double, PathKind::kMaxTimes>(bool);

}  // namespace kleene::prepared::KLEENE_LEVEL
