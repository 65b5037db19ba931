// Many breadth-first searches at once, a bit each (Then et al. 2014, The More the Merrier:
// Efficient Multi-Source Graph Traversal).
//
// A batch of up to 512 searches traverses the graph together. Every vertex has two sets of
// searches, as bits: those that have visited it and those that have it in their frontier. One scan
// of an arc then advances all searches of the batch: those with u in their frontier that have not
// visited v reach v. Searches from nearby sources, and all searches on small-world graphs, share
// most of their work.
//
// As in direction_optimizing.cpp, levels push from a list of vertices while few are in any frontier
// and pull into all vertices while many are. Threads take batches; only the graph is shared.
//
// What becomes of the searches is up to `Arrivals`, which every thread has one of: rows of
// distances (multi_source.cpp), or sums of them (measures/distance_sums.cpp).
#pragma once

#include <array>
#include <bit>
#include <vector>

#include "bfs/bfs.hpp"
#include "parallel/team.hpp"

namespace kleene::bfs {

// A set of up to 64 * kWords searches.
template <int kWords>
struct Searches {
  std::array<std::uint64_t, kWords> words{};

  bool any() const {
    std::uint64_t all = 0;
    for (int k = 0; k < kWords; ++k) all |= words[k];
    return all != 0;
  }

  bool operator==(const Searches&) const = default;

  void add(int search) { words[search / 64] |= std::uint64_t{1} << (search % 64); }

  Searches& operator|=(const Searches& other) {
    for (int k = 0; k < kWords; ++k) words[k] |= other.words[k];
    return *this;
  }

  Searches without(const Searches& other) const {
    Searches rest;
    for (int k = 0; k < kWords; ++k) rest.words[k] = words[k] & ~other.words[k];
    return rest;
  }

  // How many there are: counts of bits within bytes are added up over all words, then across.
  std::int64_t count() const {
    constexpr std::uint64_t kTwos = 0x5555555555555555, kFours = 0x3333333333333333,
                            kBytes = 0x0f0f0f0f0f0f0f0f, kPairs = 0x00ff00ff00ff00ff;
    std::uint64_t bytes = 0;  // each at most 8 * kWords
    for (int k = 0; k < kWords; ++k) {
      const std::uint64_t twos = words[k] - ((words[k] >> 1) & kTwos);
      const std::uint64_t fours = (twos & kFours) + ((twos >> 2) & kFours);
      bytes += (fours + (fours >> 4)) & kBytes;
    }
    const std::uint64_t pairs = (bytes & kPairs) + ((bytes >> 8) & kPairs);
    return static_cast<std::int64_t>((pairs * 0x0001000100010001) >> 48);
  }

  template <class Body>
  void for_each(Body&& body) const {
    for (int k = 0; k < kWords; ++k) {
      for (std::uint64_t left = words[k]; left != 0; left &= left - 1) {
        body(64 * k + std::countr_zero(left));
      }
    }
  }
};

// `Arrivals` has these:
//   begin(first, search, source)          a search of the batch that begins with source `first`
//   enter(searches, v, u, depth)          these searches reach v from u, each v once
//   end_level(active, next, depth)        vertices that some search reached, and which searches
//   links()                               does enter() need u?
template <class Id, int kWords, class Arrivals>
class Batch {
 public:
  using Set = Searches<kWords>;

  Batch(const Problem<Id>& problem, Arrivals& arrivals, CancelCheck check_cancelled)
      : outgoing_(problem.outgoing),
        incoming_(problem.incoming),
        stop_(problem.stop),
        arrivals_(arrivals),
        check_cancelled_(check_cancelled),
        seen_(static_cast<std::size_t>(outgoing_.n)),
        front_(seen_.size()),
        next_(seen_.size()) {}

  // Runs the searches from `count` sources, the first of which has the position `first`; returns
  // their horizon.
  Id run(const Id* sources, std::int64_t first, int count) {
    begin(sources, first, count);
    std::int64_t settled_targets = 0;
    for (Id depth = 0; !active_.empty(); ++depth) {
      if (depth == stop_.limit || all_settled(settled_targets)) return depth;
      depth_ = depth + 1;
      const std::int64_t arcs = frontier_arcs();
      // untestable (> to >=, > to <=): pushing and pulling visit the same vertices
      if (incoming_.neighbors != nullptr && arcs * kPullFactor > outgoing_.count()) {
        pull();
      } else {
        push();
      }
      arrivals_.end_level(next_active_, next_, depth_);
      for (const Id u : active_) front_[u] = Set{};
      std::swap(front_, next_);
      std::swap(active_, next_active_);
      next_active_.clear();
    }
    return kNoHorizon<Id>;
  }

 private:
  // Pull when the arcs that leave the frontiers times this exceed all arcs.
  static constexpr std::int64_t kPullFactor = 4;

  static constexpr std::int64_t kPollEvery = 1 << 12;  // vertices

