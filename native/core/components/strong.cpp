// Strong components: the largest one by two searches on all cores, the rest by Tarjan's algorithm.
//
// The vertices that a pivot reaches, and that reach it, are its component (Fleischer, Hendrickson
// and Pinar 2000). In most graphs one component is far larger than all others, and a vertex with
// many arcs both ways is in it (Slota, Rajamanickam and Madduri 2014). Both searches are
// direction-optimizing BFS. What is left goes through Tarjan's algorithm (1972) on one core, in
// linear time whatever the graph is like; it uses a stack of its own, so a path of any length will
// do. On one thread Tarjan's algorithm does everything: it looks at each arc once.
//
// L. Fleischer, B. Hendrickson, A. Pinar, "On Identifying Strongly Connected Components in
// Parallel", 2000.
// G. Slota, S. Rajamanickam, K. Madduri, "BFS and Coloring-Based Parallel Algorithms for Strongly
// Connected Components and Related Problems", 2014.
// R. Tarjan, "Depth-First Search and Linear Graph Algorithms", 1972.
#include <algorithm>
#include <limits>
#include <vector>

#include "bfs/bfs.hpp"
#include "components/components.hpp"
#include "parallel/team.hpp"

namespace kleene::components {
namespace {

template <class Id>
constexpr Id kUnassigned{-1};

// The vertex with the largest product of degrees; its component is likely the largest.
template <class Id>
Id choose_pivot(const Arcs<Id>& outgoing, const Arcs<Id>& incoming) {
  Id pivot = 0;
  double most = -1;
  // untestable below (= 0 to = 1, < to >=, > to >=, > to <=): any vertex may be the pivot
  for (std::int64_t v = 0; v < outgoing.n; ++v) {
    const auto id = static_cast<Id>(v);
    const double product =
        static_cast<double>(outgoing.degree(id)) * static_cast<double>(incoming.degree(id));
    if (product > most) {
      most = product;
      pivot = id;
    }
  }
  return pivot;
}

// Assigns the component of a pivot: what it reaches and is reached from.
template <class Id>
void assign_around_pivot(const Arcs<Id>& outgoing, const Arcs<Id>& incoming, Id* component,
                         int threads, Monitor& monitor) {
  const std::int64_t n = outgoing.n;
  const Id pivot = choose_pivot(outgoing, incoming);
  const auto reach = [&](const Arcs<Id>& forward, const Arcs<Id>& backward, Buffer<Id>& hops) {
    parallel_fill(hops.data(), n, kNoHops<Id>, threads, monitor);
    bfs::Problem<Id> problem;
    problem.outgoing = forward;
    problem.incoming = backward;
    problem.source = pivot;
    bfs::direction_optimizing<Id>(problem, {hops.data(), nullptr}, threads, monitor);
  };
  Buffer<Id> from_pivot(n), to_pivot(n);
  reach(outgoing, incoming, from_pivot);
  reach(incoming, outgoing, to_pivot);
  parallel_for(n, 1 << 14, threads, monitor, [&](std::int64_t begin, std::int64_t end, int) {
    // untestable (< to >=): Tarjan's algorithm finds this component, too
    for (std::int64_t v = begin; v < end; ++v) {
      // untestable (>= to >): the pivot represents itself in Tarjan's algorithm, too
      if (from_pivot[v] >= 0 && to_pivot[v] >= 0) component[v] = pivot;
    }
  });
}

// Tarjan's algorithm over the vertices without a component. `low[v]` is the number of the visit of
// v, or of the earliest vertex on the stack that v is known to lead to. A vertex that leads to none
// earlier is the root of a component, which is itself and what lies above it on the stack. A vertex
// with a component has the latest number, which lowers nothing. Calls assign(v, root) for each
// vertex; the root is the last of its component.
template <class Id, class Assign>
void assign_by_tarjan(const Arcs<Id>& arcs, const Id* component, Monitor& monitor,
                      Assign&& assign) {
  struct Visit {
    Id v;
    Id number;
    std::int64_t next_arc;
  };
  constexpr Id kAssigned = std::numeric_limits<Id>::max();
  Buffer<Id> low(arcs.n);  // 0: not visited
  for (std::int64_t v = 0; v < arcs.n; ++v) {
    low[v] = component[v] == kUnassigned<Id> ? Id{0} : kAssigned;
  }
  Buffer<Visit> visits(arcs.n);  // both are stacks: `depth` visits are open, `top` on the stack
  Buffer<Id> stack(arcs.n);
  std::int64_t depth = 0, top = 0;
  Id visited = 0;
  const auto enter = [&](Id v) {
    low[v] = ++visited;
    visits[depth++] = {v, visited, arcs.offsets[v]};
    stack[top++] = v;
    if (visited % 4096 == 0) monitor.poll();
  };
  // untestable (< to <=): reads one entry too many, which is seldom kUnassigned
  for (std::int64_t start = 0; start < arcs.n; ++start) {
    if (low[start] != 0) continue;
    enter(static_cast<Id>(start));
    while (depth > 0) {
      Visit& visit = visits[depth - 1];
      const Id v = visit.v;
      const std::int64_t last = arcs.offsets[v + 1];
      std::int64_t i = visit.next_arc;
      Id lowest = low[v];
      for (; i < last && low[arcs.neighbors[i]] != 0; ++i) {
        lowest = std::min(lowest, low[arcs.neighbors[i]]);
      }
      low[v] = lowest;
      if (i < last) {
        visit.next_arc = i + 1;
        enter(arcs.neighbors[i]);
        continue;
      }
      const bool is_root = lowest == visit.number;
      --depth;
      if (is_root) {
        Id member;
        do {
          member = stack[--top];
          low[member] = kAssigned;
          assign(member, v);
        } while (member != v);
      } else {  // a vertex that is not a root was entered from another
        Id& earlier = low[visits[depth - 1].v];
        earlier = std::min(earlier, lowest);
      }
    }
  }
}

}  // namespace

template <class Id>
Buffer<std::int64_t> strong(const Arcs<Id>& outgoing, const Arcs<Id>* incoming, Id* component,
                            int threads, Monitor& monitor) {
  parallel_fill(component, outgoing.n, kUnassigned<Id>, threads, monitor);
  if (incoming != nullptr && threads > 1 && outgoing.n > 0) {
    assign_around_pivot(outgoing, *incoming, component, threads, monitor);
  }
  assign_by_tarjan(outgoing, component, monitor, [&](Id v, Id root) { component[v] = root; });
  return number_by_size(outgoing.n, component, threads, monitor);
}

template <class Id>
Buffer<std::int64_t> strong_in_search_order(const Arcs<Id>& arcs, Id* component, Monitor& monitor) {
  std::fill(component, component + arcs.n, kUnassigned<Id>);
  std::vector<std::int64_t> sizes{0};
  assign_by_tarjan(arcs, component, monitor, [&](Id v, Id root) {
    component[v] = static_cast<Id>(sizes.size() - 1);
    ++sizes.back();
    if (v == root) sizes.push_back(0);
  });
  Buffer<std::int64_t> all(static_cast<std::int64_t>(sizes.size() - 1));
  std::copy(sizes.begin(), sizes.end() - 1, all.data());
  return all;
}

template Buffer<std::int64_t> strong(const Arcs<std::int32_t>&, const Arcs<std::int32_t>*,
                                     std::int32_t*, int, Monitor&);
template Buffer<std::int64_t> strong(const Arcs<std::int64_t>&, const Arcs<std::int64_t>*,
                                     std::int64_t*, int, Monitor&);
template Buffer<std::int64_t> strong_in_search_order(const Arcs<std::int32_t>&, std::int32_t*,
                                                     Monitor&);
template Buffer<std::int64_t> strong_in_search_order(const Arcs<std::int64_t>&, std::int64_t*,
                                                     Monitor&);

}  // namespace kleene::components
