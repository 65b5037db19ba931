// Trips on the best paths of an eliminated graph: how much goes along each arc.
//
// Both ends of a trip climb, as in pair_search.hpp, and its volume goes to the pairs that the best
// path consists of. Where ends have several trips, every end climbs once: volumes gather at
// the places where climbs meet, and go down to the end of the climb together. At last one pass over
// all pairs, from the highest rank down, moves the flow of a pair to the two pairs of the vertex in
// its middle, which is lower, until all flow is on arcs. So no path is unpacked by itself.
//
// A path may make a detour of length zero, which is not cut out: callers whose graphs have cycles
// of length zero unpack paths (pairs.hpp).
#include <algorithm>
#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include "parallel/team.hpp"
#include "prepared/pairs/pair_search.hpp"
#include "prepared/pairs/pairs.hpp"

namespace kleene::prepared {
namespace {

using parallel::parallel_for;

// ---- one thread's trips, along the pairs of an elimination --------------------------------------

template <class Algebra>
class FlowSearch {
 public:
  using Value = typename Algebra::Value;

  // Trips of a block, so that the climbs of their destinations stay in the cache.
  static std::int64_t most_trips(const ClimbTree& tree) {
    return std::max<std::int64_t>(64, BlockSearch<Algebra>::most_pairs(tree) / 2);
  }

  FlowSearch(const Elimination& elimination, const ClimbTree& tree, const PairValues<Value>& values,
             bool prune, int level)
      : elimination_(elimination),
        tree_(tree),
        kernel_(climb_kernel<Value, KindOf<Algebra>::kKind>(true, level)),
        search_(tree, values, prune, true, level),
        top_(tree.n() ? tree.row(tree.n() - 1).place : -1),  // a root: they have the last place
        leaving_(static_cast<std::size_t>(tree.places()), 0.0),
        up_(static_cast<std::size_t>(elimination.arcs()), 0.0),
        down_(static_cast<std::size_t>(elimination.arcs()), 0.0) {}

  // Adds some trips, and sorts them; calls tell(index, whether there is a path).
  template <class Tell>
  void add(SortedPair* begin, SortedPair* end, const double* volumes, Tell&& tell) {
    std::sort(begin, end);
    const auto is_new_origin = [&](const SortedPair& trip) {
      return &trip == begin || (&trip)[-1].s != trip.s;
    };
    list_targets(begin, end);
    const auto climbs =
        std::count_if(begin, end, is_new_origin) + static_cast<std::ptrdiff_t>(targets_.size());
    if (2 * climbs > 3 * (end - begin)) {
      for (const SortedPair* trip = begin; trip != end; ++trip) {
        tell(trip->index, trip->s == trip->t || add_one(trip->s, trip->t, volumes[trip->index]));
      }
      return;
    }
    climb_to_targets();
    for (const SortedPair* trip = begin; trip != end; ++trip) {
      if (is_new_origin(*trip)) climb(search_.origin(), trip->s);
      tell(trip->index, trip->s == trip->t || join(*trip, volumes[trip->index]));
      if (trip + 1 == end || is_new_origin(trip[1])) {
        const Climb<Value> own = search_.origin().climb();
        const std::int32_t start = tree_.row(trip->s).place;
        descend(of_start(start, own.tails), of_start(start, own.ancestors),
                of_start(start, leaving_.data()), up_);
      }
    }
    for (const Target& target : climbed_) {
      descend(of_target(target, tails_), of_target(target, ancestors_),
              of_target(target, arriving_), down_);
    }
  }

  const std::vector<double>& up() const { return up_; }
  const std::vector<double>& down() const { return down_; }

 private:
  // Entries of a climb by place, from the place of its start on.
  template <class T>
  struct ByPlace {
    T* entries;
    std::int32_t start;
    T& operator[](std::int32_t place) const { return entries[place - start]; }
  };

  // A destination that has climbed: its place, and where its entries begin.
  struct Target {
    std::int64_t first;
    std::int32_t place;
  };

  template <class T>
  static ByPlace<T> of_target(const Target& target, std::vector<T>& entries) {
    return {entries.data() + target.first, target.place};
  }

  template <class T>
  static ByPlace<T> of_start(std::int32_t start, T* by_place) {
    return {by_place + start, start};
  }

  // ---- a trip by itself -------------------------------------------------------------------------

  bool add_one(std::int32_t s, std::int32_t t, double volume) {
    const std::int32_t meeting = search_.search(s, t).place;
    if (meeting < 0) return false;
    walk(search_.origin(), meeting, tree_.row(s).place, volume, up_);
    walk(search_.destination(), meeting, tree_.row(t).place, volume, down_);
    return true;
  }

