// Betweenness of a batch of sources, a lane each: all searches advance level by level together.
//
// A level is a list of vertices with the lanes that have them at that distance. Forward, a vertex
// collects the numbers of paths of its neighbours in the level before, or the neighbours push them,
// where they are few (Then et al. 2014 do so for distances, Beamer et al. 2012 chose by level).
// Backward, the vertices of a level collect from the next one. All arrays belong to the vertex that
// is computed, so threads that share a batch need no atomics. While they do, rows of one level are
// read and rows of the next written, maybe of the same vertex: levels take turns with two arrays.
#include <algorithm>
#include <limits>
#include <memory>
#include <mutex>
#include <vector>

#include "measures/betweenness.hpp"
#include "measures/lane_sums.hpp"
#include "measures/scaled_count.hpp"
#include "parallel/buffer.hpp"
#include "parallel/team.hpp"
#include "simd/levels.hpp"
#include "sssp/lane_search.hpp"

namespace kleene::measures {
namespace {

// ---- one batch ----------------------------------------------------------------------------------

// An arc costs a push so many times what it costs a pull, which writes a row once and not for every
// arc. GAP's kron and urand of 2^20 vertices, 4 sources: from 2 to 8 the same processor time, 20 %
// more with 32. One thread pushes, while all of a team pull.
constexpr std::int64_t kPushFactor = 4;

template <int kLanes>
class LaneBatch {
 public:
  using Set = LaneSet<kLanes>;
  using Entry = LevelEntry<kLanes>;
  using Worker = parallel::Team::Worker;

  static constexpr std::int64_t kRowBytes = 2 * kLanes * sizeof(double);  // of a vertex

  LaneBatch(const BetweennessProblem& problem, int threads, int level)
      : problem_(problem),
        n_(problem.outgoing.n),
        sums_(lane_sums<kLanes>(level)),
        levels_apart_(threads > 1),
        found_(static_cast<std::size_t>(threads)),
        front_(n_),
        next_(n_),
        seen_(n_) {
    for (int turn = 0; turn <= levels_apart_; ++turn) {
      for (auto* rows : {&counts_[turn], &shares_[turn]}) {
        *rows = parallel::AlignedBuffer<double>(n_ * kLanes);
        parallel::advise_huge_pages(rows->data(), sizeof(double) * n_ * kLanes);
      }
    }
    std::fill_n(front_.data(), n_, Set{});
    std::fill_n(next_.data(), n_, Set{});
  }

  // Adds the sums of sources first .. first + count - 1; all workers of the team call it. Returns
  // false, and adds nothing, where a number of paths is beyond `most`.
  bool run(Worker& worker, std::int64_t first, int count, double most,
           const BetweennessSums& sums) {
    worker.loop(n_, kGrain, [&](std::int64_t begin, std::int64_t end) {
      std::fill(seen_.data() + begin, seen_.data() + end, Set{});
    });
    if (worker.is_leader()) begin(first, count);
    worker.barrier();
    while (!done_) {
      if (pushes_) {
        worker.barrier();  // all have looked at what the leader is about to decide again
        if (worker.is_leader()) push(worker);
      } else {
        pull(worker);
      }
      if (worker.is_leader()) end_level();
      worker.barrier();
    }
    clear(worker, level(last_level()), front_);
    const bool fits = largest_ <= most;
    for (std::int64_t depth = last_level(); fits && depth >= 0; --depth) {
      pull_back(worker, depth, sums);
    }
    return fits;
  }

 private:
  static constexpr std::int64_t kGrain = 1 << 10;

  struct Level {
    const Entry* entries;
    std::int64_t size;
  };

  std::int64_t last_level() const { return std::ssize(starts_) - 2; }
  Level level(std::int64_t depth) const {
    return {entries_.data() + starts_[depth], starts_[depth + 1] - starts_[depth]};
  }
  double* counts(std::int64_t depth) { return counts_[levels_apart_ & depth & 1].data(); }
  double* shares(std::int64_t depth) { return shares_[levels_apart_ & depth & 1].data(); }
  ArcView outgoing() const { return {problem_.outgoing.offsets, problem_.outgoing.neighbors}; }
  ArcView incoming() const { return {problem_.incoming.offsets, problem_.incoming.neighbors}; }

  // ---- forward ----------------------------------------------------------------------------------

  void begin(std::int64_t first, int count) {
    entries_.clear();
    all_ = 0;
    total_ = {};
    for (int k = 0; k < count; ++k) {
      const std::int32_t s = problem_.sources[first + k];
      const Set lane = static_cast<Set>(Set{1} << k);
      entries_.push_back({s, lane});
      front_[s] = seen_[s] = lane;
      counts(0)[s * std::int64_t{kLanes} + k] = 1;
      weights_[k] = problem_.source_weights[first + k];
      all_ |= lane;
      total_.frontier_arcs += problem_.outgoing.degree(s);
      if (seen_[s] == all_) total_.closed_arcs += problem_.incoming.degree(s);
    }
    starts_.assign({0, static_cast<std::int64_t>(count)});
    open_arcs_ = problem_.incoming.count();
    largest_ = 1;
    choose();
  }

