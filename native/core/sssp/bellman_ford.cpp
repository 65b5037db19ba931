// Bellman-Ford on all cores: in each round, relax the arcs of the vertices that changed in the
// round before. After round k every shortest path of up to k arcs is known.
//
// A vertex is queued for the next round once, by the thread that first lowers its distance. Its
// mark is cleared before its distance is read: a thread that lowers it afterwards queues it again.
//
// Negative cycles. The chains of predecessors close on themselves only along a negative cycle (see
// tentative_distances.hpp), and they must close before long if one can be reached. Looking for a
// closed chain costs O(n), so it is done each time that n vertices have been relaxed (Cherkassky
// and Goldberg 1999). Integers must not wrap before that: distances hold every path twice over, so
// one below half the range of its type went round a cycle, and nothing is relaxed from there.
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

#include "parallel/buffer.hpp"
#include "parallel/team.hpp"
#include "sssp/sources.hpp"
#include "sssp/tentative_distances.hpp"

namespace kleene::sssp {
namespace {

template <class Id, class Value>
class BellmanFord {
 public:
  BellmanFord(const Problem<Id, Value>& problem, int threads)
      : arcs_(problem.outgoing),
        lengths_(problem.lengths),
        threads_(threads),
        queued_(arcs_.n),
        own_predecessors_(arcs_.n),
        local_(static_cast<std::size_t>(threads)) {}

  // Fills a row with distances from the nearest of the sources.
  void search(const Id* sources, std::int64_t count, ResultRow<Id, Value> row, Monitor& monitor) {
    const ResultRow<Id, Value> kept{row.distances,
                                    row.predecessors ? row.predecessors : own_predecessors_.data()};
    rising_ = false;
    if (search_once(sources, count, kept, monitor)) return;
    rising_ = true;
    search_once(sources, count, kept, monitor);
    add_up();
  }

 private:
  struct alignas(64) LocalQueue {
    std::vector<Id> vertices;
  };

  static constexpr std::int64_t kSmall = 512;  // vertices that one thread relaxes alone
  static constexpr std::int64_t kPiece = 64;
  static constexpr Value kTooLow = std::numeric_limits<Value>::lowest() / 2;
  static constexpr Value kRise = 4 * std::numeric_limits<Value>::epsilon();

  // False when rounding closed a chain, which it cannot while sums rise.
  bool search_once(const Id* sources, std::int64_t count, ResultRow<Id, Value> row,
                   Monitor& monitor) {
    row_ = row;
    distances_ = TentativeDistances<Id, Value>(row);
    std::fill_n(row.distances, arcs_.n, kNoPath<Value>);
    std::fill_n(row.predecessors, arcs_.n, kNoPredecessor<Id>);
    std::fill_n(queued_.data(), arcs_.n, char{0});
    frontier_.assign(sources, sources + count);
    for (const Id source : frontier_) row.distances[source] = 0;
    circled_ = false;
    too_low_.store(false, std::memory_order_relaxed);
    since_check_ = 0;
    CancelCheck check_cancelled(monitor, 0);
    HelperTeam helpers(threads_, monitor);
    while (rounds_alone(check_cancelled)) {
      helpers.share(threads_worth(size(), kSmall / 2, threads_),
                    [&](int thread) { relax_pieces(thread, CancelCheck(monitor, thread)); });
      if (!end_round()) break;
    }
    // A chain closed by rounding may also leave nothing to relax.
    return !circled_ && (std::is_integral_v<Value> || !chains_close());
  }

  // One round, with other threads: relaxes pieces of the frontier while there are any.
  void relax_pieces(int thread, CancelCheck check_cancelled) {
    for (;;) {
      const std::int64_t at = next_.fetch_add(kPiece, std::memory_order_relaxed);
      if (at >= size()) return;  // untestable (>= to >): a piece of no vertices
      const std::int64_t end = std::min(at + kPiece, size());
      for (std::int64_t i = at; i < end; ++i) relax<true>(frontier_[i], local_[thread].vertices);
      check_cancelled();
    }
  }

  // Runs rounds while they are small. True when there is one to share, false when none is left.
  bool rounds_alone(CancelCheck& check_cancelled) {
    while (!frontier_.empty()) {
      if (threads_ > 1 && size() > kSmall) {  // untestable: whether threads share a round
        next_.store(0, std::memory_order_relaxed);
        return true;
      }
      for (std::int64_t i = 0; i < size(); ++i) {
        if (i % 1024 == 0) check_cancelled();
        relax<false>(frontier_[i], local_[0].vertices);
      }
      if (!end_round()) return false;
    }
    return false;
  }

