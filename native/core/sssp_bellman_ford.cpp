// Bellman-Ford on all cores: in each round, relax the arcs of the vertices that changed in the
// round before. After round k every shortest path of up to k arcs is known.
//
// A vertex is entered for the next round once, by the thread that first changes it. Its mark is
// taken off before its distance is read: whoever lowers it afterwards enters it again.
//
// Negative cycles. The chains of predecessors close on themselves only along a negative cycle (see
// labels.hpp), and they must close before long if one can be reached. Looking for a closed chain
// costs O(n), so it is done each time that n vertices have been relaxed (Cherkassky and Goldberg
// 1999). Integers must not wrap before that: distances hold every path twice over, so one below
// half the range of its type has gone round a cycle, and nothing is relaxed from there.
//
// Rounding. A cycle whose length is zero but for rounding may seem to be negative. Such a search is
// repeated with a tolerance, larger each time: only what improves by more than that counts.
//
// R. Bellman, "On a routing problem", 1958.
// B. Cherkassky and A. Goldberg, "Negative-cycle detection algorithms", 1999.
#include <atomic>
#include <cmath>

#include "buffer.hpp"
#include "crew.hpp"
#include "labels.hpp"
#include "sssp_rows.hpp"

namespace kleene {
namespace {

template <class Id, class Value>
class BellmanFord {
 public:
  BellmanFord(const SsspProblem<Id, Value>& problem, int threads)
      : arcs_(problem.out),
        lengths_(problem.lengths),
        threads_(threads),
        queued_(arcs_.n),
        own_parents_(arcs_.n),
        found_(static_cast<std::size_t>(threads)) {}

  // Fills a row with distances from the nearest of the sources.
  void search(const Id* sources, std::int64_t count, Row<Id, Value> row, Monitor& monitor) {
    const Row<Id, Value> kept{row.values, row.parents ? row.parents : own_parents_.data()};
    for (tolerance_ = 0; !search_once(sources, count, kept, monitor);) {
      tolerance_ = std::max(4 * tolerance_, 4 * std::numeric_limits<Value>::epsilon());
    }
  }

 private:
  struct alignas(64) Found {
    std::vector<Id> vertices;
  };

  static constexpr std::int64_t kSmall = 512;  // vertices that one thread relaxes alone
  static constexpr std::int64_t kPiece = 64;
  static constexpr Value kTooLow = std::numeric_limits<Value>::lowest() / 2;

  // False when rounding went round in circles.
  bool search_once(const Id* sources, std::int64_t count, Row<Id, Value> row, Monitor& monitor) {
    row_ = row;
    labels_ = Labels<Id, Value>(row);
    std::fill_n(row.values, arcs_.n, kNoPath<Value>);
    std::fill_n(row.parents, arcs_.n, Id{-1});
    std::fill_n(queued_.data(), arcs_.n, char{0});
    frontier_.assign(sources, sources + count);
    for (const Id source : frontier_) row.values[source] = 0;
    circled_ = false;
    too_low_.store(false, std::memory_order_relaxed);
    since_check_ = 0;
    Watch watch(monitor, 0);
    if (rounds_alone(watch)) {
      Crew crew(threads_, monitor);
      crew.run([&] {
        do {
          crew.together([&](int thread) { relax_pieces(thread, Watch(monitor, thread)); });
        } while (end_round() && rounds_alone(watch));
      });
    }
    // Rounding may also bring a circle to rest.
    return !circled_ && (std::is_integral_v<Value> || !chains_close());
  }

  // One round, with other threads: takes pieces of the frontier while there are any.
  void relax_pieces(int thread, Watch watch) {
    for (;;) {
      const std::int64_t at = next_.fetch_add(kPiece, std::memory_order_relaxed);
      if (at >= size()) return;
      const std::int64_t end = std::min(at + kPiece, size());
      for (std::int64_t i = at; i < end; ++i) relax<true>(frontier_[i], found_[thread].vertices);
      watch.look();
    }
  }

  // Runs rounds while they are small. True when there is one to share, false when all is done.
  bool rounds_alone(Watch& watch) {
    while (!frontier_.empty()) {
      if (threads_ > 1 && size() > kSmall) {
        next_.store(0, std::memory_order_relaxed);
        return true;
      }
      for (std::int64_t i = 0; i < size(); ++i) {
        if (i % 1024 == 0) watch.look();
        relax<false>(frontier_[i], found_[0].vertices);
      }
      if (!end_round()) return false;
    }
    return false;
  }