  void begin(const Id* sources, std::int64_t first, int count) {
    std::fill(seen_.begin(), seen_.end(), Set{});
    for (const Id u : active_) front_[u] = Set{};
    active_.clear();
    all_ = Set{};
    for (int k = 0; k < count; ++k) {
      const Id s = sources[k];
      if (!front_[s].any()) active_.push_back(s);
      front_[s].add(k);
      seen_[s].add(k);
      all_.add(k);
      arrivals_.begin(first, k, s);
      check_cancelled_();
    }
  }

  bool all_settled(std::int64_t& settled) const {
    if (stop_.targets == nullptr) return false;
    while (settled < stop_.target_count && seen_[stop_.targets[settled]] == all_) ++settled;
    return settled == stop_.target_count;
  }

  std::int64_t frontier_arcs() const {
    std::int64_t arcs = 0;
    for (const Id u : active_) arcs += outgoing_.degree(u);
    return arcs;
  }

  void push() {
    for (std::size_t at = 0; at < active_.size(); ++at) {
      if (at % kPollEvery == 0) check_cancelled_();
      const Id u = active_[at];
      for (std::int64_t i = outgoing_.offsets[u]; i < outgoing_.offsets[u + 1]; ++i) {
        const Id v = outgoing_.neighbors[i];
        const Set gained = front_[u].without(seen_[v]);
        if (!gained.any()) continue;
        if (!next_[v].any()) next_active_.push_back(v);
        enter(gained, v, u);
      }
    }
  }

  void pull() {
    for (Id v = 0; v < outgoing_.n; ++v) {
      if (v % kPollEvery == 0) check_cancelled_();
      if (seen_[v] == all_) continue;
      if (arrivals_.links()) {
        pull_paths(v);
      } else {
        pull_lengths(v);
      }
      if (next_[v].any()) next_active_.push_back(v);
    }
  }

  void pull_paths(Id v) {
    for (std::int64_t i = incoming_.offsets[v]; i < incoming_.offsets[v + 1]; ++i) {
      const Id u = incoming_.neighbors[i];
      const Set gained = front_[u].without(seen_[v]);
      if (!gained.any()) continue;
      enter(gained, v, u);
      if (seen_[v] == all_) return;
    }
  }

  // Who the predecessors are does not matter, so what they bring is entered in one go.
  void pull_lengths(Id v) {
    const Set missing = all_.without(seen_[v]);
    Set arriving{};
    for (std::int64_t i = incoming_.offsets[v]; i < incoming_.offsets[v + 1]; ++i) {
      arriving |= front_[incoming_.neighbors[i]];
      if (!missing.without(arriving).any()) break;
    }
    enter(arriving.without(seen_[v]), v, v);
  }

  // These searches reach v from u.
  void enter(const Set& gained, Id v, Id u) {
    seen_[v] |= gained;
    next_[v] |= gained;
    arrivals_.enter(gained, v, u, depth_);
  }

  const Arcs<Id> outgoing_, incoming_;
  const StopCondition<Id, Id>& stop_;
  Arrivals& arrivals_;
  CancelCheck check_cancelled_;
  Id depth_ = 0;
  Set all_;                               // every search of the batch
  std::vector<Set> seen_, front_, next_;  // per vertex
  std::vector<Id> active_, next_active_;  // the vertices with a set in front_, in next_
};

// Runs body.operator()<kWords>() with sets no wider than keeps all threads busy.
template <class Body>
void with_batch_width(std::int64_t count, int threads, Body&& body) {
  const std::int64_t each = (count + threads - 1) / threads;
  // untestable below: any width is right
  if (each > 256) {
    body.template operator()<8>();
  } else if (each > 128) {
    body.template operator()<4>();
  } else if (each > 64) {
    body.template operator()<2>();
  } else {
    body.template operator()<1>();
  }
}

// Searches from all sources. Every thread makes its arrivals by make(); after each batch
// finish(arrivals, first, count, horizon) is called, and leave(arrivals) when the thread is done.
template <class Id, int kWords, class Make, class Finish, class Leave>
void run_batches(const Problem<Id>& problem, const Id* sources, std::int64_t count, int threads,
                 Monitor& monitor, Make&& make, Finish&& finish, Leave&& leave) {
  constexpr std::int64_t kMost = 64 * kWords;
  const std::int64_t batches = (count + kMost - 1) / kMost;
  std::atomic<std::int64_t> next{0};
  const int size = static_cast<int>(std::min<std::int64_t>(threads, batches));
  run_team(size, monitor, [&](Team::Worker& worker) {
    auto arrivals = make();
    Batch<Id, kWords, decltype(arrivals)> batch(problem, arrivals,
                                                CancelCheck(monitor, worker.thread()));
    for (std::int64_t b; (b = next.fetch_add(1, std::memory_order_relaxed)) < batches;) {
      const std::int64_t first = b * kMost;
      const auto many = static_cast<int>(std::min(kMost, count - first));
      finish(arrivals, first, many, batch.run(sources + first, first, many));
      monitor.advance(static_cast<std::uint64_t>(many));
    }
    leave(arrivals);
  });
}

}  // namespace kleene::bfs
