#include <memory>
#include <mutex>
#include <vector>

#include "measures/betweenness.hpp"
#include "measures/lane_batch.hpp"
#include "measures/scaled_count.hpp"
#include "parallel/team.hpp"
#include "simd/levels.hpp"
#include "sssp/lane_search.hpp"

namespace kleene::measures {
namespace {

// ---- one source, in numbers that no count of paths overflows ------------------------------------

// Betweenness of one source by the plain algorithm.
class PlainSums {
 public:
  explicit PlainSums(const BetweennessProblem& problem)
      : problem_(problem),
        depth_(static_cast<std::size_t>(problem.outgoing.n), -1),
        counts_(depth_.size()),
        shares_(depth_.size()) {}

  // Adds the sums of a source.
  void run(std::int32_t source, double weight, const BetweennessSums& sums) {
    count_paths(source);
    const Arcs<std::int32_t>& arcs = problem_.outgoing;
    for (std::size_t at = queue_.size(); at-- > 0;) {
      const std::int32_t u = queue_[at];
      ScaledCount share = 0;
      for (std::int64_t i = arcs.offsets[u]; i < arcs.offsets[u + 1]; ++i) {
        const std::int32_t v = arcs.neighbors[i];
        if (depth_[v] != depth_[u] + 1) continue;
        share += shares_[v];
        if (sums.along) sums.along[i] += weight * static_cast<double>(counts_[u] * shares_[v]);
      }
      const double onward = static_cast<double>(counts_[u] * share);
      const double target = at == 0 ? 0 : problem_.target_weights[u];
      if (at > 0 || problem_.endpoints) {
        sums.through[u] += weight * (problem_.endpoints ? onward + target : onward);
      }
      shares_[u] = ScaledCount(onward + target) / counts_[u];
    }
    for (const std::int32_t u : queue_) depth_[u] = -1;
  }

 private:
  void count_paths(std::int32_t source) {
    const Arcs<std::int32_t>& arcs = problem_.outgoing;
    queue_.assign(1, source);
    depth_[source] = 0;
    counts_[source] = 1;
    for (std::size_t at = 0; at < queue_.size(); ++at) {
      const std::int32_t u = queue_[at];
      if (depth_[u] == problem_.limit) break;
      for (std::int64_t i = arcs.offsets[u]; i < arcs.offsets[u + 1]; ++i) {
        const std::int32_t v = arcs.neighbors[i];
        if (depth_[v] < 0) {
          depth_[v] = depth_[u] + 1;
          counts_[v] = 0;
          queue_.push_back(v);
        }
        if (depth_[v] == depth_[u] + 1) counts_[v] += counts_[u];
      }
    }
  }

  const BetweennessProblem& problem_;
  std::vector<std::int64_t> depth_;  // -1 between runs
  std::vector<ScaledCount> counts_, shares_;
  std::vector<std::int32_t> queue_;
};

using parallel::Team;

// ---- batches of sources -------------------------------------------------------------------------

// Bytes of the rows of a batch, beyond which there are no more than 8 lanes: rows that a core's
// part of the cache holds are added several times as fast. 64 sources of R-MAT 17 take 0.65 s with
// 8 or 16 lanes and 0.93 s with 64, those of R-MAT 19 3.1 s and 4.4 s; 1000 of the Facebook graph
// 88 ms with 8 and 34 ms with 64. One core of an EPYC with AVX-512 and 32 MiB of cache.
constexpr std::int64_t kBatchBytes = std::int64_t{1} << 24;

// Without AVX-512 a row of 64 numbers has more vectors than registers: 47 ms and not 40 with 32.
constexpr int kAvx512 = 2;  // a level

// What one thread, or a team that shares its batches, works with.
template <int kLanes>
class Workspace {
 public:
  Workspace(const BetweennessProblem& problem, bool arcs, int threads, int level)
      : problem_(problem),
        batch_(problem, threads, level),
        through_(static_cast<std::size_t>(problem.outgoing.n)),
        along_(arcs ? static_cast<std::size_t>(problem.outgoing.count()) : 0) {}

  void run(Team::Worker& worker, std::int64_t first) {
    const auto count =
        static_cast<int>(std::min<std::int64_t>(kLanes, problem_.source_count - first));
    if (batch_.run(worker, first, count, kLargestCount, sums())) return;
    if (worker.is_leader()) {
      if (!plain_) plain_ = std::make_unique<PlainSums>(problem_);
      for (std::int64_t k = first; k < first + count; ++k) {
        plain_->run(problem_.sources[k], problem_.source_weights[k], sums());
        worker.poll(problem_.outgoing.count());
      }
    }
    worker.barrier();
  }

