// Sums over arcs for a vector of sources, written once with the compiler's vector types and
// compiled for each instruction set: see the rule in simd/levels.hpp.
//
// Arcs are looked at in two passes over a short piece: the first keeps those whose sets of lanes
// have something in common, without a branch, and asks for the rows; the second adds the rows. So
// no branch is mispredicted, and many cache misses wait together.
#if defined(__AVX512F__)
#include <immintrin.h>
#endif

#include "measures/lane_sums.hpp"

namespace kleene::measures::KLEENE_LEVEL {
namespace {

#if defined(__AVX512F__)
constexpr int kMostNumbers = 8;  // of a vector
constexpr int kMostVectors = 8;  // that are added to at once
#else
constexpr int kMostNumbers = 4;
constexpr int kMostVectors = 8;
#endif

template <int kWidth>
struct VectorOf;
template <>
struct VectorOf<4> {
  typedef double Numbers __attribute__((vector_size(32)));
  typedef std::int64_t Bits __attribute__((vector_size(32)));
};
template <>
struct VectorOf<8> {
  typedef double Numbers __attribute__((vector_size(64)));
  typedef std::int64_t Bits __attribute__((vector_size(64)));
};

template <int kLanes>
struct Kernel {
  using Set = LaneSet<kLanes>;
  using Entry = LevelEntry<kLanes>;
  static constexpr int kWidth = kLanes < kMostNumbers ? kLanes : kMostNumbers;
  static constexpr int kVectors = kLanes / kWidth;  // of a row
  static constexpr int kBlock = kVectors < kMostVectors ? kVectors : kMostVectors;
  static constexpr std::int64_t kPiece = 64;  // arcs
  using Numbers = typename VectorOf<kWidth>::Numbers;
  using Bits = typename VectorOf<kWidth>::Bits;

  static unsigned lanes_of(Set set, int vector) {
    return static_cast<unsigned>(set >> (vector * kWidth)) & ((1u << kWidth) - 1);
  }

  // ---- vectors under a mask ---------------------------------------------------------------------

#if defined(__AVX512F__)
  // Zero outside of the lanes.
  static Numbers load(const double* at, unsigned lanes) {
    if constexpr (kWidth == 8) {
      return (Numbers)_mm512_maskz_loadu_pd(static_cast<__mmask8>(lanes), at);
    } else {
      return (Numbers)_mm256_maskz_loadu_pd(static_cast<__mmask8>(lanes), at);
    }
  }
  static void store(double* at, unsigned lanes, const Numbers& values) {
    if constexpr (kWidth == 8) {
      _mm512_mask_storeu_pd(at, static_cast<__mmask8>(lanes), (__m512d)values);
    } else {
      _mm256_mask_storeu_pd(at, static_cast<__mmask8>(lanes), (__m256d)values);
    }
  }
#else
  static Bits mask(unsigned lanes) {
    alignas(64) static constexpr std::int64_t kMasks[16][4] = {
        {0, 0, 0, 0},   {-1, 0, 0, 0},   {0, -1, 0, 0},   {-1, -1, 0, 0},
        {0, 0, -1, 0},  {-1, 0, -1, 0},  {0, -1, -1, 0},  {-1, -1, -1, 0},
        {0, 0, 0, -1},  {-1, 0, 0, -1},  {0, -1, 0, -1},  {-1, -1, 0, -1},
        {0, 0, -1, -1}, {-1, 0, -1, -1}, {0, -1, -1, -1}, {-1, -1, -1, -1}};
    return *reinterpret_cast<const Bits*>(kMasks[lanes]);
  }
  static Numbers load(const double* at, unsigned lanes) {
    return (Numbers)(*reinterpret_cast<const Bits*>(at) & mask(lanes));
  }
  static void store(double* at, unsigned lanes, const Numbers& values) {
    Bits& old = *reinterpret_cast<Bits*>(at);
    const Bits chosen = mask(lanes);
    old = (old & ~chosen) | ((Bits)values & chosen);
  }
#endif

