// A search for one path from both of its ends, which takes the same of several shortest paths as
// NetworkX: its fringes, their order and its stopping rules are those of NetworkX 3.
//
// With lengths, Dijkstra searches from both ends take turns, and stop at the first vertex that both
// have settled. Without, levels of the smaller fringe are expanded until it meets the other one.
// Vertices and arcs may be ignored, as Yen's algorithm asks for.
//
// I. Pohl, "Bi-directional search", 1971.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <unordered_set>
#include <vector>

#include "graph/search.hpp"
#include "sssp/settle_order.hpp"

namespace kleene::sssp {

using namespace graph;

// Rows in NetworkX's order: successors, and predecessors.
template <class Value>
struct TwoSidedGraph {
  using Id = std::int32_t;

  std::array<Arcs<Id>, 2> arcs;
  std::array<const Value*, 2> lengths{};  // null without lengths
  bool directed = false;                  // else an arc is ignored in both directions
};

template <class Value>
class TwoSidedSearch {
 public:
  using Id = std::int32_t;

  explicit TwoSidedSearch(const TwoSidedGraph<Value>& graph)
      : graph_(graph), is_ignored_(static_cast<std::size_t>(graph.arcs[0].n)) {
    for (Side& side : sides_) side.vertices.resize(is_ignored_.size());
  }

  void ignore(Id v) { is_ignored_[v] = 1; }
  void ignore(Id tail, Id head) { ignored_arcs_.insert(key(tail, head)); }

  // Finds a path, if there is one. `latest`: a vertex before the one where both ends meet may be
  // found to be nearer, by less than rounding shows; then the path is by the nearer one.
  bool search(Id source, Id target, bool latest) {
    path_.assign(1, source);
    length_ = 0;
    if (source == target) return true;
    begin(0, source);
    begin(1, target);
    const bool found = graph_.lengths[0] ? by_lengths(source, target) : by_levels(source, target);
    if (found) trace(latest);
    for (Side& side : sides_) {
      for (const Id v : side.seen) side.vertices[v] = {};
      side.seen.clear();
    }
    return found;
  }

  const std::vector<Id>& path() const { return path_; }
  Value length() const { return length_; }

 private:
  static constexpr Id kNone = -1;

  struct Vertex {
    Value distance = 0;
    Id predecessor = kNone;
    bool is_seen = false, is_settled = false;
  };
  struct Side {
    std::vector<Vertex> vertices;
    std::vector<Id> seen;
  };

  std::int64_t key(Id tail, Id head) const { return std::int64_t{tail} * graph_.arcs[0].n + head; }

  void begin(int end, Id v) { see(end, v, kNone, 0); }

  void see(int end, Id v, Id predecessor, Value distance) {
    Vertex& vertex = sides_[end].vertices[v];
    if (!vertex.is_seen) sides_[end].seen.push_back(v);
    vertex.distance = distance;
    vertex.predecessor = predecessor;
    vertex.is_seen = true;
  }

  // Calls use(w, arc) for the neighbors of v that are not ignored, until it returns true.
  template <class Use>
  bool for_neighbors(int end, Id v, Use&& use) const {
    const Arcs<Id>& arcs = graph_.arcs[end];
    for (std::int64_t i = arcs.offsets[v]; i < arcs.offsets[v + 1]; ++i) {
      const Id w = arcs.neighbors[i];
      if (is_ignored_[w]) continue;
      const Id tail = end == 0 ? v : w, head = end == 0 ? w : v;
      if (!ignored_arcs_.empty() &&
          (ignored_arcs_.contains(key(tail, head)) ||
           (!graph_.directed && ignored_arcs_.contains(key(head, tail))))) {
        continue;
      }
      if (use(w, i)) return true;
    }
    return false;
  }

  bool by_lengths(Id source, Id target) {
    std::array<AgingHeap<Value>, 2> fringes;
    fringes[0].push(0, source);
    fringes[1].push(0, target);
    meeting_ = {};
    for (int end = 1; !fringes[0].empty() && !fringes[1].empty();) {
      end = 1 - end;
      const Id v = fringes[end].pop();
      Vertex& settled = sides_[end].vertices[v];
      if (settled.is_settled) continue;
      settled.is_settled = true;
      if (sides_[1 - end].vertices[v].is_settled) return true;
      for_neighbors(end, v, [&](Id w, std::int64_t arc) {
        const Value through = settled.distance + graph_.lengths[end][arc];
        const Vertex& there = sides_[end].vertices[w];
        if (there.is_settled || (there.is_seen && !(through < there.distance))) return false;
        see(end, w, v, through);
        fringes[end].push(through, w);
        if (sides_[1 - end].vertices[w].is_seen) meet(w);
        return false;
      });
    }
    return false;
  }

  void meet(Id w) {
    const Vertex &before = sides_[0].vertices[w], &after = sides_[1].vertices[w];
    const Value total = before.distance + after.distance;
    if (meeting_.vertex != kNone && !(length_ > total)) return;
    length_ = total;
    meeting_ = {w, before.predecessor, after.predecessor};
  }

  bool by_levels(Id source, Id target) {
    std::array<std::vector<Id>, 2> fringes{std::vector<Id>{source}, std::vector<Id>{target}};
    std::vector<Id> level;
    while (!fringes[0].empty() && !fringes[1].empty()) {
      const int end = fringes[0].size() <= fringes[1].size() ? 0 : 1;
      level.swap(fringes[end]);
      fringes[end].clear();
      for (const Id v : level) {
        const bool met = for_neighbors(end, v, [&](Id w, std::int64_t) {
          if (!sides_[end].vertices[w].is_seen) {
            fringes[end].push_back(w);
            see(end, w, v, 0);
          }
          if (!sides_[1 - end].vertices[w].is_seen) return false;
          meeting_ = {w, sides_[0].vertices[w].predecessor, sides_[1].vertices[w].predecessor};
          return true;
        });
        if (met) return true;
      }
    }
    return false;
  }

  void trace(bool latest) {
    path_.clear();
    const Id w = meeting_.vertex;
    for (Id v = latest ? sides_[0].vertices[w].predecessor : meeting_.before; v != kNone;
         v = sides_[0].vertices[v].predecessor) {
      path_.push_back(v);
    }
    std::reverse(path_.begin(), path_.end());
    path_.push_back(w);
    for (Id v = latest ? sides_[1].vertices[w].predecessor : meeting_.after; v != kNone;
         v = sides_[1].vertices[v].predecessor) {
      path_.push_back(v);
    }
  }

  struct Meeting {
    Id vertex = kNone, before = kNone, after = kNone;
  };

  const TwoSidedGraph<Value> graph_;
  std::array<Side, 2> sides_;
  std::vector<std::uint8_t> is_ignored_;
  std::unordered_set<std::int64_t> ignored_arcs_;
  Meeting meeting_;
  std::vector<Id> path_;
  Value length_ = 0;
};

}  // namespace kleene::sssp
