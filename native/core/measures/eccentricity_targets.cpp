#include "measures/eccentricity_targets.hpp"

#include <algorithm>
#include <atomic>
#include <cmath>
#include <iterator>
#include <limits>
#include <numeric>
#include <optional>
#include <span>
#include <vector>

#include "measures/near_shortest_sums.hpp"
#include "parallel/team.hpp"

namespace kleene::measures {
namespace {

// Rounds in a component before it is asked whether they pay, and then between two such questions;
// and the vertices that one search must decide, on average, to pay. A search among many at once
// costs a tenth of a single one, or less.
constexpr std::int64_t kFirst = 32, kBetween = 16, kWorth = 16;

// Vertices of the smallest component that is not closed and worth a round: these take the time of
// the whole graph.
constexpr std::int64_t kSmallest = 64;

// Can all sums of lengths along paths be computed without rounding, and sums of two of them?
bool sums_are_exact(const double* lengths, std::int64_t count, double longest_path) {
  if (longest_path == 0) return true;
  const int unit = std::ilogb(longest_path) - (std::numeric_limits<double>::digits - 2);
  return std::all_of(lengths, lengths + count, [&](double length) {
    const double units = std::scalbn(length, -unit);
    return units == std::floor(units);
  });
}

template <class Id, class Value>
class Targeting {
 public:
  using Bound = BoundOf<Value>;

  Targeting(const Lengths<Id, Value>& graph, bool closed, Bound* values, std::uint8_t* known,
            int threads, Monitor& monitor)
      : graph_(graph),
        closed_(closed),
        threads_(threads),
        monitor_(monitor),
        searches_(graph, threads, monitor),
        lower_(values),
        known_(known) {
    const std::int64_t n = graph.outgoing.n;
    const auto size = static_cast<std::size_t>(n);
    std::fill_n(lower_, n, Bound{0});
    std::fill_n(known_, n, std::uint8_t{0});
    upper_.assign(size, kUnbounded);
    sums_.assign(size, 0);
    is_target_.assign(size, 0);
    everything_.resize(size);
    std::iota(everything_.begin(), everything_.end(), Id{0});
    if constexpr (kFloats) {
      const double longest_path = graph.longest * static_cast<double>(std::max<std::int64_t>(n, 1));
      if (!sums_are_exact(graph.lengths, graph.outgoing.count(), longest_path)) {
        slack_ = 2 * static_cast<double>(n) * std::numeric_limits<double>::epsilon();
        best_.assign(size, -1);
        is_tied_.assign(size, 0);
      }
    }
  }

  std::int64_t run() {
    const std::int64_t n = graph_.outgoing.n;
    if (n == 0) return 0;
    if (graph_.component == nullptr) {
      settle({everything_.data(), n});
      return count_;
    }
    std::vector<Id> order(static_cast<std::size_t>(n));
    std::vector<std::int64_t> next(static_cast<std::size_t>(graph_.components));
    std::exclusive_scan(graph_.sizes, graph_.sizes + graph_.components, next.begin(),
                        std::int64_t{0});
    for (std::int64_t v = 0; v < n; ++v) {
      order[next[graph_.component[v]]++] = static_cast<Id>(v);
    }
    for (std::int64_t c = 0, first = 0; c < graph_.components; first += graph_.sizes[c++]) {
      if (closed_ || graph_.sizes[c] >= kSmallest) settle({order.data() + first, graph_.sizes[c]});
    }
    if (!closed_) follow_arcs();
    return count_;
  }

 private:
  static constexpr bool kFloats = std::is_floating_point_v<Bound>;
  static constexpr Bound kNone = -1;  // of vertices that are no targets: less than any distance
  static constexpr Bound kUnbounded = std::numeric_limits<Bound>::max();
  static constexpr std::uint8_t kOpen = 0, kKnown = 1, kDecided = 2;  // by targets, not yet summed

