// Sums of float lengths along shortest paths to one vertex, as searches from the other end add
// them.
//
// A search along reversed arcs gives d(u, w) for all u, added up from w on. Its sums may differ in
// the last bits from those of a search from u, but show which arcs may be on the path that has the
// smallest of these: `measures/eccentricity_targets.hpp` says which, and why.
#pragma once

#include <cstdint>
#include <vector>

#include "graph/search.hpp"
#include "sssp/heap.hpp"

namespace kleene::measures {

using namespace graph;

template <class Id>
class NearShortestSums {
 public:
  NearShortestSums(const Arcs<Id>& arcs, const double* lengths, int threads)
      : arcs_(arcs),
        lengths_(lengths),
        only_(static_cast<std::size_t>(arcs.n)),
        length_(static_cast<std::size_t>(arcs.n)),
        workspaces_(static_cast<std::size_t>(threads)) {}

  // Takes another target, and the distances to it. Arcs up to `margin` too long may be on paths.
  void aim(Id target, const double* distances, double margin) {
    target_ = target;
    distances_ = distances;
    margin_ = margin;
  }

  // Finds the only arc out of u that may be on a path, if there is only one.
  void prepare(Id u) {
    only_[u] = kSeveral;
    for (std::int64_t i = arcs_.offsets[u]; i < arcs_.offsets[u + 1]; ++i) {
      if (!may_be_on_path(u, i)) continue;
      if (only_[u] != kSeveral) {
        only_[u] = kSeveral;
        return;
      }
      only_[u] = arcs_.neighbors[i];
      length_[u] = lengths_[i];
    }
  }

  // The smallest sum from v on; negative if a search for it settles more than `most` vertices.
  double sum(Id v, std::int64_t most, int thread) {
    double sum = 0;
    while (v != target_ && only_[v] != kSeveral) {
      sum += length_[v];
      v = only_[v];
    }
    return v == target_ ? sum : search(v, sum, most, workspaces_[thread]);
  }

 private:
  static constexpr Id kSeveral = -1;

  bool may_be_on_path(Id u, std::int64_t arc) const {
    return lengths_[arc] + distances_[arcs_.neighbors[arc]] <= distances_[u] + margin_;
  }

  // What a thread searches in.
  struct Workspace {
    std::vector<double> sums;
    std::vector<Id> reached;
    sssp::QuadHeap<Id, double> queue;
  };

  double search(Id v, double sum, std::int64_t most, Workspace& workspace) const {
    auto& [sums, reached, queue] = workspace;
    if (sums.empty()) sums.assign(only_.size(), kNoPath<double>);
    queue.clear();
    queue.push({sum, v});
    sums[v] = sum;
    reached.assign(1, v);
    double found = -1;
    for (std::int64_t settled = 0; !queue.empty() && settled < most;) {
      const auto [before, u] = queue.pop();
      if (before != sums[u]) continue;
      if (u == target_) {
        found = before;
        break;
      }
      ++settled;
      for (std::int64_t i = arcs_.offsets[u]; i < arcs_.offsets[u + 1]; ++i) {
        const Id x = arcs_.neighbors[i];
        const double through = before + lengths_[i];
        if (!(through < sums[x]) || !may_be_on_path(u, i)) continue;
        if (sums[x] == kNoPath<double>) reached.push_back(x);
        sums[x] = through;
        queue.push({through, x});
      }
    }
    for (const Id x : reached) sums[x] = kNoPath<double>;
    return found;
  }

  const Arcs<Id> arcs_;
  const double* const lengths_;
  std::vector<Id> only_;  // the head of the only arc that may be on a path
  std::vector<double> length_;
  std::vector<Workspace> workspaces_;
  Id target_ = -1;
  const double* distances_ = nullptr;
  double margin_ = 0;
};

}  // namespace kleene::measures