  template <bool kShared>
  void relax(Id u, std::vector<Id>& next) {
    std::atomic_ref(queued_[u]).exchange(0, std::memory_order_acq_rel);
    const Value held = distances_.distance(u);
    // untestable (< to <=): at half the range, a path went round a cycle already
    if (held < kTooLow) {
      too_low_.store(true, std::memory_order_relaxed);
      return;
    }
    const Value distance = summand(held);
    for (std::int64_t i = arcs_.offsets[u]; i < arcs_.offsets[u + 1]; ++i) {
      const Id v = arcs_.neighbors[i];
      const Value through = distance + summand(lengths_[i]);
      // untestable (< to <=): lower() compares again, strictly
      if (!(through < distances_.distance(v))) continue;
      if (!distances_.template lower<kShared>(v, through, u)) continue;
      if (std::atomic_ref(queued_[v]).exchange(1, std::memory_order_acq_rel) == 0) {
        next.push_back(v);
      }
    }
  }

  // The number as it stands in a sum. Rising keeps the order of numbers.
  Value summand(Value number) const {
    if constexpr (std::is_integral_v<Value>) return number;
    if (!rising_) return number;
    // untestable (> to >=): zero stays zero
    return number > 0 ? number * (1 + kRise) : number * (1 - kRise);
  }

  // Sets all distances to the sums along the predecessors, as they are.
  void add_up() {
    std::fill_n(queued_.data(), arcs_.n, char{0});  // marks finished sums
    std::vector<Id> chain;
    // untestable (< to <=): reads one vertex too many, which seldom looks like one
    for (Id v = 0; v < arcs_.n; ++v) {
      for (Id u = v; row_.predecessors[u] >= 0 && !queued_[u]; u = row_.predecessors[u])
        chain.push_back(u);
      for (; !chain.empty(); chain.pop_back()) {
        const Id to = chain.back(), from = row_.predecessors[to];
        row_.distances[to] = row_.distances[from] + arc_length(from, to);
        queued_[to] = 1;
      }
    }
  }

  // Makes the queued vertices the next frontier, and looks for a negative cycle now and then. False
  // when a chain was closed by rounding.
  bool end_round() {
    since_check_ += size();
    frontier_.clear();
    for (auto& local : local_) {
      frontier_.insert(frontier_.end(), local.vertices.begin(), local.vertices.end());
      local.vertices.clear();
    }
    // untestable (< to <=): how often it looks for closed chains
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
        v = row_.predecessors[v];
      }
      if (v < 0 || seen_from[v] != start) continue;
      std::vector<std::int64_t> cycle{v};
      for (Id u = row_.predecessors[v]; u != v; u = row_.predecessors[u]) cycle.push_back(u);
      std::reverse(cycle.begin(), cycle.end());  // into the order of arcs
      if (is_negative(cycle)) throw NegativeCycle{std::move(cycle)};
      closes = true;
    }
    return closes;
  }

  // Is a closed chain a negative cycle, by the rule?
  bool is_negative(const std::vector<std::int64_t>& cycle) const {
    // untestable: the rule for floats, and then the second search, find the same cycles
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
  ResultRow<Id, Value> row_;
  TentativeDistances<Id, Value> distances_{{}};
  Buffer<char> queued_;            // is the vertex in the next frontier?
  Buffer<Id> own_predecessors_;    // when the caller wants none: cycles are detected by them
  std::vector<LocalQueue> local_;  // by thread
  std::vector<Id> frontier_;
  std::atomic<std::int64_t> next_{0};
  std::atomic<bool> too_low_{false};
  std::int64_t since_check_ = 0;
  bool rising_ = false;
  bool circled_ = false;
};

}  // namespace

template <class Id, class Value>
void bellman_ford(const Problem<Id, Value>& problem, const ResultRows<Id, Value>& rows, int threads,
                  Monitor& monitor) {
  BellmanFord<Id, Value> search(problem, threads);
  search_one_by_one(problem, rows, all_sources(rows), threads, monitor,
                    [&](const Problem<Id, Value>& own, ResultRow<Id, Value> row) {
                      search.search(&own.source, 1, row, monitor);
                      return kNoPath<Value>;
                    });
}

template <class Id, class Value>
void potentials(const Problem<Id, Value>& problem, const ResultRows<Id, Value>& rows, int threads,
                Monitor& monitor) {
  BellmanFord<Id, Value> search(problem, threads);
  search.search(rows.sources, rows.count, {rows.distances, rows.predecessors}, monitor);
}

KLEENE_SSSP_METHOD(bellman_ford)
KLEENE_SSSP_METHOD(potentials)

}  // namespace kleene::sssp
