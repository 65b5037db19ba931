// Each arc (u, v, weight) has a random number that depends on the two ends, whatever their order,
// and on the weight: it is added if u < v and subtracted if u > v. If arcs come in pairs, the sum
// is zero; if one has no twin, its number stays, and the sum is zero by chance alone.
//
// A few arcs whose twins are looked for come first: in most directed graphs one is missing.
#include <algorithm>
#include <atomic>
#include <bit>

#include "graph/csr.hpp"
#include "parallel/team.hpp"

namespace kleene::graph {
namespace {

constexpr std::int64_t kSample = 64;         // arcs whose twins are looked for
constexpr std::int64_t kRowGrain = 1 << 12;  // rows handed to a thread at a time

// The mixing step of SplitMix64 (Steele, Lea and Flood 2014).
std::uint64_t mixed(std::uint64_t x) {
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9;
  x = (x ^ (x >> 27)) * 0x94d049bb133111eb;
  return x ^ (x >> 31);
}

template <class Weight>
std::uint64_t bits_of(Weight weight) {
  if constexpr (sizeof(Weight) == 8) {
    return std::bit_cast<std::uint64_t>(weight);
  } else {
    return std::bit_cast<std::uint32_t>(weight);
  }
}

// The number of the arc, with its sign; self-loops have none.
template <class Id, class Weight>
std::uint64_t signed_number(const Arcs<Id, Weight>& arcs, std::uint64_t seed, Id u,
                            std::int64_t arc) {
  const Id v = arcs.neighbors[arc];
  const auto low = static_cast<std::uint64_t>(std::min(u, v));
  const auto high = static_cast<std::uint64_t>(std::max(u, v));
  std::uint64_t key;
  if constexpr (sizeof(Id) == 4) {
    key = seed ^ (low << 32 | high);
  } else {
    key = mixed(seed ^ low) ^ high;
  }
  if constexpr (kWeighted<Weight>) {
    key = mixed(key) ^ bits_of(static_cast<Weight>(arcs.weights[arc] + Weight{0}));  // -0 is 0
  }
  const std::uint64_t number = mixed(key);
  return v > u ? number : v < u ? -number : 0;
}

template <class Id, class Weight>
bool has_twin(const Arcs<Id, Weight>& arcs, std::int64_t arc) {
  const std::int64_t* const end = arcs.offsets + arcs.n + 1;
  const auto u = static_cast<Id>(std::upper_bound(arcs.offsets, end, arc) - arcs.offsets - 1);
  const Id v = arcs.neighbors[arc];
  const Id* const row = arcs.neighbors + arcs.offsets[v];
  const Id* const row_end = arcs.neighbors + arcs.offsets[v + 1];
  const Id* const twin = std::lower_bound(row, row_end, u);
  if (twin == row_end || *twin != u) return false;
  if constexpr (kWeighted<Weight>) return arcs.weights[twin - arcs.neighbors] == arcs.weights[arc];
  return true;
}

}  // namespace

template <class Id, class Weight>
bool seems_symmetric(const Arcs<Id, Weight>& arcs, std::uint64_t seed, int threads,
                     Monitor& monitor) {
  const std::int64_t m = arcs.count();
  for (std::int64_t k = 0; k < std::min(kSample, m); ++k) {
    if (!has_twin(arcs, m / std::min(kSample, m) * k)) return false;
  }
  std::atomic<std::uint64_t> sum{0};
  parallel_for(arcs.n, kRowGrain, threads, monitor, [&](std::int64_t begin, std::int64_t end, int) {
    std::uint64_t part = 0;
    for (std::int64_t u = begin; u < end; ++u) {
      for (std::int64_t i = arcs.offsets[u]; i < arcs.offsets[u + 1]; ++i) {
        part += signed_number(arcs, seed, static_cast<Id>(u), i);
      }
    }
    sum.fetch_add(part, std::memory_order_relaxed);
  });
  return sum == 0;
}

#define KLEENE_SYMMETRY(ID, W) \
  template bool seems_symmetric(const Arcs<ID, W>&, std::uint64_t, int, Monitor&);
#define KLEENE_ID(ID)               \
  KLEENE_SYMMETRY(ID, NoWeight)     \
  KLEENE_SYMMETRY(ID, float)        \
  KLEENE_SYMMETRY(ID, double)       \
  KLEENE_SYMMETRY(ID, std::int32_t) \
  KLEENE_SYMMETRY(ID, std::int64_t)

KLEENE_ID(std::int32_t)
KLEENE_ID(std::int64_t)

}  // namespace kleene::graph
