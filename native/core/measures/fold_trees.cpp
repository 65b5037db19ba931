// Trees that hang on an undirected graph, folded into the vertices where they hang.
//
// A vertex with one neighbour is on no path but its own, so it is taken off, again and again, and
// the neighbour stands for both. What is left is the core, whose vertices stand for as many as
// their trees have. Paths within trees, and those that enter or leave one, are known by counting:
// of N vertices in a component, let v have child trees of c1, c2, ... vertices, and let R be the
// number of all others but v. The paths of the pairs in different parts lead through v,
//
//   (N - 1)^2 - c1^2 - c2^2 - ... - R^2
//
// ordered pairs, those within R left to the core; and the edge above a tree of c vertices is on the
// paths of c (N - c) pairs, each way. (Baglioni et al. 2012, "Fast exact computation of betweenness
// centrality in social networks", fold leaves so.)
#include <algorithm>

#include "measures/betweenness.hpp"

namespace kleene::measures {
namespace {

using Id = std::int32_t;

struct Fold {
  Id vertex;
  std::int64_t arc;  // to the vertex it was folded into
};

class Folding {
 public:
  explicit Folding(const Arcs<Id>& arcs)
      : arcs_(arcs),
        is_folded_(static_cast<std::size_t>(arcs.n)),
        size_(is_folded_.size(), 1),
        squares_(is_folded_.size()),
        component_(is_folded_.size()) {}

  Core run(bool endpoints, const BetweennessSums& sums) {
    fold();
    measure_components();
    for (std::int64_t v = 0; v < arcs_.n; ++v) {
      const std::int64_t all = component_[v], rest = all - size_[v];
      sums.through[v] += static_cast<double>((all - 1) * (all - 1) - squares_[v] - rest * rest);
      if (endpoints) sums.through[v] += static_cast<double>(2 * (all - 1));
    }
    if (sums.along) add_arcs(sums.along);
    return core();
  }

 private:
  void fold() {
    std::vector<std::int64_t> degree(is_folded_.size());
    std::vector<Id> leaves;
    for (Id v = 0; v < arcs_.n; ++v) {
      degree[v] = arcs_.degree(v);
      if (degree[v] == 1) leaves.push_back(v);
    }
    while (!leaves.empty()) {
      const Id v = leaves.back();
      leaves.pop_back();
      const std::int64_t arc = only_arc(v);
      if (arc < 0) continue;  // the last vertex of a tree
      const Id root = arcs_.neighbors[arc];
      is_folded_[v] = true;
      folds_.push_back({v, arc});
      size_[root] += size_[v];
      squares_[root] += size_[v] * size_[v];
      if (--degree[root] == 1) leaves.push_back(root);
    }
  }

  // The arc of v to another vertex that is left; -1 for none.
  std::int64_t only_arc(Id v) const {
    for (std::int64_t i = arcs_.offsets[v]; i < arcs_.offsets[v + 1]; ++i) {
      if (arcs_.neighbors[i] != v && !is_folded_[arcs_.neighbors[i]]) return i;
    }
    return -1;
  }

  // Sums up the sizes of each component of the core; a folded vertex has that of its root.
  void measure_components() {
    std::vector<Id> reached;
    for (Id first = 0; first < arcs_.n; ++first) {
      if (is_folded_[first] || component_[first]) continue;
      reached.assign(1, first);
      component_[first] = -1;
      std::int64_t total = 0;
      for (std::size_t at = 0; at < reached.size(); ++at) {
        const Id u = reached[at];
        total += size_[u];
        for (std::int64_t i = arcs_.offsets[u]; i < arcs_.offsets[u + 1]; ++i) {
          const Id v = arcs_.neighbors[i];
          if (is_folded_[v] || component_[v]) continue;
          component_[v] = -1;
          reached.push_back(v);
        }
      }
      for (const Id u : reached) component_[u] = total;
    }
    for (std::size_t at = folds_.size(); at-- > 0;) {
      component_[folds_[at].vertex] = component_[arcs_.neighbors[folds_[at].arc]];
    }
  }

  void add_arcs(double* along) const {
    for (const auto& [v, arc] : folds_) {
      const Id root = arcs_.neighbors[arc];
      const Id* row = arcs_.neighbors + arcs_.offsets[root];
      const Id* back = std::lower_bound(row, arcs_.neighbors + arcs_.offsets[root + 1], v);
      const auto pairs = static_cast<double>(size_[v] * (component_[v] - size_[v]));
      along[arc] += pairs;
      along[back - arcs_.neighbors] += pairs;
    }
  }

  Core core() const {
    Core core;
    std::vector<Id> place(is_folded_.size(), -1);
    for (Id v = 0; v < arcs_.n; ++v) {
      if (is_folded_[v] || only_arc(v) < 0) continue;
      place[v] = static_cast<Id>(core.vertices.size());
      core.vertices.push_back(v);
      core.weights.push_back(static_cast<double>(size_[v]));
    }
    core.offsets.push_back(0);
    for (const Id v : core.vertices) {
      for (std::int64_t i = arcs_.offsets[v]; i < arcs_.offsets[v + 1]; ++i) {
        const Id head = place[arcs_.neighbors[i]];
        if (head < 0 || arcs_.neighbors[i] == v) continue;
        core.neighbors.push_back(head);
        core.arcs.push_back(i);
      }
      core.offsets.push_back(static_cast<std::int64_t>(core.neighbors.size()));
    }
    return core;
  }

  const Arcs<Id>& arcs_;
  std::vector<bool> is_folded_;
  std::vector<Fold> folds_;
  std::vector<std::int64_t> size_;       // of the tree of each vertex, itself included
  std::vector<std::int64_t> squares_;    // the sum of the squares of its child trees
  std::vector<std::int64_t> component_;  // size of the component
};

}  // namespace

Core fold_trees(const Arcs<std::int32_t>& arcs, bool endpoints, const BetweennessSums& sums) {
  return Folding(arcs).run(endpoints, sums);
}

}  // namespace kleene::measures
