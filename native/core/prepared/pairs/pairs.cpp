#include "prepared/pairs/pairs.hpp"

#include <algorithm>
#include <cstdint>
#include <mutex>
#include <type_traits>
#include <utility>
#include <vector>

#include "parallel/team.hpp"
#include "prepared/pairs/pair_search.hpp"
#include "prepared/pairs/unpack.hpp"

namespace kleene::prepared {
namespace {

using parallel::Buffer;
using parallel::parallel_for;

// ---- paths --------------------------------------------------------------------------------------
//
// The best path between two vertices, as vertices of the graph.

template <class Algebra>
class PathSearch {
 public:
  PathSearch(const Elimination& elimination, const ClimbTree& tree, const std::int32_t* order,
             const PairValues<typename Algebra::Value>& values, const Middles& middles, bool prune,
             int level)
      : tree_(tree),
        order_(order),
        search_(tree, values, prune, true, level),
        unpacker_(elimination, middles, order),
        cutter_(elimination.n) {}

  // Appends the vertices of the path from s to t, which are ranks; nothing if there is none.
  void append(std::int32_t s, std::int32_t t, std::vector<std::int32_t>& path) {
    const std::size_t first = path.size();
    if (s == t) return path.push_back(order_[s]);
    const std::int32_t meeting = search_.search(s, t).place;
    if (meeting < 0) return;
    path.push_back(order_[s]);
    append_climb(tree_.row(s).place, meeting, path);
    append_descent(meeting, tree_.row(t).place, path);
    cutter_.cut(path, first);
  }

 private:
  void append_climb(std::int32_t start, std::int32_t meeting, std::vector<std::int32_t>& path) {
    ClimbState<Algebra>& climb = search_.origin();
    places_.clear();
    for (std::int32_t place = meeting; place != start; place = climb.tail(place)) {
      places_.push_back(place);
    }
    for (std::int32_t below = start; !places_.empty(); places_.pop_back()) {
      const std::int32_t above = places_.back();
      unpacker_.append(climb.ancestor(below), climb.ancestor(above), path);
      below = above;
    }
  }

  void append_descent(std::int32_t meeting, std::int32_t end, std::vector<std::int32_t>& path) {
    ClimbState<Algebra>& climb = search_.destination();
    for (std::int32_t above = meeting, below; above != end; above = below) {
      below = climb.tail(above);
      unpacker_.append(climb.ancestor(above), climb.ancestor(below), path);
    }
  }

  const ClimbTree& tree_;
  const std::int32_t* const order_;
  PairSearch<Algebra> search_;
  Unpacker unpacker_;
  LoopCutter cutter_;
  std::vector<std::int32_t> places_;
};

// ---- queries, which several threads may ask at once ---------------------------------------------

// Searches that calls leave for later ones, so that a call for one pair allocates nothing. Calls at
// the same time have searches of their own.
template <class Search>
class Pool {
 public:
  // Calls body(search) with one that no other thread has; make() returns a new one.
  template <class Make, class Body>
  void use(Make&& make, Body&& body) {
    std::unique_ptr<Search> search = take();
    if (!search) search = make();
    body(*search);  // lost if it throws
    const std::lock_guard lock(guard_);
    if (free_.size() < kMost) free_.push_back(std::move(search));
  }

 private:
  std::unique_ptr<Search> take() {
    const std::lock_guard lock(guard_);
    if (free_.empty()) return nullptr;
    std::unique_ptr<Search> found = std::move(free_.back());
    free_.pop_back();
    return found;
  }

  static constexpr std::size_t kMost = 16;

  std::mutex guard_;
  std::vector<std::unique_ptr<Search>> free_;
};

template <class Algebra, class Answer>
class Queries final : public PairQueries {
 public:
  using Value = typename Algebra::Value;

  Queries(const Elimination& elimination, const ClimbTree& tree, const Numbering& numbering,
          const PairValues<Value>& values, bool negative, int level)
      : elimination_(elimination),
        tree_(tree),
        numbering_(numbering),
        values_(values),
        prune_(!negative),
        level_(level) {}

  void distances(const PairList& pairs, void* answers, int threads, Monitor& monitor) override {
    auto* const out = static_cast<Answer*>(answers);
    const std::vector<SortedPair> sorted = sorted_pairs(pairs);
    const auto answer = [&](std::int64_t begin, std::int64_t end, int) {
      block_searches_.use(
          [&] { return std::make_unique<BlockSearch<Algebra>>(tree_, values_, prune_, level_); },
          [&](BlockSearch<Algebra>& search) {
            search.answer(sorted.data() + begin, sorted.data() + end,
                          [&](std::int64_t i, Value value) { out[i] = to_answer(value); });
          });
    };
    if (pairs.count < kGrain) return answer(0, pairs.count, 0);
    const std::int64_t most = BlockSearch<Algebra>::most_pairs(tree_);
    const std::int64_t fair = std::max(kGrain, pairs.count / (threads * kBlocksPerThread));
    parallel_for(pairs.count, std::min(most, fair), threads, monitor, answer);
  }

  void set_middles(const Middles& middles) override { middles_ = middles; }

