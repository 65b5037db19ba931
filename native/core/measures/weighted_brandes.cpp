// Betweenness with arc lengths: a search from each source, then a pass back over its shortest
// paths.
//
// Distances come from searches of near sources at once, a vector lane each (sssp/lane_search.hpp);
// so does the list of the arcs on shortest paths, which a vector comparison finds for all of them.
// Counting and adding up are done source by source (shortest_path_arcs.hpp). Where sources share
// little work, and for 64-bit ids, each has its own search by Dijkstra's algorithm.
//
// Threads take sources, and have sums of their own, which are added in the end.
#include <atomic>
#include <bit>
#include <memory>
#include <type_traits>

#include "measures/betweenness.hpp"
#include "parallel/team.hpp"
#include "sssp/delta_stepping.hpp"
#include "sssp/heap.hpp"
#include "sssp/lane_search.hpp"

namespace kleene::measures {
namespace {

// Lanes list the tight arcs of all their sources: a graph with more arcs takes too much memory.
constexpr std::int64_t kMostArcsInLanes = 1 << 25;

// Tight arcs of one source after the other, by Dijkstra's algorithm.
template <class Id, class Value>
class SingleSearch {
 public:
  explicit SingleSearch(const WeightedPaths<Id, Value>& paths)
      : arcs_(paths.arcs),
        limit_(paths.limit),
        distances_(static_cast<std::size_t>(arcs_.n), kNoPath<Value>) {}

  void search(Id source, TightArcs<Id>& tight, CancelCheck& check_cancelled) {
    queue_.clear();
    lower(source, 0);
    while (!queue_.empty()) {
      const auto [distance, u] = queue_.pop();
      if (distance != distances_[u]) continue;
      if (++steps_ % kCheckEvery == 0) check_cancelled();
      for (std::int64_t i = arcs_.offsets[u]; i < arcs_.offsets[u + 1]; ++i) {
        const Value through = distance + arcs_.weights[i];
        if (through < distances_[arcs_.neighbors[i]] && !(through > limit_))
          lower(arcs_.neighbors[i], through);
      }
    }
    for (const Id u : touched_) {
      if (++steps_ % kCheckEvery == 0) check_cancelled();
      for (std::int64_t i = arcs_.offsets[u]; i < arcs_.offsets[u + 1]; ++i) {
        const Id v = arcs_.neighbors[i];
        if (distances_[u] + arcs_.weights[i] == distances_[v]) tight.add(u, v, i);
      }
    }
    for (const Id v : touched_) distances_[v] = kNoPath<Value>;
    touched_.clear();
  }

 private:
  void lower(Id v, Value distance) {
    if (distances_[v] == kNoPath<Value>) touched_.push_back(v);
    distances_[v] = distance;
    queue_.push({distance, v});
  }

  // As in sssp/dijkstra.hpp.
  using Queue = std::conditional_t<std::is_integral_v<Value>, sssp::RadixHeap<Id, Value>,
                                   sssp::QuadHeap<Id, Value>>;

  const Arcs<Id, Value> arcs_;
  const Value limit_;
  std::vector<Value> distances_;
  std::vector<Id> touched_;  // vertices that have a distance
  Queue queue_;
  std::uint64_t steps_ = 0;
};

// Tight arcs of several sources at once.
template <class Value>
class LaneTightArcs {
 public:
  using Id = std::int32_t;
  static constexpr int kWidth = sssp::kLanes<Value>;

  explicit LaneTightArcs(const WeightedPaths<Id, Value>& paths)
      : arcs_(paths.arcs),
        limit_(paths.limit),
        kernel_(sssp::tight_lanes<Value>(paths.level)),
        search_(problem(paths), false, width(paths)) {}

  void search(const Id* sources, int count, TightArcs<Id>* tight, CancelCheck check_cancelled) {
    search_.search(sources, count, check_cancelled);
    const Value* const distances = search_.distances();
    for (const Id u : search_.touched()) {
      if (++steps_ % kCheckEvery == 0) check_cancelled();
      const std::int64_t begin = arcs_.offsets[u], degree = arcs_.offsets[u + 1] - begin;
      if (std::ssize(masks_) < degree) masks_.resize(static_cast<std::size_t>(degree));
      kernel_(distances + std::int64_t{u} * kWidth, degree, arcs_.neighbors + begin,
              arcs_.weights + begin, limit_, distances, masks_.data());
      for (std::int64_t i = 0; i < degree; ++i) {
        for (unsigned mask = masks_[i]; mask; mask &= mask - 1) {
          tight[std::countr_zero(mask)].add(u, arcs_.neighbors[begin + i], begin + i);
        }
      }
    }
  }

  bool shared_work() const { return search_.shared_work(); }

 private:
  static sssp::Problem<Id, Value> problem(const WeightedPaths<Id, Value>& paths) {
    sssp::Problem<Id, Value> made;
    made.outgoing = {paths.arcs.n, paths.arcs.offsets, paths.arcs.neighbors};
    made.lengths = paths.arcs.weights;
    made.stop.limit = paths.limit;
    made.level = paths.level;
    return made;
  }
  static double width(const WeightedPaths<Id, Value>& paths) {
    const double mean = sssp::mean_length(problem(paths).outgoing, paths.arcs.weights);
    return mean > 0 ? mean : 1;
  }

