// The k shortest paths without repeated vertices from one vertex to another.
//
// Yen's algorithm (1971): every path but the first leaves an earlier one at some vertex, the spur.
// From there it follows a shortest path that avoids the vertices before the spur and the arcs by
// which earlier paths with the same prefix continue. Lawler (1972): of a new path, only the spurs
// from where it left its parent path need a search, which also makes every candidate distinct.
//
// The distance of every vertex to the sink in the whole graph is a potential (A*; Hart, Nilsson and
// Raphael 1968): with it an arc costs its detour, which is never negative, even where lengths are.
// A search runs straight to the sink, and stops when its detour exceeds that of the worst candidate
// that is still needed.
//
// J. Y. Yen, "Finding the K shortest loopless paths in a network", 1971.
// E. L. Lawler, "A procedure for computing the K best solutions ...", 1972.
#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <utility>

#include "parallel/team.hpp"
#include "sssp/heap.hpp"
#include "sssp/near.hpp"

namespace kleene::sssp {
namespace {

using Id = std::int32_t;
using Path = std::vector<Id>;

struct Candidate {
  Path path;
  std::vector<std::int64_t> prefixes;  // of the trie, up to the spur
};

class SpurSearch {
 public:
  SpurSearch(const Arcs<Id>& arcs, const double* lengths, const double* to_sink, Id sink,
             Monitor& monitor)
      : arcs_(arcs),
        lengths_(lengths),
        to_sink_(to_sink),
        sink_(sink),
        monitor_(monitor),
        detours_(static_cast<std::size_t>(arcs.n)),
        predecessors_(static_cast<std::size_t>(arcs.n)),
        reached_(static_cast<std::size_t>(arcs.n)),
        barred_(static_cast<std::size_t>(arcs.n)) {}

  // Vertices that no search may enter until the next call.
  void bar(const Id* begin, const Id* end) {
    ++bar_;
    for (; begin != end; ++begin) barred_[*begin] = bar_;
  }
  void bar(Id v) { barred_[v] = bar_; }

  // Appends the best path from `path.back()` to the sink that does not begin with one of `taken`;
  // false if there is none with a detour of at most `allowance`.
  bool extend(Path& path, const std::vector<Id>& taken, double allowance) {
    ++now_;
    queue_.clear();
    const Id spur = path.back();
    enter(spur, -1, 0);
    while (!queue_.empty()) {
      const auto [detour, u] = queue_.pop();
      if (detour != detours_[u]) continue;
      if (u == sink_) return append(path, spur);
      if (++settled_ % 1024 == 0) monitor_.poll();
      for (std::int64_t i = arcs_.offsets[u]; i < arcs_.offsets[u + 1]; ++i) {
        const Id v = arcs_.neighbors[i];
        if (barred_[v] == bar_ || to_sink_[v] == kNoPath<double>) continue;
        if (u == spur && std::find(taken.begin(), taken.end(), v) != taken.end()) continue;
        // Below zero by rounding only.
        const double cost = std::max(0.0, lengths_[i] + to_sink_[v] - to_sink_[u]);
        // untestable (<= to <): the allowance has slack; what takes all of it is dropped later
        if (detour + cost <= allowance) enter(v, u, detour + cost);
      }
    }
    return false;
  }

 private:
  void enter(Id v, Id predecessor, double detour) {
    if (reached_[v] == now_ && !(detour < detours_[v])) return;
    reached_[v] = now_;
    detours_[v] = detour;
    predecessors_[v] = predecessor;
    queue_.push({detour, v});
  }

  bool append(Path& path, Id spur) {
    const auto at = static_cast<std::ptrdiff_t>(path.size());
    for (Id v = sink_; v != spur; v = predecessors_[v]) path.push_back(v);
    std::reverse(path.begin() + at, path.end());
    return true;
  }

  const Arcs<Id>& arcs_;
  const double* const lengths_;
  const double* const to_sink_;
  const Id sink_;
  Monitor& monitor_;
  QuadHeap<Id, double> queue_;
  std::vector<double> detours_;
  std::vector<Id> predecessors_;
  // The last search that reached, or barred, a vertex: nothing is cleared between searches.
  std::vector<std::uint64_t> reached_, barred_;
  std::uint64_t now_ = 0, bar_ = 0, settled_ = 0;
};

// A trie of the prefixes of the paths so far: node 0 is the source alone, and each node lists
// the vertices by which paths continue from it.
class PrefixTrie {
 public:
  const std::vector<Id>& taken(std::int64_t node) const { return taken_[node]; }

  std::int64_t enter(std::int64_t node, Id next) {
    auto& known = taken_[node];
    const auto at = std::find(known.begin(), known.end(), next) - known.begin();
    if (at < static_cast<std::ptrdiff_t>(known.size())) return nodes_[node][at];
    const auto made = static_cast<std::int64_t>(taken_.size());
    known.push_back(next);
    nodes_[node].push_back(made);
    taken_.emplace_back();
    nodes_.emplace_back();
    return made;
  }

