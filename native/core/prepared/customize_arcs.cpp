// Which arcs of a graph a pair starts from. It depends on the structure alone, so that new weights
// for the same streets need not look again.
#include <algorithm>
#include <atomic>

#include "parallel/team.hpp"
#include "prepared/customize.hpp"

namespace kleene::prepared {
namespace {

using namespace parallel;

constexpr std::int64_t kVertices = 1 << 10, kPairs = 1 << 14;  // of a piece of work

void keep_first(std::atomic<std::int64_t>& first, std::int64_t found) {
  std::int64_t held = first.load(std::memory_order_relaxed);
  while ((held < 0 || found < held) && !first.compare_exchange_weak(held, found)) {
  }
}

}  // namespace

template <class Id>
ArcsFound find_arcs(const graph::Arcs<Id>& arcs, const std::int32_t* ranks,
                    const Elimination& elimination, std::int32_t* up, std::int32_t* down,
                    int threads, Monitor& monitor) {
  parallel_for(elimination.arcs(), kPairs, threads, monitor,
               [&](std::int64_t begin, std::int64_t end, int) {
                 std::fill(up + begin, up + end, -1);
                 std::fill(down + begin, down + end, -1);
               });
  std::atomic<std::int64_t> loop{-1}, unknown{-1};
  parallel_for(arcs.n, kVertices, threads, monitor, [&](std::int64_t begin, std::int64_t end, int) {
    for (std::int64_t tail = begin; tail < end; ++tail) {
      const std::int32_t from = ranks[tail];
      for (std::int64_t i = arcs.offsets[tail]; i < arcs.offsets[tail + 1]; ++i) {
        const std::int32_t to = ranks[arcs.neighbors[i]];
        if (to == from) {
          keep_first(loop, tail);
          continue;
        }
        const std::int64_t pair = elimination.place(std::min(from, to), std::max(from, to));
        if (pair < 0) {
          keep_first(unknown, i);
        } else {
          (from < to ? up : down)[pair] = static_cast<std::int32_t>(i);
        }
      }
    }
  });
  return {loop, unknown};
}

template <class Weight>
bool is_symmetric(std::int64_t pairs, const PairArcs& arcs, const Weight* weights, int threads,
                  Monitor& monitor) {
  std::atomic<bool> differs{false};
  const auto differ = [&](std::int64_t pair) {
    const std::int32_t there = arcs.up[pair], back = arcs.down[pair];
    if (there < 0 || back < 0) return there != back;
    return weights != nullptr && weights[there] != weights[back];
  };
  parallel_for(pairs, kPairs, threads, monitor, [&](std::int64_t begin, std::int64_t end, int) {
    if (differs.load(std::memory_order_relaxed)) return;
    for (std::int64_t pair = begin; pair < end; ++pair) {
      if (!differ(pair)) continue;
      differs.store(true, std::memory_order_relaxed);
      return;
    }
  });
  return !differs.load(std::memory_order_relaxed);
}

template ArcsFound find_arcs(const graph::Arcs<std::int32_t>&, const std::int32_t*,
                             const Elimination&, std::int32_t*, std::int32_t*, int, Monitor&);
template ArcsFound find_arcs(const graph::Arcs<std::int64_t>&, const std::int32_t*,
                             const Elimination&, std::int32_t*, std::int32_t*, int, Monitor&);

#define KLEENE_INSTANTIATE(Weight) \
  template bool is_symmetric(std::int64_t, const PairArcs&, const Weight*, int, Monitor&);
KLEENE_INSTANTIATE(float)
KLEENE_INSTANTIATE(double)
KLEENE_INSTANTIATE(std::int32_t)
KLEENE_INSTANTIATE(std::int64_t)
KLEENE_INSTANTIATE(std::uint8_t)
#undef KLEENE_INSTANTIATE

}  // namespace kleene::prepared
