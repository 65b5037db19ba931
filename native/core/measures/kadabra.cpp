// How often random shortest paths pass each vertex and each arc (Riondato and Kornaropoulos 2016,
// "Fast approximation of betweenness centrality through sampling"; Borassi and Natale 2016,
// "KADABRA is an ADaptive Algorithm for Betweenness via Random Approximation").
//
// A sample is a uniform ordered pair of different vertices and a uniform shortest path between
// them, if there is one. A vertex is inside the path with the probability
//
//   sum over s != v != t of (paths from s to t through v) / (paths from s to t) / (n (n - 1)),
//
// which is its betweenness over ordered pairs. Sampling goes on until the counts are below limits
// that the caller has computed for the number of samples (backends/common/sample_limits.py says
// how, and what follows from it).
//
// Sample i has random numbers of its own, and counts are integers: they depend on the seed and on
// the number of samples, not on threads.
#include <algorithm>
#include <atomic>
#include <memory>
#include <vector>

#include "measures/betweenness.hpp"
#include "measures/hop_path_sampler.hpp"
#include "measures/weighted_path_sampler.hpp"
#include "parallel/team.hpp"

namespace kleene::measures {
namespace {

constexpr std::int64_t kGrain = 8;  // samples that a thread takes at a time

// The samples of one thread.
template <class Id, class Weight>
class PathCounter {
 public:
  PathCounter(const PathSampling<Id, Weight>& sampling, std::int64_t* counts, CancelCheck check)
      : sampling_(sampling),
        counts_(counts),
        stream_(sampling.seed, generate::Purpose::kPaths),
        sampler_(sampling.outgoing, sampling.incoming, check) {}

  void take(std::int64_t sample) {
    PathDraws draws(stream_.branch(static_cast<std::uint64_t>(sample)));
    const auto n = static_cast<std::uint64_t>(sampling_.outgoing.n);
    const std::uint64_t source = draws.below(n), other = draws.below(n - 1);
    const std::uint64_t target = other + (other >= source ? 1 : 0);
    if (!sampler_.sample(static_cast<Id>(source), static_cast<Id>(target), draws, path_)) return;
    const std::size_t inner = sampling_.endpoints ? 0 : 1;
    for (std::size_t i = inner; i + inner < path_.size(); ++i) add(path_[i]);
    if (!sampling_.arcs) return;
    for (std::size_t i = 1; i < path_.size(); ++i) {
      add(sampling_.outgoing.n + arc(path_[i - 1], path_[i]));
    }
  }

 private:
  using Sampler =
      std::conditional_t<kWeighted<Weight>, WeightedPathSampler<Id, Weight>, HopPathSampler<Id>>;

  // Threads share the counts; few of their steps write them.
  void add(std::int64_t item) {
    std::atomic_ref<std::int64_t>(counts_[item]).fetch_add(1, std::memory_order_relaxed);
  }

  // The position of the arc that counts for u to v: rows are sorted by head.
  std::int64_t arc(Id u, Id v) const {
    if (sampling_.undirected && v < u) std::swap(u, v);
    const Arcs<Id, Weight>& arcs = sampling_.outgoing;
    const Id* const end = arcs.neighbors + arcs.offsets[u + 1];
    return std::lower_bound(arcs.neighbors + arcs.offsets[u], end, v) - arcs.neighbors;
  }

  const PathSampling<Id, Weight>& sampling_;
  std::int64_t* const counts_;
  const generate::Stream stream_;
  Sampler sampler_;
  std::vector<Id> path_;
};

bool within_limits(const StopLimits& stop, std::int64_t k, const std::int64_t* counts,
                   std::int64_t items, int threads, Monitor& monitor) {
  constexpr std::int64_t kItems = 1 << 16;
  if (stop.class_of == nullptr) return false;
  const std::int64_t* const limits = stop.limits + k * stop.classes;
  std::atomic<bool> within{true};
  HelperTeam helpers(threads, monitor);
  helpers.loop(threads_worth(items, kItems, threads), items, kItems,
               [&](std::int64_t begin, std::int64_t end, int) {
                 for (std::int64_t i = begin; i < end; ++i) {
                   if (counts[i] <= limits[stop.class_of[i]]) continue;
                   return within.store(false, std::memory_order_relaxed);
                 }
               });
  return within.load(std::memory_order_relaxed);
}

}  // namespace

template <class Id, class Weight>
std::int64_t sample_paths(const PathSampling<Id, Weight>& sampling, std::int64_t first,
                          const StopLimits& stop, std::int64_t* counts, int threads,
                          Monitor& monitor) {
  using Counter = PathCounter<Id, Weight>;
  const std::int64_t items = sampling.outgoing.n + (sampling.arcs ? sampling.outgoing.count() : 0);
  std::vector<std::unique_ptr<Counter>> counters(static_cast<std::size_t>(threads));
  std::int64_t taken = 0;
  for (std::int64_t k = 0; k < stop.stops; ++k) {
    parallel_for(stop.ends[k] - taken, kGrain, threads, monitor,
                 [&](std::int64_t begin, std::int64_t end, int thread) {
                   auto& counter = counters[static_cast<std::size_t>(thread)];
                   if (!counter) {
                     counter =
                         std::make_unique<Counter>(sampling, counts, CancelCheck(monitor, thread));
                   }
                   for (std::int64_t i = begin; i < end; ++i) counter->take(first + taken + i);
                 });
    taken = stop.ends[k];
    if (within_limits(stop, k, counts, items, threads, monitor)) break;
  }
  return taken;
}

#define KLEENE_SAMPLE_PATHS(Id, Weight)                                             \
  template std::int64_t sample_paths(const PathSampling<Id, Weight>&, std::int64_t, \
                                     const StopLimits&, std::int64_t*, int, Monitor&);
#define KLEENE_SAMPLE_ALL_PATHS(Id)     \
  KLEENE_SAMPLE_PATHS(Id, NoWeight)     \
  KLEENE_SAMPLE_PATHS(Id, float)        \
  KLEENE_SAMPLE_PATHS(Id, double)       \
  KLEENE_SAMPLE_PATHS(Id, std::int32_t) \
  KLEENE_SAMPLE_PATHS(Id, std::int64_t)
KLEENE_SAMPLE_ALL_PATHS(std::int32_t)
KLEENE_SAMPLE_ALL_PATHS(std::int64_t)

}  // namespace kleene::measures
