// Many breadth-first searches at once, a bit each (Then et al. 2014, The More the Merrier:
// Efficient Multi-Source Graph Traversal).
//
// A batch of up to 512 searches goes through the graph together. For every vertex a set of
// searches, as bits, says which have seen it and which have it in their frontier; one look along
// an arc then serves all searches of the batch: what the frontier of u has and v has not seen is
// new at v. Searches from nearby sources, and all searches on small-world graphs, share most of
// their work.
//
// As in bfs_direction.cpp, levels push from a list of vertices while few are in any frontier, and
// pull into all vertices while many are. Threads take batches, so nothing is shared but the graph.
#include <array>
#include <bit>
#include <vector>

#include "bfs.hpp"
#include "parallel.hpp"

namespace kleene {
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

  Batch(const BfsProblem<Id>& problem, Monitor& monitor, bool polls)
      : out_(problem.out),
        into_(problem.into),
        stop_(problem.stop),
        monitor_(monitor),
        polls_(polls),
        seen_(static_cast<std::size_t>(out_.n)),
        front_(seen_.size()),
        next_(seen_.size()) {}

  // Runs the searches from these sources; rows follow one another in memory.
  Id run(const Id* sources, int count, Row<Id, Id> rows, Id no_path) {
    rows_ = rows;
    begin(sources, count, no_path);
    std::int64_t found_targets = 0;
    for (Id depth = 0; !active_.empty(); ++depth) {
      if (depth == stop_.limit || all_found(found_targets)) return depth;
      depth_ = depth + 1;
      const std::int64_t arcs = frontier_arcs();
      if (into_.neighbors != nullptr && arcs * kPullFactor > out_.count()) {
        pull();
      } else {
        push();
      }
      for (const Id u : active_) front_[u] = Set{};
      std::swap(front_, next_);
      std::swap(active_, found_);
      found_.clear();
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
      const std::int64_t row = k * out_.n;
      std::fill_n(rows_.values + row, out_.n, no_path);
      if (rows_.parents) std::fill_n(rows_.parents + row, out_.n, Id{-1});
      rows_.values[row + s] = 0;
      poll();
    }
  }

  bool all_found(std::int64_t& found) const {
    if (stop_.targets == nullptr) return false;
    while (found < stop_.target_count && seen_[stop_.targets[found]] == all_) ++found;
    return found == stop_.target_count;
  }

  std::int64_t frontier_arcs() const {
    std::int64_t arcs = 0;
    for (const Id u : active_) arcs += out_.degree(u);
    return arcs;
  }

  void push() {
    for (std::size_t at = 0; at < active_.size(); ++at) {
      if (at % kPollEvery == 0) poll();
      const Id u = active_[at];
      for (std::int64_t i = out_.offsets[u]; i < out_.offsets[u + 1]; ++i) {
        const Id v = out_.neighbors[i];
        const Set fresh = front_[u].without(seen_[v]);
        if (!fresh.any()) continue;
        if (!next_[v].any()) found_.push_back(v);
        enter(fresh, v, u);
      }
    }
  }

  void pull() {
    for (Id v = 0; v < out_.n; ++v) {
      if (v % kPollEvery == 0) poll();
      if (seen_[v] == all_) continue;
      if (rows_.parents) {
        pull_paths(v);
      } else {
        pull_lengths(v);
      }
      if (next_[v].any()) found_.push_back(v);
    }
  }

  void pull_paths(Id v) {
    for (std::int64_t i = into_.offsets[v]; i < into_.offsets[v + 1]; ++i) {
      const Id u = into_.neighbors[i];
      const Set fresh = front_[u].without(seen_[v]);
      if (!fresh.any()) continue;
      enter(fresh, v, u);
      if (seen_[v] == all_) return;
    }
  }

  // Who the parents are does not matter, so what they bring is entered in one go.
  void pull_lengths(Id v) {
    const Set missing = all_.without(seen_[v]);
    Set met{};
    for (std::int64_t i = into_.offsets[v]; i < into_.offsets[v + 1]; ++i) {
      met |= front_[into_.neighbors[i]];
      if (!missing.without(met).any()) break;
    }
    enter(met.without(seen_[v]), v, v);
  }

  // These searches reach v from u.
  void enter(const Set& fresh, Id v, Id u) {
    seen_[v] |= fresh;
    next_[v] |= fresh;
    fresh.for_each([&](int search) {
      const std::int64_t at = search * out_.n + v;
      rows_.values[at] = depth_;
      if (rows_.parents) rows_.parents[at] = u;
    });
  }

  void poll() {
    if (polls_) {
      monitor_.poll();
    } else if (monitor_.stopped()) {
      throw Abandoned{};
    }
  }

  const Arcs<Id> out_, into_;
  const Stop<Id, Id>& stop_;
  Monitor& monitor_;
  const bool polls_;
  Row<Id, Id> rows_;
  Id depth_ = 0;
  Set all_;                               // every search of the batch
  std::vector<Set> seen_, front_, next_;  // per vertex
  std::vector<Id> active_, found_;        // the vertices with a set in front_, in next_
};

template <class Id, int kWords>
void run_batches(const BfsProblem<Id>& problem, const Id* sources, std::int64_t count,
                 Row<Id, Id> rows, Id* horizons, Id no_path, int threads, Monitor& monitor) {
  constexpr std::int64_t kMost = Batch<Id, kWords>::kMost;
  const std::int64_t batches = (count + kMost - 1) / kMost;
  const std::int64_t n = problem.out.n;
  std::atomic<std::int64_t> next{0};
  const int size = static_cast<int>(std::min<std::int64_t>(threads, batches));
  run_team(size, monitor, [&](int thread) {
    Batch<Id, kWords> batch(problem, monitor, thread == 0);
    for (std::int64_t b; (b = next.fetch_add(1, std::memory_order_relaxed)) < batches;) {
      const std::int64_t first = b * kMost;
      const std::int64_t last = std::min(first + kMost, count);
      Row<Id, Id> row{rows.values + first * n, rows.parents ? rows.parents + first * n : nullptr};
      const Id horizon = batch.run(sources + first, static_cast<int>(last - first), row, no_path);
      std::fill(horizons + first, horizons + last, horizon);
      monitor.advance(static_cast<std::uint64_t>(last - first));
    }
  });
}

}  // namespace

template <class Id>
void bfs_multi_source(const BfsProblem<Id>& problem, const Id* sources, std::int64_t count,
                      Row<Id, Id> rows, Id* horizons, Id no_path, int threads, Monitor& monitor) {
  const std::int64_t each =
      (count + threads - 1) / threads;  // no wider than keeps all threads busy
  const auto run = each > 256   ? run_batches<Id, 8>
                   : each > 128 ? run_batches<Id, 4>
                   : each > 64  ? run_batches<Id, 2>
                                : run_batches<Id, 1>;
  run(problem, sources, count, rows, horizons, no_path, threads, monitor);
}

template void bfs_multi_source(const BfsProblem<std::int32_t>&, const std::int32_t*, std::int64_t,
                               Row<std::int32_t, std::int32_t>, std::int32_t*, std::int32_t, int,
                               Monitor&);
template void bfs_multi_source(const BfsProblem<std::int64_t>&, const std::int64_t*, std::int64_t,
                               Row<std::int64_t, std::int64_t>, std::int64_t*, std::int64_t, int,
                               Monitor&);

}  // namespace kleene