  Walks paths(const PairList& pairs, int threads, Monitor& monitor) override {
    const std::int64_t pieces = (pairs.count + kGrain - 1) / kGrain;
    std::vector<std::vector<std::int32_t>> found(static_cast<std::size_t>(pieces));
    Buffer<std::int64_t> offsets(pairs.count + 1);
    offsets[0] = 0;
    parallel_for(pairs.count, kGrain, threads, monitor,
                 [&](std::int64_t begin, std::int64_t end, int) {
                   auto& own = found[static_cast<std::size_t>(begin / kGrain)];
                   path_searches_.use([&] { return new_path_search(); },
                                      [&](PathSearch<Algebra>& search) {
                                        for (std::int64_t i = begin; i < end; ++i) {
                                          const auto [s, t] = ranks_of(pairs, i);
                                          search.append(s, t, own);
                                          offsets[i + 1] = static_cast<std::int64_t>(own.size());
                                        }
                                      });
                 });
    return joined(found, std::move(offsets));
  }

 private:
  static constexpr std::int64_t kGrain = 64;  // pairs
  static constexpr std::int64_t kBlocksPerThread = 4;

  std::pair<std::int32_t, std::int32_t> ranks_of(const PairList& pairs, std::int64_t i) const {
    return {numbering_.ranks[pairs.origins[i]], numbering_.ranks[pairs.destinations[i]]};
  }

  std::vector<SortedPair> sorted_pairs(const PairList& pairs) const {
    std::vector<SortedPair> sorted(static_cast<std::size_t>(pairs.count));
    for (std::int64_t i = 0; i < pairs.count; ++i) {
      const auto [s, t] = ranks_of(pairs, i);
      sorted[static_cast<std::size_t>(i)] = {s, t, i};
    }
    std::sort(sorted.begin(), sorted.end());
    return sorted;
  }

  static Answer to_answer(Value value) {
    if constexpr (std::is_integral_v<Value> && KindOf<Algebra>::kKind != PathKind::kMaxMin) {
      if (value == Algebra::zero()) return graph::kNoPath<Answer>;
    }
    return static_cast<Answer>(value);
  }

  // `offsets` count from the beginning of each piece.
  static Walks joined(const std::vector<std::vector<std::int32_t>>& pieces,
                      Buffer<std::int64_t> offsets) {
    std::int64_t size = 0;
    for (std::size_t piece = 0; piece < pieces.size(); ++piece) {
      const auto first = static_cast<std::int64_t>(piece) * kGrain;
      const std::int64_t end = std::min(first + kGrain, offsets.size() - 1);
      for (std::int64_t i = first; i < end; ++i) offsets[i + 1] += size;
      size += static_cast<std::int64_t>(pieces[piece].size());
    }
    Buffer<std::int32_t> vertices(size);
    std::int32_t* to = vertices.data();
    for (const auto& piece : pieces) to = std::copy(piece.begin(), piece.end(), to);
    return {std::move(vertices), std::move(offsets)};
  }

  std::unique_ptr<PathSearch<Algebra>> new_path_search() const {
    return std::make_unique<PathSearch<Algebra>>(elimination_, tree_, numbering_.order, values_,
                                                 middles_, prune_, level_);
  }

  const Elimination elimination_;
  const ClimbTree& tree_;
  const Numbering numbering_;
  const PairValues<Value> values_;
  const bool prune_;
  const int level_;
  Middles middles_{};
  Pool<BlockSearch<Algebra>> block_searches_;
  Pool<PathSearch<Algebra>> path_searches_;
};

}  // namespace

template <class Algebra, class Answer>
std::unique_ptr<PairQueries> pair_queries(const Elimination& elimination, const ClimbTree& tree,
                                          const Numbering& numbering,
                                          const PairValues<typename Algebra::Value>& values,
                                          bool negative, int level) {
  return std::make_unique<Queries<Algebra, Answer>>(elimination, tree, numbering, values, negative,
                                                    level);
}

#define KLEENE_PAIR_QUERIES(Answer, ...)                                   \
  template std::unique_ptr<PairQueries> pair_queries<__VA_ARGS__, Answer>( \
      const Elimination&, const ClimbTree&, const Numbering&,              \
      const PairValues<typename __VA_ARGS__::Value>&, bool, int);
KLEENE_PAIR_QUERIES(std::int32_t, MinPlus<std::int32_t, false>)
KLEENE_PAIR_QUERIES(std::int32_t, MinPlus<std::int32_t, true>)
KLEENE_PAIR_QUERIES(std::int64_t, MinPlus<std::int32_t, false>)
KLEENE_PAIR_QUERIES(std::int64_t, MinPlus<std::int32_t, true>)
KLEENE_PAIR_QUERIES(std::int64_t, MinPlus<std::int64_t, false>)
KLEENE_PAIR_QUERIES(std::int64_t, MinPlus<std::int64_t, true>)
KLEENE_PAIR_QUERIES(float, MinPlus<float, false>)
KLEENE_PAIR_QUERIES(double, MinPlus<double, false>)
KLEENE_PAIR_QUERIES(std::uint8_t, MaxMin<std::uint8_t>)
KLEENE_PAIR_QUERIES(std::int32_t, MaxMin<std::int32_t>)
KLEENE_PAIR_QUERIES(std::int64_t, MaxMin<std::int64_t>)
KLEENE_PAIR_QUERIES(float, MaxMin<float>)
KLEENE_PAIR_QUERIES(double, MaxMin<double>)
KLEENE_PAIR_QUERIES(float, MaxTimes<float>)
KLEENE_PAIR_QUERIES(double, MaxTimes<double>)

}  // namespace kleene::prepared
