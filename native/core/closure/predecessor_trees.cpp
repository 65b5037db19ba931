// Makes the predecessors of a closure trees.
//
// Closure methods copy predecessors from one row to another when a path improves. Where a cycle
// weighs nothing, or so little that rounding hides it, two vertices may each become the predecessor
// of the other. Such rows are rare, and each is repaired on its own: vertices whose chain does not
// end at the source are detached, then reattached by a search from the rest of the tree. The search
// takes the arc with the least slack first (Prim 1957, for the least largest slack). In exact
// arithmetic there always is an arc without slack, since every value is attained.
#include <algorithm>
#include <queue>
#include <vector>

#include "closure/closure.hpp"
#include "parallel/team.hpp"

namespace kleene::closure {
namespace {

enum State : std::uint8_t { kUnknown, kAttached, kDetached, kOnWalk, kUnreached };

// Says for every vertex of a row whether it is attached to the source; true when all reached ones
// are.
template <class T>
bool classify(const ResultTrees<T>& result, std::int64_t row, std::vector<State>& states,
              std::vector<std::int32_t>& walk) {
  const T* const values = result.values + row * result.n;
  std::int32_t* const predecessors = result.predecessors + row * result.n;
  const std::int32_t source = result.sources[row];
  for (std::int64_t v = 0; v < result.n; ++v) {
    states[v] = values[v] == result.no_path ? kUnreached : kUnknown;
    if (states[v] == kUnreached) predecessors[v] = -1;
  }
  states[source] = kAttached;
  predecessors[source] = -1;
  bool all = true;
  for (std::int64_t v = 0; v < result.n; ++v) {
    std::int32_t u = static_cast<std::int32_t>(v);
    walk.clear();
    while (u >= 0 && states[u] == kUnknown) {
      states[u] = kOnWalk;
      walk.push_back(u);
      u = predecessors[u];
    }
    const State state = u >= 0 && states[u] == kAttached ? kAttached : kDetached;
    for (const std::int32_t x : walk) states[x] = state;
    all = all && (walk.empty() || state == kAttached);
  }
  return all;
}

// How much worse than `held` a path is that reaches a vertex by this arc.
template <class T>
double slack(Semiring semiring, T value, T weight, T held) {
  const auto v = static_cast<double>(value), w = static_cast<double>(weight);
  if (semiring == Semiring::kMinPlus) {
    if constexpr (std::is_integral_v<T>) {  // exact: the sum of a path does not wrap
      return static_cast<double>(static_cast<T>(value + weight) - held);
    }
    return std::max(0.0, v + w - static_cast<double>(held));
  }
  const double value_by_arc = semiring == Semiring::kMaxMin ? std::min(v, w) : v * w;
  return semiring == Semiring::kBoolean ? 0.0
                                        : std::max(0.0, static_cast<double>(held) - value_by_arc);
}

struct Candidate {
  double slack;
  std::int32_t vertex, predecessor;
  // untestable (> to >=): the order of equal slacks
  bool operator<(const Candidate& other) const { return slack > other.slack; }  // the least on top
};

}  // namespace

template <class T>
std::int64_t find_detached(const ResultTrees<T>& result, bool* detached, int threads,
                           Monitor& monitor) {
  std::atomic<std::int64_t> count{0};
  Monitor uncounted;
  const std::int64_t grain = 1 + (1 << 15) / (result.n + 1);
  parallel_for(result.count, grain, threads, uncounted,
               [&](std::int64_t begin, std::int64_t end, int thread) {
                 std::vector<State> states(static_cast<std::size_t>(result.n));
                 std::vector<std::int32_t> walk;
                 for (std::int64_t row = begin; row < end; ++row) {
                   detached[row] = !classify(result, row, states, walk);
                   if (detached[row]) ++count;
                 }
                 if (thread == 0) monitor.poll();
               });
  return count;
}

template <class T>
void reattach(const ResultTrees<T>& result, const bool* detached, Semiring semiring,
              const MatrixArcs<T>& outgoing, const MatrixArcs<T>& incoming, int threads,
              Monitor& monitor) {
  Monitor uncounted;
  parallel_for(
      result.count, 1, threads, uncounted, [&](std::int64_t row, std::int64_t, int thread) {
        if (thread == 0) monitor.poll();
        if (!detached[row]) return;
        std::vector<State> states(static_cast<std::size_t>(result.n));
        std::vector<std::int32_t> walk;
        classify(result, row, states, walk);
        const T* const values = result.values + row * result.n;
        std::int32_t* const predecessors = result.predecessors + row * result.n;
        std::priority_queue<Candidate> candidates;
        const auto enter = [&](std::int32_t u, std::int32_t v, T weight, double so_far) {
          candidates.push({std::max(so_far, slack(semiring, values[u], weight, values[v])), v, u});
        };
        // untestable (< to <=): reads one state too many, which is seldom kDetached
        for (std::int32_t v = 0; v < result.n; ++v) {
          if (states[v] != kDetached) continue;
          for (std::int64_t arc = incoming.offsets[v]; arc < incoming.offsets[v + 1]; ++arc) {
            const std::int32_t u = incoming.neighbors[arc];
            if (states[u] == kAttached) enter(u, v, incoming.weight(arc), 0);
          }
        }
        while (!candidates.empty()) {
          const Candidate best = candidates.top();
          candidates.pop();
          if (states[best.vertex] == kAttached) continue;
          states[best.vertex] = kAttached;
          predecessors[best.vertex] = best.predecessor;
          for (std::int64_t arc = outgoing.offsets[best.vertex];
               arc < outgoing.offsets[best.vertex + 1]; ++arc) {
            const std::int32_t v = outgoing.neighbors[arc];
            if (states[v] == kDetached) enter(best.vertex, v, outgoing.weight(arc), best.slack);
          }
        }
      });
}

#define KLEENE_CHAINS(T)                                                                     \
  template std::int64_t find_detached(const ResultTrees<T>&, bool*, int, Monitor&);          \
  template void reattach(const ResultTrees<T>&, const bool*, Semiring, const MatrixArcs<T>&, \
                         const MatrixArcs<T>&, int, Monitor&);
KLEENE_CHAINS(float)
KLEENE_CHAINS(double)
KLEENE_CHAINS(std::int32_t)
KLEENE_CHAINS(std::int64_t)
KLEENE_CHAINS(std::uint8_t)
#undef KLEENE_CHAINS

}  // namespace kleene::closure