  struct Vertices {
    const Id* first = nullptr;
    std::int64_t size = 0;
    const Id* begin() const { return first; }
    const Id* end() const { return first + size; }
  };

  // What is left to decide in a component, and where to search next.
  struct Choice {
    std::int64_t left = 0;  // open vertices
    Id farthest = -1, nearest = -1;
  };

  // Searches for one component, as long as that pays.
  void settle(Vertices component) {
    component_ = component;
    within_ = closed_ ? component : Vertices{everything_.data(), graph_.outgoing.n};
    Choice choice{component.size, busiest(), busiest()};
    for (std::int64_t round = 0, before = component.size; choice.left > 0; ++round) {
      search_from(round % 2 == 1 ? choice.farthest : choice.nearest);
      choice = decide();
      if (round < kFirst || round % kBetween != 0) continue;
      if (before - choice.left < kBetween * kWorth) break;
      before = choice.left;
    }
    add_up();
  }

  // A vertex that is a component by itself reaches what its successors are and reach: bounds follow
  // the arcs backwards, from components that were searched and from vertices without successors.
  void follow_arcs() {
    const std::int64_t n = graph_.outgoing.n;
    const auto is_single = [&](Id v) { return graph_.sizes[graph_.component[v]] == 1; };
    std::vector<Id> unbounded(static_cast<std::size_t>(n)), followed;  // successors without a bound
    for (Id v = 0; v < n; ++v) {
      if (!is_single(v)) continue;
      for (const Id x : neighbors_of(graph_.outgoing, v)) unbounded[v] += upper_[x] == kUnbounded;
      if (unbounded[v] == 0) followed.push_back(v);
    }
    for (std::size_t i = 0; i < followed.size(); ++i) {
      const Id v = followed[i];
      upper_[v] = follow_arcs_of(v);
      for (const Id y : neighbors_of(graph_.incoming, v)) {
        if (is_single(y) && --unbounded[y] == 0) followed.push_back(y);
      }
    }
    component_ = {followed.data(), std::ssize(followed)};
    within_ = {everything_.data(), n};
    decide();
    add_up();
  }

  static std::span<const Id> neighbors_of(const Arcs<Id>& arcs, Id v) {
    return {arcs.neighbors + arcs.offsets[v], arcs.neighbors + arcs.offsets[v + 1]};
  }

  Bound follow_arcs_of(Id v) const {
    Bound bound = kNone;
    for (std::int64_t i = graph_.outgoing.offsets[v]; i < graph_.outgoing.offsets[v + 1]; ++i) {
      const Id x = graph_.outgoing.neighbors[i];
      const Bound length = graph_.lengths == nullptr ? 1 : static_cast<Bound>(graph_.lengths[i]);
      if (!is_target_[x]) bound = std::max(bound, length);
      if (upper_[x] == kNone) continue;
      bound = std::max(bound, length + std::min(upper_[x], kUnbounded - 1 - length));
    }
    return bound;
  }

  Id busiest() const {
    return *std::max_element(component_.begin(), component_.end(), [&](Id a, Id b) {
      return graph_.outgoing.degree(a) < graph_.outgoing.degree(b);
    });
  }

  // ---- one round --------------------------------------------------------------------------------

  void search_from(Id s) {
    const Value* from = forward(s);
    is_target_[s] = 1;
    Bound farthest = 0, rest = kNone;
    Id target = -1;  // the farthest vertex that is none yet, and the distance of the one after it
    for (const Id x : within_) {
      if (!reached(from[x])) continue;
      farthest = std::max(farthest, static_cast<Bound>(from[x]));
      if (is_target_[x]) continue;
      const Id nearer = target >= 0 && from[x] <= from[target] ? x : target;
      if (nearer != x) target = x;
      if (nearer >= 0) rest = std::max(rest, static_cast<Bound>(from[nearer]));
    }
    know(s, farthest);
    const Value* to = graph_.directed ? distances_to(s) : from;
    for (const Id v : component_) {
      const Bound there = static_cast<Bound>(to[v]);
      sums_[v] += static_cast<double>(there);
      upper_[v] = std::min(upper_[v], rest == kNone ? kNone : there + rest);
    }
    reach(s, to);
    if (target < 0) return;
    is_target_[target] = 1;
    to = distances_to(target);
    if (!graph_.directed) {
      farthest = 0;
      for (const Id v : component_) farthest = std::max(farthest, static_cast<Bound>(to[v]));
      know(target, farthest);
    }
    reach(target, to);
  }