 private:
  std::vector<std::vector<Id>> taken_{1};
  std::vector<std::vector<std::int64_t>> nodes_{1};
};

double arc_length(const Arcs<Id>& arcs, const double* lengths, Id u, Id v) {
  const Id* const begin = arcs.neighbors + arcs.offsets[u];
  const Id* const end = arcs.neighbors + arcs.offsets[u + 1];
  return lengths[std::lower_bound(begin, end, v) - arcs.neighbors];
}

}  // namespace

ShortestPaths k_shortest_paths(const Arcs<Id>& arcs, const double* lengths, const double* to_sink,
                               Id source, Id sink, std::int64_t count, Monitor& monitor) {
  ShortestPaths result;
  if (count <= 0 || to_sink[source] == kNoPath<double>) return result;
  SpurSearch search(arcs, lengths, to_sink, sink, monitor);
  PrefixTrie prefixes;
  std::multimap<double, Candidate> candidates;  // by length; equal ones in order of discovery

  // Looks for the best path that has the first `size` vertices of `path` and then leaves all
  // others.
  const auto search_spur = [&](const Path& path, std::size_t size, double root, std::int64_t node,
                               const std::vector<std::int64_t>& nodes) {
    const auto wanted =
        static_cast<std::size_t>(count - static_cast<std::int64_t>(result.lengths.size()));
    // untestable (>= to >): keeps a candidate too many, the longest
    const bool full = candidates.size() >= wanted;
    const double worst = full ? std::prev(candidates.end())->first : kNoPath<double>;
    const double least = root + to_sink[path[size - 1]];
    // Sums in another order may differ in their last bits.
    const double allowance = worst - least + 1e-9 * (std::abs(worst) + std::abs(least));
    Path made(path.begin(), path.begin() + static_cast<std::ptrdiff_t>(size));
    // untestable (>= to >): what is as long as the worst is dropped later
    if (full && !(allowance >= 0)) return;
    if (!search.extend(made, prefixes.taken(node), full ? allowance : kNoPath<double>)) return;
    double length = root;
    for (std::size_t i = size; i < made.size(); ++i) {
      length += arc_length(arcs, lengths, made[i - 1], made[i]);
    }
    if (full && !(length < worst)) return;
    if (full) candidates.erase(std::prev(candidates.end()));
    candidates.emplace(length, Candidate{std::move(made), nodes});
  };

  search.bar(nullptr, nullptr);
  search_spur({source}, 1, 0, 0, {0});
  while (!candidates.empty()) {
    const auto first = candidates.begin();
    const double length = first->first;
    const Candidate best = std::move(first->second);
    candidates.erase(first);
    const Path& path = best.path;
    result.vertices.insert(result.vertices.end(), path.begin(), path.end());
    result.sizes.push_back(static_cast<std::int64_t>(path.size()));
    result.lengths.push_back(length);
    if (static_cast<std::int64_t>(result.lengths.size()) == count) break;
    monitor.poll();

    std::vector<std::int64_t> nodes = best.prefixes;
    const std::size_t spur = nodes.size() - 1;
    // untestable (+ 1 to + 0, < to <=): a node below the last vertex, where no search begins
    for (std::size_t i = spur; i + 1 < path.size(); ++i) {
      nodes.push_back(prefixes.enter(nodes.back(), path[i + 1]));
    }
    double root = 0;
    for (std::size_t i = 0; i < spur; ++i) root += arc_length(arcs, lengths, path[i], path[i + 1]);
    search.bar(path.data(), path.data() + spur);
    for (std::size_t i = spur; i + 1 < path.size(); ++i) {
      const auto so_far = nodes.begin() + static_cast<std::ptrdiff_t>(i + 1);
      search_spur(path, i + 1, root, nodes[i], {nodes.begin(), so_far});
      search.bar(path[i]);
      root += arc_length(arcs, lengths, path[i], path[i + 1]);
    }
  }
  return result;
}

std::vector<ShortestPaths> k_shortest_paths(const Arcs<Id>& arcs, const double* lengths,
                                            const PathPairs& pairs, std::int64_t count, int threads,
                                            Monitor& monitor) {
  std::vector<ShortestPaths> all(static_cast<std::size_t>(pairs.count));
  parallel_each(pairs.count, threads, monitor, [&](std::int64_t i, Monitor& own) {
    const std::int64_t row = pairs.rows[i];
    all[i] = k_shortest_paths(arcs, lengths, pairs.to_sink + row * arcs.n, pairs.sources[i],
                              pairs.sinks[row], count, own);
  });
  return all;
}

}  // namespace kleene::sssp
