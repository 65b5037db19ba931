// Weak components by Afforest (Sutton, Ben-Nun and Barak 2018): concurrent union-find, with most
// arcs skipped.
//
// Every vertex has a link to a vertex of its component that is no larger; a vertex that is linked
// to itself is a root. To unite two vertices, the larger of their roots is linked to the smaller
// one, by a compare-and-swap that fails if it is no longer a root (Jayanti and Tarjan 2016, with
// vertex ids for priorities). At the end the root is the smallest vertex of its component.
//
// A few arcs of each vertex join most of the graph into one large component. The vertices in it
// need not look at their other arcs: an arc to a vertex outside has its reverse arc there. This
// needs a symmetric graph; in others all arcs are used.
//
// Links are read and written with relaxed order: whatever a thread reads was a vertex of the same
// component when it was written, and remains one. A shortcut may overwrite a later, shorter one,
// which costs time but not correctness.
//
// M. Sutton, T. Ben-Nun, A. Barak, "Optimizing Parallel Graph Connectivity Computation via Subgraph
// Sampling", 2018.
// S. Jayanti, R. Tarjan, "A Randomized Concurrent Algorithm for Disjoint Set Union", 2016.
#include <algorithm>
#include <unordered_map>

#include "components/components.hpp"
#include "parallel/relaxed.hpp"
#include "parallel/team.hpp"

namespace kleene::components {
namespace {

constexpr std::int64_t kSampledArcs = 2;  // of each vertex, before the large component is chosen
constexpr std::int64_t kSamples = 1024;   // vertices that choose it
constexpr std::int64_t kGrain = 1 << 10;
constexpr std::int64_t kArcsPerThread = 1 << 12;  // take about as long as a thread takes to start

template <class Id>
class Links {
 public:
  explicit Links(Id* links) : links_(links) {}

  void reset(Id v) { relaxed_store(links_[v], v); }

  bool is_linked(Id v, Id to) const { return relaxed_load(links_[v]) == to; }

  // The root; shortens the way for the next search.
  Id find(Id v) {
    for (;;) {
      const Id next = relaxed_load(links_[v]);
      const Id after = relaxed_load(links_[next]);
      if (next == after) return next;
      relaxed_store(links_[v], after);
      v = after;
    }
  }

  void unite(Id u, Id v) {
    if (relaxed_load(links_[u]) == relaxed_load(links_[v])) return;
    for (;;) {
      u = find(u);
      v = find(v);
      if (u == v) return;
      if (u < v) std::swap(u, v);
      Id root = u;
      if (std::atomic_ref<Id>(links_[u]).compare_exchange_weak(root, v,
                                                               std::memory_order_relaxed)) {
        return;
      }
    }
  }

  // Links v to its root.
  void compress(Id v) { relaxed_store(links_[v], find(v)); }

 private:
  Id* const links_;
};

// The root of most of a sample of the vertices.
template <class Id>
Id largest_root(std::int64_t n, Links<Id>& links) {
  std::unordered_map<Id, int> counts;
  const std::int64_t samples = std::min(n, kSamples);
  for (std::int64_t i = 0; i < samples; ++i) ++counts[links.find(static_cast<Id>(i * n / samples))];
  const auto fewer = [](const auto& a, const auto& b) { return a.second < b.second; };
  return std::max_element(counts.begin(), counts.end(), fewer)->first;
}

}  // namespace

template <class Id>
Buffer<std::int64_t> weak(const Arcs<Id>& arcs, bool symmetric, Id* component, int threads,
                          Monitor& monitor) {
  const std::int64_t n = arcs.n;
  threads = static_cast<int>(std::min<std::int64_t>(threads, 1 + arcs.count() / kArcsPerThread));
  Links<Id> links(component);
  Id largest = -1;  // the root of vertices that skip their arcs
  run_team(threads, monitor, [&](Team::Worker& worker) {
    const auto for_each_vertex = [&](auto&& body) {
      worker.loop(n, kGrain, [&](std::int64_t begin, std::int64_t end) {
        for (std::int64_t v = begin; v < end; ++v) body(static_cast<Id>(v));
      });
    };
    // Unites a vertex with its neighbours from position `first` to `last` of its row.
    const auto unite_row = [&](Id v, std::int64_t first, std::int64_t last) {
      const std::int64_t end = std::min(arcs.offsets[v] + last, arcs.offsets[v + 1]);
      for (std::int64_t i = arcs.offsets[v] + first; i < end; ++i) {
        links.unite(v, arcs.neighbors[i]);
      }
    };

    // 1. Every vertex alone.
    for_each_vertex([&](Id v) { links.reset(v); });
    // 2. Some arcs of every vertex.
    for (std::int64_t k = 0; k < kSampledArcs; ++k) {
      for_each_vertex([&](Id v) { unite_row(v, k, k + 1); });
    }
    for_each_vertex([&](Id v) { links.compress(v); });
    // 3. The component that most vertices are in by now.
    if (symmetric && n > 0) {
      if (worker.is_leader()) largest = largest_root(n, links);
      worker.barrier();
    }
    // 4. The other arcs of all other vertices. The root of the large component may be linked to
    // another meanwhile; the links to it remain.
    for_each_vertex([&](Id v) {
      if (!links.is_linked(v, largest)) unite_row(v, kSampledArcs, n);
    });
    for_each_vertex([&](Id v) { links.compress(v); });
  });
  return number_by_size(n, component, threads, monitor);
}

template Buffer<std::int64_t> weak(const Arcs<std::int32_t>&, bool, std::int32_t*, int, Monitor&);
template Buffer<std::int64_t> weak(const Arcs<std::int64_t>&, bool, std::int64_t*, int, Monitor&);

}  // namespace kleene::components
