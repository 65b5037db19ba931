#include "prepared/pairs/flows.hpp"

#include <algorithm>
#include <memory>
#include <utility>
#include <vector>

#include "parallel/team.hpp"
#include "prepared/pairs/flow_search.hpp"

namespace kleene::prepared {
namespace {

using parallel::parallel_for;

// Trips by the rank of the origin, in ranks.
std::vector<SortedPair> by_origin(std::int64_t n, const std::int32_t* ranks,
                                  const PairList& trips) {
  std::vector<std::int64_t> next(static_cast<std::size_t>(n) + 1, 0);
  const auto origin = [&](std::int64_t i) {
    return static_cast<std::size_t>(ranks[trips.origins[i]]);
  };
  for (std::int64_t i = 0; i < trips.count; ++i) ++next[origin(i) + 1];
  for (std::size_t v = 0; v + 1 < next.size(); ++v) next[v + 1] += next[v];
  std::vector<SortedPair> sorted(static_cast<std::size_t>(trips.count));
  for (std::int64_t i = 0; i < trips.count; ++i) {
    const std::int32_t s = ranks[trips.origins[i]], t = ranks[trips.destinations[i]];
    sorted[static_cast<std::size_t>(next[origin(i)]++)] = {s, t, i};
  }
  return sorted;
}

// Puts trips of many per origin in tiles: groups of origins, and by destination within a group.
// Then a block of them has few ends, each of which climbs once.
void tile(std::vector<SortedPair>& trips) {
  constexpr std::ptrdiff_t kOrigins = 64, kTripsEach = 8;
  for (auto begin = trips.begin(); begin != trips.end();) {
    auto end = begin;
    for (std::ptrdiff_t origins = 0; end != trips.end(); ++end) {
      const bool is_new = end == begin || end[-1].s != end->s;
      if (is_new && ++origins > kOrigins) break;
    }
    if (end - begin > kOrigins * kTripsEach) {
      std::sort(begin, end, [](const SortedPair& a, const SortedPair& b) { return a.t < b.t; });
    }
    begin = end;
  }
}

}  // namespace

template <class Algebra>
void pair_flows(const Elimination& elimination, const ClimbTree& tree, const std::int32_t* ranks,
                const PairValues<typename Algebra::Value>& values, bool negative,
                const PairList& trips, const double* volumes, const PairFlows& flows,
                std::uint8_t* assigned, int threads, int level, Monitor& monitor) {
  using Search = FlowSearch<Algebra>;
  constexpr std::int64_t kGrain = 64, kBlocksPerThread = 8;
  std::vector<SortedPair> sorted = by_origin(elimination.n, ranks, trips);
  tile(sorted);
  std::vector<std::unique_ptr<Search>> searches(static_cast<std::size_t>(threads));
  const std::int64_t fair = std::max(kGrain, trips.count / (threads * kBlocksPerThread));
  parallel_for(trips.count, std::min(fair, Search::most_trips(tree)), threads, monitor,
               [&](std::int64_t begin, std::int64_t end, int thread) {
                 auto& search = searches[static_cast<std::size_t>(thread)];
                 if (!search) {
                   search = std::make_unique<Search>(elimination, tree, values, !negative, level);
                 }
                 search->add(sorted.data() + begin, sorted.data() + end, volumes,
                             [&](std::int64_t i, bool found) { assigned[i] = found; });
               });
  for (const auto& search : searches) {
    if (!search) continue;
    for (std::int64_t i = 0; i < elimination.arcs(); ++i) {
      flows.up[i] += search->up()[static_cast<std::size_t>(i)];
      flows.down[i] += search->down()[static_cast<std::size_t>(i)];
    }
  }
}

void move_to_arcs(const Elimination& elimination, const Middles& middles, const std::int32_t* order,
                  const PairFlows& flows, const GraphRows& graph, double* arcs, Monitor& monitor) {
  constexpr std::int64_t kPollEvery = 1024;  // vertices
  const auto arc = [&](std::int32_t tail, std::int32_t head) -> double& {
    const std::int32_t* const begin = graph.heads + graph.offsets[tail];
    const std::int32_t* const end = graph.heads + graph.offsets[tail + 1];
    return arcs[std::lower_bound(begin, end, head) - graph.heads];
  };
  const auto move = [&](std::int32_t from, std::int32_t to, double volume, std::int32_t middle) {
    if (volume == 0) return;
    if (middle < 0) {
      arc(order[from], order[to]) += volume;
    } else {  // down to the vertex in the middle, and up from it
      flows.down[elimination.place(middle, from)] += volume;
      flows.up[elimination.place(middle, to)] += volume;
    }
  };
  for (auto v = static_cast<std::int32_t>(elimination.n) - 1; v >= 0; --v) {
    if (v % kPollEvery == 0) monitor.poll();
    for (std::int64_t i = elimination.offsets[v]; i < elimination.offsets[v + 1]; ++i) {
      const std::int32_t u = elimination.heads[i];
      move(v, u, std::exchange(flows.up[i], 0.0), middles.up[i]);
      move(u, v, std::exchange(flows.down[i], 0.0), middles.down[i]);
    }
  }
}

#define KLEENE_PAIR_FLOWS(...)                                                                     \
  template void pair_flows<__VA_ARGS__>(const Elimination&, const ClimbTree&, const std::int32_t*, \
                                        const PairValues<typename __VA_ARGS__::Value>&, bool,      \
                                        const PairList&, const double*, const PairFlows&,          \
                                        std::uint8_t*, int, int, Monitor&);
KLEENE_PAIR_FLOWS(MinPlus<std::int32_t, false>)
KLEENE_PAIR_FLOWS(MinPlus<std::int32_t, true>)
KLEENE_PAIR_FLOWS(MinPlus<std::int64_t, false>)
KLEENE_PAIR_FLOWS(MinPlus<std::int64_t, true>)
KLEENE_PAIR_FLOWS(MinPlus<float, false>)
KLEENE_PAIR_FLOWS(MinPlus<double, false>)

}  // namespace kleene::prepared
