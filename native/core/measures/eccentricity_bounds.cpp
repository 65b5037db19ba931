#include "measures/eccentricity_bounds.hpp"

#include <algorithm>
#include <limits>
#include <numeric>
#include <vector>

namespace kleene::measures {
namespace {

// Searches of a component before it is asked whether they pay, and then between two such questions;
// and the vertices that one search must rule out, on average, to pay. A search among many at once
// costs a tenth of a single one, or less.
constexpr std::int64_t kFirst = 32, kBetween = 16, kWorth = 16;

template <class Id, class Value>
class Bounding {
 public:
  using Bound = BoundOf<Value>;

  Bounding(const Lengths<Id, Value>& graph, Goal goal, const EccentricityBounds<Bound>& bounds,
           int threads, Monitor& monitor)
      : graph_(graph),
        goal_(goal),
        known_(bounds.known),
        searches_(graph, threads, monitor),
        forward_{bounds.lower, bounds.upper},
        sums_(static_cast<std::size_t>(graph.outgoing.n)) {
    const auto n = static_cast<std::size_t>(graph.outgoing.n);
    if (graph.directed) {
      lower_.resize(n);
      upper_.resize(n);
      backward_ = {lower_.data(), upper_.data()};
    }
    if (kRounds) {
      slack_ = 2 * static_cast<double>(n) * std::numeric_limits<double>::epsilon();
    }
  }

  Extremes<Bound> run() {
    const std::int64_t n = graph_.outgoing.n;
    std::vector<Id> order(static_cast<std::size_t>(n));
    if (graph_.component == nullptr) {
      std::iota(order.begin(), order.end(), Id{0});
      if (n > 0) settle(order.data(), n);
      return found_;
    }
    std::vector<std::int64_t> next(static_cast<std::size_t>(graph_.components));
    std::exclusive_scan(graph_.sizes, graph_.sizes + graph_.components, next.begin(),
                        std::int64_t{0});
    for (std::int64_t v = 0; v < n; ++v) {
      order[next[graph_.component[v]]++] = static_cast<Id>(v);
    }
    for (std::int64_t c = 0, first = 0; c < graph_.components; first += graph_.sizes[c++]) {
      settle(order.data() + first, graph_.sizes[c]);
    }
    return found_;
  }

 private:
  // Bounds on distances from each vertex, or to each vertex.
  struct Side {
    Bound* lower = nullptr;
    Bound* upper = nullptr;

    explicit operator bool() const { return lower != nullptr; }
  };

  // What is left to decide in a component, and where to search next.
  struct Choice {
    std::int64_t left = 0;  // vertices that matter
    std::int64_t largest = -1, smallest = -1;
  };

  // Searches in one component, as long as that pays.
  void settle(const Id* vertices, std::int64_t size) {
    vertices_ = vertices;
    size_ = size;
    begin();
    Choice choice = next(0);
    for (std::int64_t count = 0, before = choice.left; choice.left > 0; ++count) {
      const bool high = count % 2 == 1;
      search_from(count == 0 ? busiest() : high ? choice.largest : choice.smallest);
      choice = next(count);
      if (count < kFirst || count % kBetween != 0) continue;
      if (before - choice.left < kBetween * kWorth) break;
      before = choice.left;
    }
    found_.undecided += choice.left;
  }

  void begin() {
    const double longest = graph_.longest * static_cast<double>(size_ - 1);
    constexpr double kExact = 1LL << 53;
    const Bound most = !kRounds && longest > kExact ? std::numeric_limits<Bound>::max() / 2
                                                    : widened(static_cast<Bound>(longest));
    for (const Side& side : {forward_, backward_}) {
      if (!side) continue;
      for (const Id w : vertices()) {
        side.lower[w] = 0;
        side.upper[w] = most;
      }
    }
    for (const Id w : vertices()) {
      known_[w] = 0;
      if (most == 0) know(w, 0);
    }
  }

  Id busiest() const {
    return *std::max_element(vertices_, vertices_ + size_, [&](Id a, Id b) {
      return graph_.outgoing.degree(a) < graph_.outgoing.degree(b);
    });
  }

  // ---- bounds -------------------------------------------------------------------------------

  void search_from(std::int64_t at) {
    const Id v = static_cast<Id>(at);
    const Value* from = searches_.forward(v, vertices_, size_);
    const Value* to = backward_ ? searches_.backward(v, vertices_, size_) : from;
    found_.searches += backward_ ? 2 : 1;
    tighten(forward_, v, from, to);
    if (backward_) tighten(backward_, v, to, from);
    for (const Id w : vertices()) sums_[w] += static_cast<double>(from[w] + to[w]);
  }