  void walk(ClimbState<Algebra>& climb, std::int32_t from, std::int32_t to, double volume,
            std::vector<double>& flows) {
    for (std::int32_t above = from, below; above != to; above = below) {
      below = climb.tail(above);
      flow(climb.ancestor(below), climb.ancestor(above), flows) += volume;
    }
  }

  // ---- trips that share climbs ------------------------------------------------------------------

  void list_targets(const SortedPair* begin, const SortedPair* end) {
    targets_.clear();
    for (const SortedPair* trip = begin; trip != end; ++trip) targets_.push_back(trip->t);
    std::sort(targets_.begin(), targets_.end());
    targets_.erase(std::unique(targets_.begin(), targets_.end()), targets_.end());
  }

  void climb(ClimbState<Algebra>& state, std::int32_t v) {
    state.start(tree_.row(v).place);
    kernel_.climb(tree_.rows(), state.climb(), v, tree_.n(), Algebra::zero());
  }

  void climb_to_targets() {
    climbed_.clear();
    best_.clear();
    tails_.clear();
    ancestors_.clear();
    for (const std::int32_t t : targets_) {
      climb(search_.destination(), t);
      const std::int32_t place = tree_.row(t).place;
      climbed_.push_back({static_cast<std::int64_t>(best_.size()), place});
      const Climb<Value> own = search_.destination().climb();
      best_.insert(best_.end(), own.best + place, own.best + top_ + 1);
      tails_.insert(tails_.end(), own.tails + place, own.tails + top_ + 1);
      ancestors_.insert(ancestors_.end(), own.ancestors + place, own.ancestors + top_ + 1);
    }
    arriving_.assign(best_.size(), 0.0);
  }

  // Leaves the volume where both climbs meet.
  bool join(const SortedPair& trip, double volume) {
    const auto at = std::lower_bound(targets_.begin(), targets_.end(), trip.t) - targets_.begin();
    const Target& target = climbed_[static_cast<std::size_t>(at)];
    const Climb<Value> origin = search_.origin().climb();
    const ByPlace<std::int32_t> others = of_target(target, ancestors_);
    if (origin.ancestors[top_] != others[top_]) return false;
    // From their lowest common ancestor on, both have the same ancestors.
    std::int32_t low = std::max(tree_.row(trip.s).place, target.place), high = top_;
    while (low < high) {
      const std::int32_t middle = low + (high - low) / 2;
      if (origin.ancestors[middle] == others[middle]) {
        high = middle;
      } else {
        low = middle + 1;
      }
    }
    const std::int32_t meeting = meet(origin.best, of_target(target, best_), low);
    if (meeting < 0) return false;
    leaving_[static_cast<std::size_t>(meeting)] += volume;
    of_target(target, arriving_)[meeting] += volume;
    return true;
  }

  // The lowest place from `first` on that the best path leads over; -1 if there is no path.
  std::int32_t meet(const Value* origin, const ByPlace<Value>& destination,
                    std::int32_t first) const {
    const Value none = Algebra::zero();
    const Value best = kernel_.join(origin + first, &destination[first], top_ + 1 - first, none);
    if (best == none) return -1;
    for (std::int32_t place = first; place <= top_; ++place) {
      const Value a = origin[place], b = destination[place];
      if (a != none && b != none && static_cast<Value>(a + b) == best) return place;
    }
    return -1;  // sums beyond the longest path stand for none
  }

  // Moves what has gathered on a climb down to its start.
  void descend(const ByPlace<std::int32_t>& tails, const ByPlace<std::int32_t>& ancestors,
               const ByPlace<double>& gathered, std::vector<double>& flows) {
    for (std::int32_t place = top_; place > gathered.start; --place) {
      const double volume = std::exchange(gathered[place], 0.0);
      if (volume == 0) continue;
      gathered[tails[place]] += volume;
      flow(ancestors[tails[place]], ancestors[place], flows) += volume;
    }
    gathered[gathered.start] = 0;
  }

  double& flow(std::int32_t low, std::int32_t high, std::vector<double>& flows) const {
    return flows[static_cast<std::size_t>(elimination_.place(low, high))];
  }

  const Elimination elimination_;
  const ClimbTree& tree_;
  const ClimbKernel<Value> kernel_;
  PairSearch<Algebra> search_;
  const std::int32_t top_;
  std::vector<double> leaving_;  // by place of the origin's climb; zero between origins
  std::vector<double> up_, down_;
  std::vector<std::int32_t> targets_;  // ranks, ascending
  std::vector<Target> climbed_;        // one per target
  std::vector<Value> best_;
  std::vector<std::int32_t> tails_, ancestors_;
  std::vector<double> arriving_;
};

// ---- all trips ----------------------------------------------------------------------------------

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
