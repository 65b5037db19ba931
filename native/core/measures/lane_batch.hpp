// Betweenness of a batch of sources, a lane each: all searches advance level by level together.
//
// A level is a list of vertices with the lanes that have them at that distance. Forward, a vertex
// collects the numbers of paths of its neighbours in the level before, or the neighbours push them,
// where they are few (Then et al. 2014 do so for distances, Beamer et al. 2012 chose by level).
// Backward, the vertices of a level collect from the next one. All arrays belong to the vertex that
// is computed, so threads that share a batch need no atomics. While they do, rows of one level are
// read and rows of the next written, maybe of the same vertex: levels take turns with two arrays.
#pragma once

#include <algorithm>
#include <limits>
#include <vector>

#include "measures/betweenness.hpp"
#include "measures/lane_sums.hpp"
#include "parallel/buffer.hpp"
#include "parallel/team.hpp"

namespace kleene::measures {

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

}  // namespace kleene::measures
