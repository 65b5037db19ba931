// Predecessor chains of a dense answer: are they trees, and if not, make them so.
//
// Engines copy predecessors from one row to another when a path improves. Where a cycle weighs
// nothing, or so little that rounding hides it, two vertices may each come to name the other. Such
// rows are rare, and each is mended by itself: everything whose chain does not end at the source
// is cut off, then hung back by a search from what is left, along arcs into what was cut. The
// search takes the arc with the least slack first (Prim 1957, for the least largest slack). In
// exact arithmetic there always is an arc without slack, since every value is attained.
#include <algorithm>
#include <queue>
#include <vector>

#include "dense.hpp"
#include "parallel.hpp"

namespace kleene {
namespace {

enum State : std::uint8_t { kUnknown, kHangs, kLoose, kOnWalk, kUnreached };

// Says for every vertex of a row whether it hangs on the source; true when all reached ones do.
template <class T>
bool classify(const DenseAnswer<T>& answer, std::int64_t row, std::vector<State>& states,
              std::vector<std::int32_t>& walk) {
  const T* const values = answer.values + row * answer.n;
  std::int32_t* const before = answer.predecessors + row * answer.n;
  const std::int32_t source = answer.sources[row];
  for (std::int64_t v = 0; v < answer.n; ++v) {
    states[v] = values[v] == answer.no_path ? kUnreached : kUnknown;
    if (states[v] == kUnreached) before[v] = -1;
  }
  states[source] = kHangs;
  before[source] = -1;
  bool all = true;
  for (std::int64_t v = 0; v < answer.n; ++v) {
    std::int32_t u = static_cast<std::int32_t>(v);
    walk.clear();
    while (u >= 0 && states[u] == kUnknown) {
      states[u] = kOnWalk;
      walk.push_back(u);
      u = before[u];
    }
    const State found = u >= 0 && states[u] == kHangs ? kHangs : kLoose;
    for (const std::int32_t x : walk) states[x] = found;
    all = all && (walk.empty() || found == kHangs);
  }
  return all;
}

// How much worse than `held` a path is that reaches a vertex by this arc.
template <class T>
double slack(Algebra algebra, T value, T weight, T held) {
  const auto v = static_cast<double>(value), w = static_cast<double>(weight);
  if (algebra == Algebra::kMinPlus) {
    if constexpr (std::is_integral_v<T>) {  // exactly: no path that is there wraps
      return static_cast<double>(static_cast<T>(value + weight) - held);
    }
    return std::max(0.0, v + w - static_cast<double>(held));
  }
  const double offer = algebra == Algebra::kMaxMin ? std::min(v, w) : v * w;
  return algebra == Algebra::kBoolean ? 0.0 : std::max(0.0, static_cast<double>(held) - offer);
}

struct Offer {
  double slack;
  std::int32_t vertex, before;
  bool operator<(const Offer& other) const { return slack > other.slack; }  // the least on top
};

}  // namespace

template <class T>
std::int64_t dense_loose(const DenseAnswer<T>& answer, bool* loose, int threads, Monitor& monitor) {
  std::atomic<std::int64_t> count{0};
  Monitor uncounted;
  const std::int64_t grain = 1 + (1 << 15) / (answer.n + 1);
  parallel_for(answer.count, grain, threads, uncounted,
               [&](std::int64_t begin, std::int64_t end, int thread) {
                 std::vector<State> states(static_cast<std::size_t>(answer.n));
                 std::vector<std::int32_t> walk;
                 for (std::int64_t row = begin; row < end; ++row) {
                   loose[row] = !classify(answer, row, states, walk);
                   if (loose[row]) ++count;
                 }
                 if (thread == 0) monitor.poll();
               });
  return count;
}

template <class T>
void dense_hang(const DenseAnswer<T>& answer, const bool* loose, Algebra algebra,
                const DenseArcs<T>& out, const DenseArcs<T>& in, int threads, Monitor& monitor) {
  Monitor uncounted;
  parallel_for(
      answer.count, 1, threads, uncounted, [&](std::int64_t row, std::int64_t, int thread) {
        if (thread == 0) monitor.poll();
        if (!loose[row]) return;
        std::vector<State> states(static_cast<std::size_t>(answer.n));
        std::vector<std::int32_t> walk;
        classify(answer, row, states, walk);
        const T* const values = answer.values + row * answer.n;
        std::int32_t* const before = answer.predecessors + row * answer.n;
        std::priority_queue<Offer> offers;
        const auto offer = [&](std::int32_t u, std::int32_t v, T weight, double so_far) {
          offers.push({std::max(so_far, slack(algebra, values[u], weight, values[v])), v, u});
        };
        for (std::int32_t v = 0; v < answer.n; ++v) {
          if (states[v] != kLoose) continue;
          for (std::int64_t arc = in.offsets[v]; arc < in.offsets[v + 1]; ++arc) {
            const std::int32_t u = in.neighbors[arc];
            if (states[u] == kHangs) offer(u, v, in.weight(arc), 0);
          }
        }
        while (!offers.empty()) {
          const Offer best = offers.top();
          offers.pop();
          if (states[best.vertex] == kHangs) continue;
          states[best.vertex] = kHangs;
          before[best.vertex] = best.before;
          for (std::int64_t arc = out.offsets[best.vertex]; arc < out.offsets[best.vertex + 1];
               ++arc) {
            const std::int32_t v = out.neighbors[arc];
            if (states[v] == kLoose) offer(best.vertex, v, out.weight(arc), best.slack);
          }
        }
      });
}

#define KLEENE_CHAINS(T)                                                                     \
  template std::int64_t dense_loose(const DenseAnswer<T>&, bool*, int, Monitor&);            \
  template void dense_hang(const DenseAnswer<T>&, const bool*, Algebra, const DenseArcs<T>&, \
                           const DenseArcs<T>&, int, Monitor&);
KLEENE_CHAINS(float)
KLEENE_CHAINS(double)
KLEENE_CHAINS(std::int32_t)
KLEENE_CHAINS(std::int64_t)
KLEENE_CHAINS(std::uint8_t)
#undef KLEENE_CHAINS

}  // namespace kleene