  static Numbers larger(const Numbers& a, const Numbers& b) { return a < b ? b : a; }

  static double sum(const Numbers& values) {
    double total = 0;
    for (int k = 0; k < kWidth; ++k) total += values[k];
    return total;
  }
  static double largest(const Numbers& values) {
    double most = 0;
    for (int k = 0; k < kWidth; ++k) most = values[k] > most ? values[k] : most;
    return most;
  }

  // ---- arcs that matter -------------------------------------------------------------------------

  struct Hits {
    std::int32_t vertex[kPiece];
    std::int32_t arc[kPiece];  // counted from the first of the piece
    Set lanes[kPiece];
    int count;

    // Keeps the arcs to vertices with lanes in common; returns the union of these.
    Set collect(const std::int32_t* neighbors, std::int64_t size, const Set* sets, Set wanted,
                const double* rows) {
      Set any = 0;
      count = 0;
      for (std::int64_t i = 0; i < size; ++i) {
        const std::int32_t v = neighbors[i];
        const Set both = sets[v] & wanted;
        vertex[count] = v;
        arc[count] = static_cast<std::int32_t>(i);
        lanes[count] = both;
        count += both != 0;
        any |= both;
      }
      if constexpr (kLanes <= 16) {
        for (int h = 0; h < count; ++h) {
          __builtin_prefetch(rows + vertex[h] * std::int64_t{kLanes});
        }
      }
      return any;
    }
  };

  struct Row {
    Numbers vectors[kVectors];
  };

  static void add_rows(const double* rows, const Hits& hits, Row& total) {
    for (int block = 0; block < kVectors; block += kBlock) {
      Numbers sums[kBlock];
      for (int k = 0; k < kBlock; ++k) sums[k] = total.vectors[block + k];
      for (int h = 0; h < hits.count; ++h) {
        const double* row = rows + hits.vertex[h] * std::int64_t{kLanes};
        for (int k = 0; k < kBlock; ++k) {
          sums[k] += load(row + (block + k) * kWidth, lanes_of(hits.lanes[h], block + k));
        }
      }
      for (int k = 0; k < kBlock; ++k) total.vectors[block + k] = sums[k];
    }
  }

  // ---- steps ------------------------------------------------------------------------------------

  static Found pull(const ForwardStep<kLanes>& step, std::int64_t begin, std::int64_t end,
                    Entry* entries) {
    Found found;
    Hits hits;
    Numbers most{};
    const ArcView& arcs = step.incoming;
    for (std::int64_t v = begin; v < end; ++v) {
      const Set missing = step.all & static_cast<Set>(~step.seen[v]);
      if (!missing) continue;
      const std::int64_t last = arcs.offsets[v + 1];
      Set gained = 0;
      Row row{};
      for (std::int64_t i = arcs.offsets[v]; i < last; i += kPiece) {
        const std::int64_t size = last - i < kPiece ? last - i : kPiece;
        gained |= hits.collect(arcs.neighbors + i, size, step.front, missing, step.from);
        if (hits.count) add_rows(step.from, hits, row);
      }
      if (!gained) continue;
      double* const to = step.to + v * kLanes;
      for (int k = 0; k < kVectors; ++k) {
        store(to + k * kWidth, lanes_of(gained, k), row.vectors[k]);
        most = larger(most, row.vectors[k]);
      }
      entries[found.entries++] = {static_cast<std::int32_t>(v), gained};
      step.next[v] = gained;
      step.seen[v] |= gained;
      found.frontier_arcs += step.outgoing.offsets[v + 1] - step.outgoing.offsets[v];
      if (missing == gained) found.closed_arcs += last - arcs.offsets[v];
    }
    found.largest = largest(most);
    return found;
  }