  const Arcs<Id, Value> arcs_;
  const Value limit_;
  sssp::TightLanes<Value>* const kernel_;
  sssp::LaneSearch<Value> search_;
  std::vector<std::uint16_t> masks_;
  std::uint64_t steps_ = 0;
};

// What one thread has of its own: searches, lists of tight arcs, sums.
template <class Id, class Value>
class Worker {
 public:
  Worker(const WeightedPaths<Id, Value>& paths, const PathSums& sums)
      : paths_(paths),
        counter_(paths.arcs.n),
        vertices_(static_cast<std::size_t>(paths.arcs.n)),
        arcs_(static_cast<std::size_t>(sums.arcs ? paths.arcs.count() : 0)),
        sums_{vertices_.data(), sums.arcs ? arcs_.data() : nullptr, sums.target, sums.endpoints},
        tight_(kWidth, TightArcs<Id>(sums.arcs != nullptr)) {}

  static constexpr std::int64_t kWidth = sssp::kLanes<Value>;

  // From up to kWidth sources at once; false if they shared little work.
  bool add_batch(const Id* sources, int count, CancelCheck check_cancelled) {
    if constexpr (std::is_same_v<Id, std::int32_t>) {
      if (!lanes_) lanes_ = std::make_unique<LaneTightArcs<Value>>(paths_);
      lanes_->search(sources, count, tight_.data(), check_cancelled);
      for (int k = 0; k < count; ++k) add(sources[k], tight_[k], check_cancelled);
      return lanes_->shared_work();
    }
    return false;
  }

  // From one source after the other.
  void add_singly(const Id* sources, int count, CancelCheck check_cancelled) {
    if (!single_) single_ = std::make_unique<SingleSearch<Id, Value>>(paths_);
    for (int k = 0; k < count; ++k) {
      single_->search(sources[k], tight_[0], check_cancelled);
      add(sources[k], tight_[0], check_cancelled);
    }
  }

  // Adds a part of its sums to those of all threads.
  void add_up(const PathSums& sums, std::int64_t begin, std::int64_t end) const {
    for (std::int64_t v = begin; v < std::min(end, std::ssize(vertices_)); ++v)
      sums.vertices[v] += vertices_[v];
    for (std::int64_t i = begin; i < std::min(end, std::ssize(arcs_)); ++i)
      sums.arcs[i] += arcs_[i];
  }

 private:
  void add(Id source, TightArcs<Id>& tight, CancelCheck& check_cancelled) {
    check_cancelled();
    counter_.count(source, tight, check_cancelled);
    counter_.add_to(sums_, check_cancelled);
    tight.clear();
  }

  const WeightedPaths<Id, Value>& paths_;
  ShortestPathArcs<Id> counter_;
  std::vector<double> vertices_, arcs_;
  const PathSums sums_;
  std::vector<TightArcs<Id>> tight_;  // one for each lane
  std::unique_ptr<LaneTightArcs<Value>> lanes_;
  std::unique_ptr<SingleSearch<Id, Value>> single_;
};

}  // namespace

template <class Id, class Value>
void weighted_brandes(const WeightedPaths<Id, Value>& paths, const PathSums& sums, int threads,
                      Monitor& monitor) {
  using Own = Worker<Id, Value>;
  constexpr std::int64_t kWidth = Own::kWidth;
  const Arcs<Id> arcs{paths.arcs.n, paths.arcs.offsets, paths.arcs.neighbors};
  std::vector<Id> sources;
  for (const std::int64_t at : sssp::order_by_nearness(arcs, paths.sources, paths.count, kWidth))
    sources.push_back(paths.sources[at]);
  std::atomic<bool> singly{!std::is_same_v<Id, std::int32_t> || arcs.count() > kMostArcsInLanes ||
                           paths.count < sssp::kSourcesWorthLanes};
  std::atomic<std::int64_t> next{0}, poor{0};
  const std::int64_t step = singly ? 1 : kWidth;  // sources that a thread takes at a time
  const std::int64_t pieces = (paths.count + step - 1) / step;
  std::vector<std::unique_ptr<Own>> workers(static_cast<std::size_t>(threads));
  run_team(static_cast<int>(std::min<std::int64_t>(threads, pieces)), monitor,
           [&](Team::Worker& worker) {
             auto& own = workers[static_cast<std::size_t>(worker.thread())];
             own = std::make_unique<Own>(paths, sums);
             const CancelCheck check_cancelled(monitor, worker.thread());
             for (std::int64_t first; (first = step * next.fetch_add(1)) < paths.count;) {
               const auto count = static_cast<int>(std::min(step, paths.count - first));
               if (singly) {
                 own->add_singly(sources.data() + first, count, check_cancelled);
               } else if (!own->add_batch(sources.data() + first, count, check_cancelled)) {
                 const std::int64_t bad = poor.fetch_add(1) + 1;
                 if (bad >= sssp::kPoorBatches && 4 * bad > next) singly = true;
               }
               monitor.advance(static_cast<std::uint64_t>(count));
               if (worker.is_leader()) monitor.poll();
             }
           });
  constexpr std::int64_t kGrain = 1 << 14;
  const std::int64_t all = std::max(paths.arcs.n, sums.arcs ? arcs.count() : 0);
  Monitor quiet;  // progress counts sources
  parallel_for(all, kGrain, threads, quiet, [&](std::int64_t begin, std::int64_t end, int) {
    for (const auto& own : workers) {
      if (own) own->add_up(sums, begin, end);
    }
  });
}

#define KLEENE_WEIGHTED_BRANDES(Id, Value) \
  template void weighted_brandes(const WeightedPaths<Id, Value>&, const PathSums&, int, Monitor&);
KLEENE_WEIGHTED_BRANDES(std::int32_t, std::int32_t)
KLEENE_WEIGHTED_BRANDES(std::int32_t, std::int64_t)
KLEENE_WEIGHTED_BRANDES(std::int32_t, double)
KLEENE_WEIGHTED_BRANDES(std::int64_t, std::int32_t)
KLEENE_WEIGHTED_BRANDES(std::int64_t, std::int64_t)
KLEENE_WEIGHTED_BRANDES(std::int64_t, double)

}  // namespace kleene::measures