  BetweennessSums sums() { return {through_.data(), along_.empty() ? nullptr : along_.data()}; }

  void add_to(const BetweennessSums& total) const {
    for (std::size_t v = 0; v < through_.size(); ++v) total.through[v] += through_[v];
    for (std::size_t i = 0; i < along_.size(); ++i) total.along[i] += along_[i];
  }

 private:
  const BetweennessProblem& problem_;
  LaneBatch<kLanes> batch_;
  std::unique_ptr<PlainSums> plain_;
  std::vector<double> through_, along_;
};

// All threads work on one batch after the other.
template <int kLanes>
void share_batches(const BetweennessProblem& problem, const BetweennessSums& sums, int threads,
                   int level, Monitor& monitor) {
  Workspace<kLanes> workspace(problem, sums.along != nullptr, threads, level);
  parallel::run_team(threads, monitor, [&](Team::Worker& worker) {
    for (std::int64_t first = 0; first < problem.source_count; first += kLanes) {
      workspace.run(worker, first);
      if (worker.is_leader()) monitor.advance(kLanes);
    }
  });
  workspace.add_to(sums);
}

// Each thread takes batches of its own.
template <int kLanes>
void take_batches(const BetweennessProblem& problem, const BetweennessSums& sums, int threads,
                  int level, Monitor& monitor) {
  const std::int64_t batches = (problem.source_count + kLanes - 1) / kLanes;
  std::mutex guard;
  std::vector<std::unique_ptr<Workspace<kLanes>>> all;
  std::vector<Workspace<kLanes>*> idle;
  parallel::parallel_each(batches, threads, monitor, [&](std::int64_t batch, Monitor& own) {
    Workspace<kLanes>* workspace = nullptr;
    {
      const std::lock_guard lock(guard);
      if (!idle.empty()) {
        workspace = idle.back();
        idle.pop_back();
      }
    }
    if (!workspace) {
      auto made = std::make_unique<Workspace<kLanes>>(problem, sums.along != nullptr, 1, level);
      workspace = made.get();
      const std::lock_guard lock(guard);
      all.push_back(std::move(made));
    }
    Team alone(1, own);
    Team::Worker worker(alone, 0);
    workspace->run(worker, batch * kLanes);
    const std::lock_guard lock(guard);
    idle.push_back(workspace);
    monitor.advance(kLanes - 1);  // sources, of which the loop counts one
  });
  for (const auto& workspace : all) workspace->add_to(sums);
}

template <int kLanes>
void run(const BetweennessProblem& problem, const BetweennessSums& sums, int threads, int level,
         Monitor& monitor) {
  const std::int64_t batches = (problem.source_count + kLanes - 1) / kLanes;
  if (threads > 1 && batches < threads) {
    share_batches<kLanes>(problem, sums, threads, level, monitor);
  } else {
    take_batches<kLanes>(problem, sums, threads, level, monitor);
  }
}

// As many as there are sources, unless their rows grow too large.
int choose_lanes(const BetweennessProblem& problem, int level) {
  const int most = simd::resolve(level) == kAvx512 ? 64 : 32;
  constexpr int kFew = 8;
  int lanes = 4;
  while (lanes < most && lanes < problem.source_count &&
         (lanes < kFew ||
          LaneBatch<4>::kRowBytes / 4 * 2 * lanes * problem.outgoing.n <= kBatchBytes)) {
    lanes *= 2;
  }
  return lanes;
}

}  // namespace

void betweenness_by_lanes(const BetweennessProblem& problem, const BetweennessSums& sums, int lanes,
                          int threads, int level, Monitor& monitor) {
  if (lanes == 0) lanes = choose_lanes(problem, level);
  // Sources near each other have many vertices at the same distance.
  const std::vector<std::int64_t> order =
      sssp::order_by_nearness(problem.outgoing, problem.sources, problem.source_count, lanes);
  std::vector<std::int32_t> sources(order.size());
  std::vector<double> weights(order.size());
  for (std::size_t k = 0; k < order.size(); ++k) {
    sources[k] = problem.sources[order[k]];
    weights[k] = problem.source_weights[order[k]];
  }
  BetweennessProblem ordered = problem;
  ordered.sources = sources.data();
  ordered.source_weights = weights.data();
  const auto search = lanes == 4    ? run<4>
                      : lanes == 8  ? run<8>
                      : lanes == 16 ? run<16>
                      : lanes == 32 ? run<32>
                                    : run<64>;
  search(ordered, sums, threads, level, monitor);
}

}  // namespace kleene::measures