  static Found push(const ForwardStep<kLanes>& step, const Entry* entries, std::int64_t count,
                    Entry* heads) {
    Found found;
    Numbers most{};
    const ArcView& arcs = step.outgoing;
    for (std::int64_t at = 0; at < count; ++at) {
      const auto [u, lanes] = entries[at];
      const double* const row = step.from + u * std::int64_t{kLanes};
      for (std::int64_t i = arcs.offsets[u]; i < arcs.offsets[u + 1]; ++i) {
        const std::int32_t v = arcs.neighbors[i];
        const Set gained = lanes & static_cast<Set>(~step.seen[v]);
        if (!gained) continue;
        const Set before = step.next[v];
        if (!before) heads[found.entries++] = {v, 0};
        step.next[v] = before | gained;
        double* const to = step.to + v * std::int64_t{kLanes};
        for (int k = 0; k < kVectors; ++k) {
          const unsigned own = lanes_of(gained, k);
          if (!own) continue;
          const Numbers sums =
              load(to + k * kWidth, own & lanes_of(before, k)) + load(row + k * kWidth, own);
          store(to + k * kWidth, own, sums);
          most = larger(most, sums);
        }
      }
    }
    found.largest = largest(most);
    return found;
  }

  static void pull_back(const BackwardStep<kLanes>& step, const Entry* entries,
                        std::int64_t count) {
    Hits hits;
    const ArcView& arcs = step.outgoing;
    for (std::int64_t at = 0; at < count; ++at) {
      const auto [u, lanes] = entries[at];
      const std::int64_t begin = step.next ? arcs.offsets[u] : 0;
      const std::int64_t last = step.next ? arcs.offsets[u + 1] : 0;
      const double* const counts = step.counts + u * std::int64_t{kLanes};
      Row row{};
      for (std::int64_t i = begin; i < last; i += kPiece) {
        const std::int64_t size = last - i < kPiece ? last - i : kPiece;
        hits.collect(arcs.neighbors + i, size, step.next, lanes, step.from);
        if (!hits.count) continue;
        add_rows(step.from, hits, row);
        if (step.along) add_arcs(step, counts, hits, step.along + i);
      }
      finish(step, u, lanes, counts, row);
    }
  }

  static void add_arcs(const BackwardStep<kLanes>& step, const double* counts, const Hits& hits,
                       double* along) {
    for (int h = 0; h < hits.count; ++h) {
      const double* from = step.from + hits.vertex[h] * std::int64_t{kLanes};
      Numbers sums{};
      for (int k = 0; k < kVectors; ++k) {
        const unsigned own = lanes_of(hits.lanes[h], k);
        if (!own) continue;
        sums += load(step.source_weights + k * kWidth, own) * load(counts + k * kWidth, own) *
                load(from + k * kWidth, own);
      }
      along[hits.arc[h]] += sum(sums);
    }
  }

  // The sums of u, and what it hands back for one path.
  static void finish(const BackwardStep<kLanes>& step, std::int64_t u, Set lanes,
                     const double* counts, const Row& row) {
    const double target = step.is_first ? 0 : step.target_weights[u];
    double* const to = step.to + u * kLanes;
    Numbers sums{};
    for (int k = 0; k < kVectors; ++k) {
      const unsigned own = lanes_of(lanes, k);
      if (!own) continue;
      const Numbers paths = load(counts + k * kWidth, own);
      const Numbers onward = paths * row.vectors[k];
      sums +=
          load(step.source_weights + k * kWidth, own) * (step.endpoints ? onward + target : onward);
      store(to + k * kWidth, own, (onward + target) / paths);
    }
    if (!step.is_first || step.endpoints) step.through[u] += sum(sums);
    step.front[u] = lanes;
  }
};

}  // namespace

template <int kLanes>
LaneSums<kLanes> lane_sums() {
  return {&Kernel<kLanes>::pull, &Kernel<kLanes>::push, &Kernel<kLanes>::pull_back};
}

template LaneSums<4> lane_sums<4>();
template LaneSums<8> lane_sums<8>();
template LaneSums<16> lane_sums<16>();
template LaneSums<32> lane_sums<32>();
template LaneSums<64> lane_sums<64>();

}  // namespace kleene::measures::KLEENE_LEVEL