  // Decides how the next level is found, if there is one.
  void choose() {
    open_arcs_ -= total_.closed_arcs;
    const std::int64_t depth = last_level();
    done_ = level(depth).size == 0 || depth == problem_.limit;
    const std::int64_t factor = kPushFactor * std::ssize(found_);
    pushes_ = factor * total_.frontier_arcs < open_arcs_ + n_;
    total_ = {};
  }

  ForwardStep<kLanes> step() {
    const std::int64_t depth = last_level();
    return {outgoing(),   incoming(),   all_,          front_.data(),
            next_.data(), seen_.data(), counts(depth), counts(depth + 1)};
  }

  void push(Worker& worker) {
    const Level from = level(last_level());
    const auto size = static_cast<std::size_t>(starts_.back());
    for (std::int64_t at = 0; at < from.size; at += kGrain) {
      const std::int64_t count = std::min(kGrain, from.size - at);
      std::int64_t arcs = 0;
      for (std::int64_t i = at; i < at + count; ++i) {
        arcs += problem_.outgoing.degree(level(last_level()).entries[i].vertex);
      }
      const std::size_t held = entries_.size();
      entries_.resize(held + static_cast<std::size_t>(std::min(arcs, n_)));
      const Found found =
          sums_.push(step(), level(last_level()).entries + at, count, entries_.data() + held);
      entries_.resize(held + static_cast<std::size_t>(found.entries));
      total_.largest = std::max(total_.largest, found.largest);
      worker.poll(arcs);
    }
    for (std::size_t i = size; i < entries_.size(); ++i) {
      const std::int32_t v = entries_[i].vertex;
      entries_[i].lanes = next_[v];
      seen_[v] |= next_[v];
      total_.frontier_arcs += problem_.outgoing.degree(v);
      if (seen_[v] == all_) total_.closed_arcs += problem_.incoming.degree(v);
    }
  }

  void pull(Worker& worker) {
    auto& [entries, total] = found_[static_cast<std::size_t>(worker.thread())];
    entries.clear();
    total = {};
    worker.loop(n_, kGrain, [&](std::int64_t begin, std::int64_t end) {
      const std::size_t held = entries.size();
      entries.resize(held + static_cast<std::size_t>(end - begin));
      const Found more = sums_.pull(step(), begin, end, entries.data() + held);
      entries.resize(held + static_cast<std::size_t>(more.entries));
      total.frontier_arcs += more.frontier_arcs;
      total.closed_arcs += more.closed_arcs;
      total.largest = std::max(total.largest, more.largest);
    });
    if (worker.is_leader()) {
      for (const auto& [own, part] : found_) {
        entries_.insert(entries_.end(), own.begin(), own.end());
        total_.frontier_arcs += part.frontier_arcs;
        total_.closed_arcs += part.closed_arcs;
        total_.largest = std::max(total_.largest, part.largest);
      }
    }
  }

  void end_level() {
    const Level old = level(last_level());
    for (std::int64_t i = 0; i < old.size; ++i) front_[old.entries[i].vertex] = 0;
    std::swap(front_, next_);
    starts_.push_back(std::ssize(entries_));
    largest_ = std::max(largest_, total_.largest);
    choose();
  }

  // ---- backward ---------------------------------------------------------------------------------

  void pull_back(Worker& worker, std::int64_t depth, const BetweennessSums& sums) {
    const bool is_last = depth == last_level();
    const BackwardStep<kLanes> step{outgoing(),        is_last ? nullptr : next_.data(),
                                    front_.data(),     counts(depth),
                                    shares(depth + 1), shares(depth),
                                    weights_,          problem_.target_weights,
                                    depth == 0,        problem_.endpoints,
                                    sums.through,      sums.along};
    const Level own = level(depth);
    worker.loop(own.size, kGrain / 8, [&](std::int64_t begin, std::int64_t end) {
      sums_.pull_back(step, own.entries + begin, end - begin);
    });
    if (!is_last) clear(worker, level(depth + 1), next_);
    if (depth == 0) clear(worker, own, front_);
    if (worker.is_leader()) std::swap(front_, next_);
    worker.barrier();
  }

  void clear(Worker& worker, Level level, parallel::Buffer<Set>& sets) {
    worker.loop(level.size, kGrain, [&](std::int64_t begin, std::int64_t end) {
      for (std::int64_t i = begin; i < end; ++i) sets[level.entries[i].vertex] = 0;
    });
  }

  const BetweennessProblem& problem_;
  const std::int64_t n_;
  const LaneSums<kLanes> sums_;
  const bool levels_apart_;

  struct Share {
    std::vector<Entry> entries;
    Found total;
  };
  std::vector<Share> found_;          // of each thread, in the step that runs
  std::vector<Entry> entries_;        // of all levels
  std::vector<std::int64_t> starts_;  // of each level, in entries_
  parallel::Buffer<Set> front_, next_, seen_;
  parallel::AlignedBuffer<double> counts_[2];  // of paths
  parallel::AlignedBuffer<double> shares_[2];  // handed back for one path
  alignas(64) double weights_[kLanes] = {};    // of the sources
  Set all_ = 0;
  Found total_;                 // of the step that runs
  std::int64_t open_arcs_ = 0;  // enter vertices that some lane has not seen
  double largest_ = 0;
  bool done_ = false, pushes_ = false;
};

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
