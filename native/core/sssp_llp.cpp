// SSSP as a lattice-linear predicate: distances are approached from below.
//
// G[j] is a lower bound on the distance of j; it only rises. offer[j] is the length of the best
// path to j that has been found, over fixed vertices. Where the two meet, j is fixed. A round:
//
//   beta = the least offer of all that are not fixed
//   for all j that have an offer and are not fixed, in parallel:
//     G[j] = max(beta, least G[i] + w[i, j] over all arcs into j)     (alpha)
//     if offer[j] <= G[j]: j is fixed
//   for all j that are newly fixed, in parallel: make offers along the arcs out of j
//   when no offer is left, the vertices that are not fixed cannot be reached
//
// The vertex whose offer is beta is always fixed, so rounds come to an end; others are fixed with
// it when all that could still improve them is too far away. A vertex without an offer is bounded
// by beta until it has one, so only vertices with offers are looked at. The bounds that a thread
// reads while others raise them are valid whether old or new.
//
// V. K. Garg, "Predicate detection to solve combinatorial optimization problems", 2020.
#include <atomic>

#include "buffer.hpp"
#include "crew.hpp"
#include "labels.hpp"
#include "sssp_rows.hpp"

namespace kleene {
namespace {

template <class Id, class Value>
class LatticeSearch {
 public:
  LatticeSearch(const SsspProblem<Id, Value>& problem, int threads)
      : out_(problem.out),
        lengths_(problem.lengths),
        into_(problem.into),
        into_lengths_(problem.into_lengths),
        threads_(threads),
        bounds_(out_.n),
        state_(out_.n),
        parts_(static_cast<std::size_t>(threads)) {}

  void search(Id source, Row<Id, Value> row, Monitor& monitor) {
    offers_ = Labels<Id, Value>(row);
    std::fill_n(bounds_.data(), out_.n, Value{0});
    std::fill_n(state_.data(), out_.n, kUnseen);
    row.values[source] = 0;
    open_.assign(1, source);
    Crew crew(threads_, monitor);
    crew.run([&] {
      while (!open_.empty()) {
        for (Part& part : parts_) part.least = kNoPath<Value>;
        share(crew, [&](int thread) { find_beta(thread); });
        share(crew, [&](int thread) { raise_bounds(thread, Watch(monitor, thread)); });
        collect(newly_, &Part::newly);
        share(crew, [&](int thread) { make_offers(thread, Watch(monitor, thread)); });
        collect(open_, &Part::open);
      }
    });
  }

 private:
  static constexpr char kUnseen = 0, kOpen = 1, kFixed = 2;

  static constexpr std::int64_t kPiece = 256;

  struct alignas(64) Part {
    Value least = kNoPath<Value>;  // the least offer this thread saw in this round
    std::vector<Id> open;          // with an offer, and not fixed
    std::vector<Id> newly;         // fixed in this round
  };

  // One step of a round, by all threads that have time when it is worth it.
  void share(Crew& crew, const Crew::Job& step) {
    next_.store(0, std::memory_order_relaxed);
    if (threads_ > 1 && static_cast<std::int64_t>(open_.size()) > kPiece) {
      crew.together(step);
    } else {
      step(0);
    }
  }

  // Calls body(v) for pieces of the vertices while there are any.
  template <class Body>
  void for_pieces(const std::vector<Id>& vertices, Body&& body) {
    const auto size = static_cast<std::int64_t>(vertices.size());
    for (;;) {
      const std::int64_t at = next_.fetch_add(kPiece, std::memory_order_relaxed);
      if (at >= size) return;
      for (std::int64_t i = at; i < std::min(at + kPiece, size); ++i) body(vertices[i]);
    }
  }

  // Each thread the least of its pieces; the least of those is beta.
  void find_beta(int thread) {
    Value least = kNoPath<Value>;
    for_pieces(open_, [&](Id j) { least = std::min(least, offers_.distance(j)); });
    parts_[thread].least = least;
  }

  void raise_bounds(int thread, Watch watch) {
    Part& own = parts_[thread];
    Value beta = kNoPath<Value>;
    for (const Part& part : parts_) beta = std::min(beta, part.least);
    std::uint64_t looked = 0;
    for_pieces(open_, [&](Id j) {
      if (++looked % 1024 == 0) watch.look();
      const Value offer = offers_.distance(j);
      const Value bound = std::min(alpha(j, beta), offer);  // above it at the source only
      std::atomic_ref(bounds_[j]).store(bound, std::memory_order_relaxed);
      (bound == offer ? own.newly : own.open).push_back(j);
    });
  }

  // The bound of a fixed vertex is its distance.
  Value alpha(Id j, Value beta) {
    Value least = kNoPath<Value>;
    for (std::int64_t k = into_.offsets[j]; k < into_.offsets[j + 1]; ++k) {
      const Value bound =
          std::atomic_ref(bounds_[into_.neighbors[k]]).load(std::memory_order_relaxed);
      const bool fixed = state_[into_.neighbors[k]] == kFixed;
      least = std::min(least, (fixed ? bound : std::max(bound, beta)) + into_lengths_[k]);
    }
    return into_.degree(j) == 0 ? beta : std::max(beta, least);
  }

  void make_offers(int thread, Watch watch) {
    Part& own = parts_[thread];
    for_pieces(newly_, [&](Id i) {
      watch.look();
      std::atomic_ref(state_[i]).store(kFixed, std::memory_order_relaxed);
      const Value distance = offers_.distance(i);
      for (std::int64_t k = out_.offsets[i]; k < out_.offsets[i + 1]; ++k) {
        const Id j = out_.neighbors[k];
        const Value through = distance + lengths_[k];
        if (!(through < offers_.distance(j))) continue;
        if (!offers_.template lower<true>(j, through, i)) continue;
        const std::atomic_ref state(state_[j]);
        if (state.exchange(kOpen, std::memory_order_relaxed) == kUnseen) own.open.push_back(j);
      }
    });
  }

  // Moves what the threads have found into one list.
  void collect(std::vector<Id>& all, std::vector<Id> Part::* found) {
    all.clear();
    for (Part& part : parts_) {
      all.insert(all.end(), (part.*found).begin(), (part.*found).end());
      (part.*found).clear();
    }
  }

  const Arcs<Id> out_;
  const Value* const lengths_;
  const Arcs<Id> into_;
  const Value* const into_lengths_;
  const int threads_;
  Labels<Id, Value> offers_{{}};
  Buffer<Value> bounds_;  // G
  Buffer<char> state_;
  std::vector<Id> open_;   // with an offer, and not fixed
  std::vector<Id> newly_;  // fixed in this round
  std::atomic<std::int64_t> next_{0};
  std::vector<Part> parts_;
};

}  // namespace

template <class Id, class Value>
void sssp_llp(const SsspProblem<Id, Value>& problem, const SsspRows<Id, Value>& rows, int threads,
              Monitor& monitor) {
  LatticeSearch<Id, Value> search(problem, threads);
  search_one_by_one(problem, rows, all_places(rows), threads, monitor,
                    [&](const SsspProblem<Id, Value>& own, Row<Id, Value> row) {
                      search.search(own.source, row, monitor);
                      return kNoPath<Value>;
                    });
}

KLEENE_SSSP_METHOD(sssp_llp);

}  // namespace kleene
