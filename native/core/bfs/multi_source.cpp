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
#include <array>
#include <bit>
#include <vector>

#include "bfs/bfs.hpp"
#include "parallel/team.hpp"

namespace kleene::bfs {
namespace {

// Pull when the arcs that leave the frontiers times this exceed all arcs.
constexpr std::int64_t kPullFactor = 4;

constexpr std::int64_t kPollEvery = 1 << 12;  // vertices

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

  template <class Body>
  void for_each(Body&& body) const {
    for (int k = 0; k < kWords; ++k) {
      for (std::uint64_t left = words[k]; left != 0; left &= left - 1) {
        body(64 * k + std::countr_zero(left));
      }
    }
  }
};

template <class Id, int kWords>
class Batch {
 public:
  using Set = Searches<kWords>;
  static constexpr std::int64_t kMost = 64 * kWords;

  Batch(const Problem<Id>& problem, CancelCheck check_cancelled)
      : outgoing_(problem.outgoing),
        incoming_(problem.incoming),
        stop_(problem.stop),
        check_cancelled_(check_cancelled),
        seen_(static_cast<std::size_t>(outgoing_.n)),
        front_(seen_.size()),
        next_(seen_.size()) {}

  // Runs the searches from these sources; rows follow one another in memory.
  Id run(const Id* sources, int count, ResultRow<Id, Id> rows, Id no_path) {
    rows_ = rows;
    begin(sources, count, no_path);
    std::int64_t settled_targets = 0;
    for (Id depth = 0; !active_.empty(); ++depth) {
      if (depth == stop_.limit || all_settled(settled_targets)) return depth;
      depth_ = depth + 1;
      const std::int64_t arcs = frontier_arcs();
      if (incoming_.neighbors != nullptr && arcs * kPullFactor > outgoing_.count()) {
        pull();
      } else {
        push();
      }
      for (const Id u : active_) front_[u] = Set{};
      std::swap(front_, next_);
      std::swap(active_, next_active_);
      next_active_.clear();
    }
    return kNoHorizon<Id>;
  }

 private:
  void begin(const Id* sources, int count, Id no_path) {
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
      const std::int64_t row = k * outgoing_.n;
      std::fill_n(rows_.distances + row, outgoing_.n, no_path);
      if (rows_.predecessors)
        std::fill_n(rows_.predecessors + row, outgoing_.n, kNoPredecessor<Id>);
      rows_.distances[row + s] = 0;
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
      if (rows_.predecessors) {
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
    gained.for_each([&](int search) {
      const std::int64_t at = search * outgoing_.n + v;
      rows_.distances[at] = depth_;
      if (rows_.predecessors) rows_.predecessors[at] = u;
    });
  }

  const Arcs<Id> outgoing_, incoming_;
  const StopCondition<Id, Id>& stop_;
  CancelCheck check_cancelled_;
  ResultRow<Id, Id> rows_;
  Id depth_ = 0;
  Set all_;                               // every search of the batch
  std::vector<Set> seen_, front_, next_;  // per vertex
  std::vector<Id> active_, next_active_;  // the vertices with a set in front_, in next_
};

template <class Id, int kWords>
void run_batches(const Problem<Id>& problem, const ResultRows<Id, Id>& rows, Id no_path,
                 int threads, Monitor& monitor) {
  constexpr std::int64_t kMost = Batch<Id, kWords>::kMost;
  const std::int64_t count = rows.count;
  const std::int64_t batches = (count + kMost - 1) / kMost;
  const std::int64_t n = problem.outgoing.n;
  std::atomic<std::int64_t> next{0};
  const int size = static_cast<int>(std::min<std::int64_t>(threads, batches));
  run_team(size, monitor, [&](Team::Worker& worker) {
    Batch<Id, kWords> batch(problem, CancelCheck(monitor, worker.thread()));
    for (std::int64_t b; (b = next.fetch_add(1, std::memory_order_relaxed)) < batches;) {
      const std::int64_t first = b * kMost;
      const std::int64_t last = std::min(first + kMost, count);
      const auto size = static_cast<int>(last - first);
      const Id horizon = batch.run(rows.sources + first, size, rows.at(first, n), no_path);
      std::fill(rows.horizons + first, rows.horizons + last, horizon);
      monitor.advance(static_cast<std::uint64_t>(last - first));
    }
  });
}

}  // namespace

template <class Id>
void multi_source(const Problem<Id>& problem, const ResultRows<Id, Id>& rows, Id no_path,
                  int threads, Monitor& monitor) {
  // No wider than keeps all threads busy.
  const std::int64_t each = (rows.count + threads - 1) / threads;
  const auto run = each > 256   ? run_batches<Id, 8>
                   : each > 128 ? run_batches<Id, 4>
                   : each > 64  ? run_batches<Id, 2>
                                : run_batches<Id, 1>;
  run(problem, rows, no_path, threads, monitor);
}

template void multi_source(const Problem<std::int32_t>&,
                           const ResultRows<std::int32_t, std::int32_t>&, std::int32_t, int,
                           Monitor&);
template void multi_source(const Problem<std::int64_t>&,
                           const ResultRows<std::int64_t, std::int64_t>&, std::int64_t, int,
                           Monitor&);

}  // namespace kleene::bfs