  // Distances to a target are lower bounds. Of floats that differ by rounding alone, both are
  // noted.
  void reach(Id target, const Value* to) {
    for (const Id v : within_) {
      if (!reached(to[v])) continue;
      const Bound there = static_cast<Bound>(to[v]);
      if constexpr (kFloats) {
        if (slack_ > 0 && known_[v] != kKnown) note(v, target, there);
      }
      if (known_[v] != kKnown) lower_[v] = std::max(lower_[v], there);
    }
  }

  void note(Id v, Id target, double there) {
    Id& best = best_[v];
    if (best >= 0 && widened(there) >= narrowed(lower_[v]) &&
        widened(lower_[v]) >= narrowed(there)) {
      is_tied_[best] = is_tied_[target] = 1;
    }
    if (best < 0 || there > lower_[v]) best = target;
  }

  Choice decide() {
    Choice choice;
    for (const Id v : component_) {
      if (known_[v] != kOpen) continue;
      if (upper_[v] == kNone || widened(upper_[v]) <= narrowed(lower_[v])) {
        known_[v] = slack_ > 0 && lower_[v] > 0 ? kDecided : kKnown;
        continue;
      }
      ++choice.left;
      if (choice.farthest < 0 || before(upper_, choice.farthest, v)) choice.farthest = v;
      if (choice.nearest < 0 || before(lower_, v, choice.nearest)) choice.nearest = v;
    }
    return choice;
  }

  template <class Bounds>
  bool before(const Bounds& bounds, Id a, Id b) const {
    return bounds[a] < bounds[b] || (bounds[a] == bounds[b] && sums_[a] < sums_[b]);
  }

  void know(Id v, Bound eccentricity) {
    known_[v] = kKnown;
    lower_[v] = eccentricity;
  }

  const Value* forward(Id v) {
    ++count_;
    return searches_.forward(v, within_.first, within_.size);
  }

  const Value* distances_to(Id v) {
    if (!graph_.directed) return forward(v);
    ++count_;
    return searches_.backward(v, within_.first, within_.size);
  }

  bool reached(Value distance) const {
    return graph_.lengths == nullptr ? distance >= 0 : distance != kNoPath<Value>;
  }

  Bound widened(Bound sum) const {
    if constexpr (kFloats) return sum * (1 + slack_);
    return sum;
  }

  Bound narrowed(Bound value) const {
    if constexpr (kFloats) return value * (1 - slack_);
    return value;
  }

  // ---- sums of floats ---------------------------------------------------------------------------

  // Adds up the lengths from each vertex that is decided to all targets that may be its farthest.
  void add_up() {
    if constexpr (kFloats) {
      if (slack_ > 0) add_up_floats();
    }
  }

  void add_up_floats() {
    std::vector<Id> decided, targets;
    for (const Id v : component_) {
      if (known_[v] != kDecided) continue;
      decided.push_back(v);
      targets.push_back(best_[v]);
    }
    std::copy_if(within_.begin(), within_.end(), std::back_inserter(targets),
                 [&](Id w) { return is_tied_[w]; });
    std::sort(targets.begin(), targets.end());
    targets.erase(std::unique(targets.begin(), targets.end()), targets.end());
    std::vector<double> largest(decided.size(), -1);
    if (std::ssize(decided) >= kWorth * std::ssize(targets)) {
      for (const Id target : targets) add_up_to(target, decided, largest);
    }
    for (std::size_t i = 0; i < decided.size(); ++i) {
      known_[decided[i]] = kOpen;
      if (largest[i] >= 0 && largest[i] < kLeft) know(decided[i], largest[i]);
    }
  }