  // By distances from v and to v; for the other side these are exchanged.
  void tighten(const Side& side, Id v, const Value* from, const Value* to) {
    Value farthest = 0;
    for (const Id w : vertices()) farthest = std::max(farthest, from[w]);
    const Bound eccentricity = static_cast<Bound>(farthest);
    for (const Id w : vertices()) {
      const Bound there = static_cast<Bound>(from[w]), back = static_cast<Bound>(to[w]);
      side.upper[w] = std::min(side.upper[w], widened(back + eccentricity));
      side.lower[w] = std::max({side.lower[w], narrowed(back, back),
                                narrowed(eccentricity - there, eccentricity + there)});
    }
    side.lower[v] = side.upper[v] = eccentricity;
    if (&side == &backward_) {  // of floats, sums from the other end may differ in the last bit
      if (!kRounds) found_.largest = std::max(found_.largest, eccentricity);
      return;
    }
    know(v, eccentricity);
    if (kRounds) return;
    for (const Id w : vertices()) {
      if (!known_[w] && side.lower[w] == side.upper[w]) know(w, side.lower[w]);
    }
  }

  void know(Id v, Bound eccentricity) {
    known_[v] = 1;
    forward_.lower[v] = forward_.upper[v] = eccentricity;
    found_.smallest = std::min(found_.smallest, eccentricity);
    found_.largest = std::max(found_.largest, eccentricity);
  }

  static constexpr bool kRounds = std::is_floating_point_v<Bound>;

  Bound widened(Bound sum) const {
    if constexpr (kRounds) return sum * (1 + slack_);
    return sum;
  }

  Bound narrowed(Bound value, Bound sum) const {
    if constexpr (kRounds) return value - slack_ * sum;
    return value;
  }

  // ---- the next search ------------------------------------------------------------------------

  bool is_open(const Side& side, Id w) const {
    return &side == &forward_ ? !known_[w] : side.lower[w] < side.upper[w];
  }

  // Does this vertex, whose eccentricity is not known, matter to the goal?
  bool decides(const Side& side, Id w) const {
    switch (goal_) {
      case Goal::kDiameter:
        return side.upper[w] > found_.largest;
      case Goal::kRadius:
        return side.lower[w] < found_.smallest;
      case Goal::kPeriphery:
        return side.upper[w] >= found_.largest;
      default:
        return side.lower[w] <= found_.smallest;
    }
  }

  // The largest distance from any vertex is the largest to any: the diameter is known when one side
  // is decided, and searches work for both in turn. Of floats, distances from vertices decide.
  Choice next(std::int64_t count) const {
    const Choice forward = choose(forward_);
    if (goal_ != Goal::kDiameter || !backward_ || kRounds || forward.left == 0) return forward;
    const Choice backward = choose(backward_);
    return count % 4 < 2 && backward.left > 0 ? forward : backward;
  }

  Choice choose(const Side& side) const {
    const bool anywhere_low = goal_ == Goal::kDiameter || goal_ == Goal::kPeriphery;
    const bool anywhere_high = goal_ == Goal::kRadius || goal_ == Goal::kCenter;
    Choice choice;
    for (const Id w : vertices()) {
      if (!is_open(side, w)) continue;
      const bool matters = decides(side, w);
      choice.left += matters;
      if ((matters || anywhere_high) &&
          (choice.largest < 0 ||
           before(side.upper[choice.largest], sums_[choice.largest], side.upper[w], sums_[w]))) {
        choice.largest = w;
      }
      if ((matters || anywhere_low) &&
          (choice.smallest < 0 ||
           before(side.lower[w], sums_[w], side.lower[choice.smallest], sums_[choice.smallest]))) {
        choice.smallest = w;
      }
    }
    return choice;
  }

  static bool before(Bound bound, double sum, Bound other_bound, double other_sum) {
    return bound < other_bound || (bound == other_bound && sum < other_sum);
  }

  struct Range {
    const Id *first, *last;
    const Id* begin() const { return first; }
    const Id* end() const { return last; }
  };
  Range vertices() const { return {vertices_, vertices_ + size_}; }

  const Lengths<Id, Value>& graph_;
  const Goal goal_;
  std::uint8_t* const known_;
  ComponentSearches<Id, Value> searches_;
  Side forward_, backward_;           // backward_ is empty unless the graph is directed
  std::vector<Bound> lower_, upper_;  // of backward_
  std::vector<double> sums_;          // of distances to and from all vertices searched from
  double slack_ = 0;
  Extremes<Bound> found_{-1, std::numeric_limits<Bound>::max()};
  const Id* vertices_ = nullptr;  // of the component
  std::int64_t size_ = 0;
};

}  // namespace

template <class Id, class Value>
Extremes<BoundOf<Value>> bound_eccentricities(const Lengths<Id, Value>& graph, Goal goal,
                                              const EccentricityBounds<BoundOf<Value>>& bounds,
                                              int threads, Monitor& monitor) {
  return Bounding<Id, Value>(graph, goal, bounds, threads, monitor).run();
}

#define KLEENE_BOUNDS(Id, Value)                          \
  template Extremes<BoundOf<Value>> bound_eccentricities( \
      const Lengths<Id, Value>&, Goal, const EccentricityBounds<BoundOf<Value>>&, int, Monitor&);
KLEENE_BOUNDS(std::int32_t, std::int32_t)
KLEENE_BOUNDS(std::int32_t, std::int64_t)
KLEENE_BOUNDS(std::int32_t, double)
KLEENE_BOUNDS(std::int64_t, std::int64_t)
KLEENE_BOUNDS(std::int64_t, double)

}  // namespace kleene::measures