  template <bool kShared>
  void relax(Id u, std::vector<Id>& found) {
    std::atomic_ref(queued_[u]).exchange(0, std::memory_order_acq_rel);
    const Value distance = labels_.distance(u);
    if (distance < kTooLow) {
      too_low_.store(true, std::memory_order_relaxed);
      return;
    }
    for (std::int64_t i = arcs_.offsets[u]; i < arcs_.offsets[u + 1]; ++i) {
      const Id v = arcs_.neighbors[i];
      const Value through = distance + lengths_[i];
      if (!improves(through, labels_.distance(v))) continue;
      if (!labels_.template lower<kShared>(v, through, u)) continue;
      if (std::atomic_ref(queued_[v]).exchange(1, std::memory_order_acq_rel) == 0) {
        found.push_back(v);
      }
    }
  }

  bool improves(Value through, Value held) const {
    if (!(through < held)) return false;
    if (tolerance_ == 0 || held == kNoPath<Value>) return true;
    return through < held - tolerance_ * (std::abs(through) + std::abs(held));
  }

  // Makes what was found the next frontier, and looks for a negative cycle now and then. False when
  // the search must be given up.
  bool end_round() {
    since_check_ += size();
    frontier_.clear();
    for (auto& found : found_) {
      frontier_.insert(frontier_.end(), found.vertices.begin(), found.vertices.end());
      found.vertices.clear();
    }
    if (since_check_ < arcs_.n && !too_low_.load(std::memory_order_relaxed)) return true;
    since_check_ = 0;
    circled_ = chains_close();
    return !circled_;
  }

  // Does some chain of predecessors close by rounding? Throws when it is a negative cycle.
  bool chains_close() const {
    const std::vector<std::int64_t> cycle = closed_chain();
    if (!cycle.empty() && is_negative(cycle)) throw NegativeCycle{cycle};
    return !cycle.empty();
  }

  // A chain of predecessors that closes on itself, in arc order; empty when there is none.
  std::vector<std::int64_t> closed_chain() const {
    std::vector<Id> seen_from(static_cast<std::size_t>(arcs_.n), -1);
    for (Id start = 0; start < arcs_.n; ++start) {
      Id v = start;
      while (v >= 0 && seen_from[v] < 0) {
        seen_from[v] = start;
        v = row_.parents[v];
      }
      if (v < 0 || seen_from[v] != start) continue;
      std::vector<std::int64_t> cycle{v};
      for (Id u = row_.parents[v]; u != v; u = row_.parents[u]) cycle.push_back(u);
      std::reverse(cycle.begin(), cycle.end());
      return cycle;
    }
    return {};
  }

  // Is the cycle's length below zero by more than rounding explains?
  bool is_negative(const std::vector<std::int64_t>& cycle) const {
    if constexpr (std::is_integral_v<Value>) return true;
    double sum = 0, magnitude = 0;
    for (std::size_t i = 0; i < cycle.size(); ++i) {
      const auto length = static_cast<double>(arc_length(cycle[i], cycle[(i + 1) % cycle.size()]));
      sum += length;
      magnitude += std::abs(length);
    }
    return sum < -std::numeric_limits<Value>::epsilon() * magnitude;
  }

  Value arc_length(std::int64_t u, std::int64_t v) const {
    const Id* const row = arcs_.neighbors + arcs_.offsets[u];
    const Id* const at = std::lower_bound(row, arcs_.neighbors + arcs_.offsets[u + 1], v);
    return lengths_[at - arcs_.neighbors];
  }

  std::int64_t size() const { return static_cast<std::int64_t>(frontier_.size()); }

  const Arcs<Id> arcs_;
  const Value* const lengths_;
  const int threads_;
  Row<Id, Value> row_;
  Labels<Id, Value> labels_{{}};
  Buffer<char> queued_;       // is the vertex entered for the next round?
  Buffer<Id> own_parents_;    // when the caller wants none: cycles are found by them
  std::vector<Found> found_;  // by thread
  std::vector<Id> frontier_;
  std::atomic<std::int64_t> next_{0};
  std::atomic<bool> too_low_{false};
  std::int64_t since_check_ = 0;
  Value tolerance_ = 0;
  bool circled_ = false;
};

}  // namespace

template <class Id, class Value>
void sssp_bellman_ford(const SsspProblem<Id, Value>& problem, const SsspRows<Id, Value>& rows,
                       int threads, Monitor& monitor) {
  BellmanFord<Id, Value> search(problem, threads);
  search_one_by_one(problem, rows, threads, monitor,
                    [&](const SsspProblem<Id, Value>& own, Row<Id, Value> row) {
                      search.search(&own.source, 1, row, monitor);
                      return kNoPath<Value>;
                    });
}

template <class Id, class Value>
void sssp_potentials(const SsspProblem<Id, Value>& problem, const SsspRows<Id, Value>& rows,
                     int threads, Monitor& monitor) {
  BellmanFord<Id, Value> search(problem, threads);
  search.search(rows.sources, rows.count, {rows.values, rows.parents}, monitor);
}

KLEENE_SSSP_METHOD(sssp_bellman_ford);
KLEENE_SSSP_METHOD(sssp_potentials);

}  // namespace kleene
