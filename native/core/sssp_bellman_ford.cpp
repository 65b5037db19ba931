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
// Rounding. A cycle of floating-point lengths is negative when its sum is below zero by more than
// epsilon times the sum of its magnitudes; less counts as zero. A search that closes a chain along
// such a cycle starts again with sums that rise by more than rounding takes at each step, so that
// no chain closes but along a negative cycle; then it adds up lengths along its tree. The rule, and
// why this is enough, is in src/kleene/backends/common/cycles.py.
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
    rising_ = false;
    if (search_once(sources, count, kept, monitor)) return;
    rising_ = true;
    search_once(sources, count, kept, monitor);
    add_up();
  }

 private:
  struct alignas(64) Found {
    std::vector<Id> vertices;
  };

  static constexpr std::int64_t kSmall = 512;  // vertices that one thread relaxes alone
  static constexpr std::int64_t kPiece = 64;
  static constexpr Value kTooLow = std::numeric_limits<Value>::lowest() / 2;
  static constexpr Value kRise = 4 * std::numeric_limits<Value>::epsilon();

  // False when rounding went round in circles, which it cannot while sums rise.
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
    const Value held = labels_.distance(u);
    if (held < kTooLow) {
      too_low_.store(true, std::memory_order_relaxed);
      return;
    }
    const Value distance = summand(held);
    for (std::int64_t i = arcs_.offsets[u]; i < arcs_.offsets[u + 1]; ++i) {
      const Id v = arcs_.neighbors[i];
      const Value through = distance + summand(lengths_[i]);
      if (!(through < labels_.distance(v))) continue;
      if (!labels_.template lower<kShared>(v, through, u)) continue;
      if (std::atomic_ref(queued_[v]).exchange(1, std::memory_order_acq_rel) == 0) {
        found.push_back(v);
      }
    }
  }

  // The number as it stands in a sum. Rising keeps the order of numbers.
  Value summand(Value number) const {
    if constexpr (std::is_integral_v<Value>) return number;
    if (!rising_) return number;
    return number > 0 ? number * (1 + kRise) : number * (1 - kRise);
  }

  // Sets all distances to the sums along the predecessors, as they are.
  void add_up() {
    std::fill_n(queued_.data(), arcs_.n, char{0});  // is the sum there?
    std::vector<Id> chain;
    for (Id v = 0; v < arcs_.n; ++v) {
      for (Id u = v; row_.parents[u] >= 0 && !queued_[u]; u = row_.parents[u]) chain.push_back(u);
      for (; !chain.empty(); chain.pop_back()) {
        const Id to = chain.back(), from = row_.parents[to];
        row_.values[to] = row_.values[from] + arc_length(from, to);
        queued_[to] = 1;
      }
    }
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

  // Does some chain of predecessors close by rounding? Throws when one is a negative cycle.
  bool chains_close() const {
    bool closes = false;
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
      std::reverse(cycle.begin(), cycle.end());  // into the order of arcs
      if (is_negative(cycle)) throw NegativeCycle{std::move(cycle)};
      closes = true;
    }
    return closes;
  }

  // Is a closed chain a negative cycle, by the rule?
  bool is_negative(const std::vector<std::int64_t>& cycle) const {
    if (std::is_integral_v<Value> || rising_) return true;
    double sum = 0, lost = 0, magnitude = 0;  // what a sum loses is as large as the rule's margin
    for (std::size_t i = 0; i < cycle.size(); ++i) {
      const auto length = static_cast<double>(arc_length(cycle[i], cycle[(i + 1) % cycle.size()]));
      const double next = sum + length, added = next - sum;
      lost += (sum - (next - added)) + (length - added);
      sum = next;
      magnitude += std::abs(length);
    }
    return sum + lost < -std::numeric_limits<Value>::epsilon() * magnitude;
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
  bool rising_ = false;
  bool circled_ = false;
};

}  // namespace

template <class Id, class Value>
void sssp_bellman_ford(const SsspProblem<Id, Value>& problem, const SsspRows<Id, Value>& rows,
                       int threads, Monitor& monitor) {
  BellmanFord<Id, Value> search(problem, threads);
  search_one_by_one(problem, rows, all_places(rows), threads, monitor,
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