  void add_up_to(Id target, const std::vector<Id>& decided, std::vector<double>& largest) {
    const double* to = distances_to(target);
    double farthest = 0;
    for (const Id u : within_) {
      if (reached(to[u])) farthest = std::max(farthest, to[u]);
    }
    if (!sums_to_) sums_to_.emplace(graph_.outgoing, graph_.lengths, threads_);
    sums_to_->aim(target, to, 2 * slack_ * farthest);
    parallel_for(within_.size, 1 << 12, threads_, monitor_, [&](auto begin, auto end, int) {
      for (auto i = begin; i < end; ++i) sums_to_->prepare(within_.first[i]);
    });
    const std::int64_t most = std::max(kSmallSearch, component_.size / kLargeSearch);
    parallel_for(
        std::ssize(decided), 64, threads_, monitor_, [&](auto begin, auto end, int thread) {
          for (auto i = begin; i < end; ++i) {
            const Id v = decided[i];
            if (!reached(to[v]) || widened(to[v]) < narrowed(lower_[v]) || largest[i] == kLeft)
              continue;
            const bool futile = failures_.load(std::memory_order_relaxed) > kFutile;
            const double sum = sums_to_->sum(v, futile ? 0 : most, thread);
            if (sum < 0) failures_.fetch_add(1, std::memory_order_relaxed);
            largest[i] = sum < 0 ? kLeft : std::max(largest[i], sum);
          }
        });
  }

  // ---- data -------------------------------------------------------------------------------------

  // Vertices that a search for a sum may settle: more take as long as a search among many at once,
  // from the vertex itself. After so many that were too large, none is tried.
  static constexpr std::int64_t kSmallSearch = 64, kLargeSearch = 16, kFutile = 256;
  static constexpr double kLeft = std::numeric_limits<double>::infinity();

  const Lengths<Id, Value>& graph_;
  const bool closed_;
  const int threads_;
  Monitor& monitor_;
  ComponentSearches<Id, Value> searches_;
  Bound* const lower_;        // where the eccentricity is known, equal to it
  std::vector<Bound> upper_;  // of the distances to vertices that are no targets
  std::uint8_t* const known_;
  std::vector<double> sums_;  // of distances to the vertices searched from
  std::vector<std::uint8_t> is_target_;
  std::vector<Id> everything_;
  Vertices component_, within_;  // within what its vertices reach
  std::int64_t count_ = 0;

  // Of floats whose sums are rounded.
  double slack_ = 0;
  std::optional<NearShortestSums<Id>> sums_to_;
  std::vector<Id> best_;               // the target that is farthest
  std::vector<std::uint8_t> is_tied_;  // targets that may have the largest sum, too
  std::atomic<std::int64_t> failures_{0};
};

}  // namespace

template <class Id, class Value>
std::int64_t target_eccentricities(const Lengths<Id, Value>& graph, bool closed,
                                   BoundOf<Value>* values, std::uint8_t* known, int threads,
                                   Monitor& monitor) {
  return Targeting<Id, Value>(graph, closed, values, known, threads, monitor).run();
}

#define KLEENE_TARGETS(Id, Value)                                                               \
  template std::int64_t target_eccentricities(const Lengths<Id, Value>&, bool, BoundOf<Value>*, \
                                              std::uint8_t*, int, Monitor&);
KLEENE_TARGETS(std::int32_t, std::int32_t)
KLEENE_TARGETS(std::int32_t, std::int64_t)
KLEENE_TARGETS(std::int32_t, double)
KLEENE_TARGETS(std::int64_t, std::int64_t)
KLEENE_TARGETS(std::int64_t, double)

}  // namespace kleene::measures
