// SSSP as a lattice-linear predicate: distances are approached from below.
//
// G[j] is a lower bound on the distance of j; it only rises. d[j] is the tentative distance of j,
// over settled vertices. When the two are equal, j is settled. A vertex is open while it has a
// tentative distance and is not settled. A round:
//
//   beta = the least d[j] of all open j
//   for all open j, in parallel:
//     G[j] = max(beta, least G[i] + w[i, j] over the incoming arcs of j)     (alpha)
//     if d[j] <= G[j]: j is settled
//   for all newly settled j, in parallel: relax the outgoing arcs of j
//   when no vertex is open, those that are not settled cannot be reached
//
// The vertex with d[j] = beta is always settled, so the rounds end; others are settled with it when
// all that could still improve them is too far away. A vertex that is not open is bounded by beta,
// so only open vertices are processed. The bounds that a thread reads while others raise them are
// valid whether old or new.
//
// V. K. Garg, "Predicate detection to solve combinatorial optimization problems", 2020.
#include <atomic>

#include "parallel/buffer.hpp"
#include "parallel/team.hpp"
#include "sssp/sources.hpp"
#include "sssp/tentative_distances.hpp"

namespace kleene::sssp {
namespace {

template <class Id, class Value>
class LatticeSearch {
 public:
  LatticeSearch(const Problem<Id, Value>& problem, int threads)
      : outgoing_(problem.outgoing),
        lengths_(problem.lengths),
        incoming_(problem.incoming),
        incoming_lengths_(problem.incoming_lengths),
        threads_(threads),
        bounds_(outgoing_.n),
        state_(outgoing_.n),
        parts_(static_cast<std::size_t>(threads)) {}

  void search(Id source, ResultRow<Id, Value> row, Monitor& monitor) {
    distances_ = TentativeDistances<Id, Value>(row);
    std::fill_n(bounds_.data(), outgoing_.n, Value{0});
    std::fill_n(state_.data(), outgoing_.n, kUnreached);
    row.distances[source] = 0;
    open_.assign(1, source);
    HelperTeam helpers(threads_, monitor);
    while (!open_.empty()) {
      for (Part& part : parts_) part.least = kNoPath<Value>;
      share(helpers, [&](int thread) { find_beta(thread); });
      share(helpers, [&](int thread) { raise_bounds(thread, CancelCheck(monitor, thread)); });
      collect(newly_settled_, &Part::newly_settled);
      share(helpers, [&](int thread) { relax_settled(thread, CancelCheck(monitor, thread)); });
      collect(open_, &Part::open);
    }
  }

 private:
  static constexpr char kUnreached = 0, kOpen = 1, kSettled = 2;

  static constexpr std::int64_t kPiece = 256;

  struct alignas(64) Part {
    Value least = kNoPath<Value>;  // the least distance this thread saw in this round
    std::vector<Id> open;
    std::vector<Id> newly_settled;  // in this round
  };

  // One step of a round, shared with as many helpers as it is worth.
  void share(HelperTeam& helpers, HelperTeam::Task step) {
    next_.store(0, std::memory_order_relaxed);
    const auto open = static_cast<std::int64_t>(open_.size());
    helpers.share(threads_worth(open, kPiece / 2, threads_), step);
  }

  // Calls body(v) for pieces of the vertices while there are any.
  template <class Body>
  void for_pieces(const std::vector<Id>& vertices, Body&& body) {
    const auto size = static_cast<std::int64_t>(vertices.size());
    for (;;) {
      const std::int64_t at = next_.fetch_add(kPiece, std::memory_order_relaxed);
      if (at >= size) return;  // untestable (>= to >): a piece of no vertices
      for (std::int64_t i = at; i < std::min(at + kPiece, size); ++i) body(vertices[i]);
    }
  }

  // Each thread the least of its pieces; the least of those is beta.
  void find_beta(int thread) {
    Value least = kNoPath<Value>;
    for_pieces(open_, [&](Id j) { least = std::min(least, distances_.distance(j)); });
    parts_[thread].least = least;
  }

  void raise_bounds(int thread, CancelCheck check_cancelled) {
    Part& own = parts_[thread];
    Value beta = kNoPath<Value>;
    for (const Part& part : parts_) beta = std::min(beta, part.least);
    std::uint64_t processed = 0;
    for_pieces(open_, [&](Id j) {
      if (++processed % 1024 == 0) check_cancelled();
      const Value distance = distances_.distance(j);
      const Value bound = std::min(alpha(j, beta), distance);  // above it at the source only
      std::atomic_ref(bounds_[j]).store(bound, std::memory_order_relaxed);
      (bound == distance ? own.newly_settled : own.open).push_back(j);
    });
  }

  // The bound of a settled vertex is its distance.
  Value alpha(Id j, Value beta) {
    Value least = kNoPath<Value>;
    for (std::int64_t k = incoming_.offsets[j]; k < incoming_.offsets[j + 1]; ++k) {
      const Value bound =
          std::atomic_ref(bounds_[incoming_.neighbors[k]]).load(std::memory_order_relaxed);
      // untestable below (== to !=, max to min): bounds that are lower take more rounds
      const bool settled = state_[incoming_.neighbors[k]] == kSettled;
      least = std::min(least, (settled ? bound : std::max(bound, beta)) + incoming_lengths_[k]);
    }
    return incoming_.degree(j) == 0 ? beta : std::max(beta, least);
  }

  void relax_settled(int thread, CancelCheck check_cancelled) {
    Part& own = parts_[thread];
    for_pieces(newly_settled_, [&](Id i) {
      check_cancelled();
      std::atomic_ref(state_[i]).store(kSettled, std::memory_order_relaxed);
      const Value distance = distances_.distance(i);
      for (std::int64_t k = outgoing_.offsets[i]; k < outgoing_.offsets[i + 1]; ++k) {
        const Id j = outgoing_.neighbors[k];
        const Value through = distance + lengths_[k];
        // untestable (< to <=): lower() compares again, strictly
        if (!(through < distances_.distance(j))) continue;
        if (!distances_.template lower<true>(j, through, i)) continue;
        const std::atomic_ref state(state_[j]);
        if (state.exchange(kOpen, std::memory_order_relaxed) == kUnreached) own.open.push_back(j);
      }
    });
  }

  // Moves the threads' lists into one.
  void collect(std::vector<Id>& all, std::vector<Id> Part::* part_list) {
    all.clear();
    for (Part& part : parts_) {
      all.insert(all.end(), (part.*part_list).begin(), (part.*part_list).end());
      (part.*part_list).clear();
    }
  }

  const Arcs<Id> outgoing_;
  const Value* const lengths_;
  const Arcs<Id> incoming_;
  const Value* const incoming_lengths_;
  const int threads_;
  TentativeDistances<Id, Value> distances_{{}};
  Buffer<Value> bounds_;  // G
  Buffer<char> state_;
  std::vector<Id> open_;
  std::vector<Id> newly_settled_;
  std::atomic<std::int64_t> next_{0};
  std::vector<Part> parts_;
};

}  // namespace

template <class Id, class Value>
void llp(const Problem<Id, Value>& problem, const ResultRows<Id, Value>& rows, int threads,
         Monitor& monitor) {
  LatticeSearch<Id, Value> search(problem, threads);
  search_one_by_one(problem, rows, all_sources(rows), threads, monitor,
                    [&](const Problem<Id, Value>& own, ResultRow<Id, Value> row) {
                      search.search(own.source, row, monitor);
                      return kNoPath<Value>;
                    });
}

KLEENE_SSSP_METHOD(llp)

}  // namespace kleene::sssp
