// Betweenness of one source by the plain algorithm, in numbers that no count of paths overflows.
#pragma once

#include <vector>

#include "measures/betweenness.hpp"
#include "measures/scaled_count.hpp"

namespace kleene::measures {

class PlainSums {
 public:
  explicit PlainSums(const BetweennessProblem& problem)
      : problem_(problem),
        depth_(static_cast<std::size_t>(problem.outgoing.n), -1),
        counts_(depth_.size()),
        shares_(depth_.size()) {}

  // Adds the sums of a source.
  void run(std::int32_t source, double weight, const BetweennessSums& sums) {
    count_paths(source);
    const Arcs<std::int32_t>& arcs = problem_.outgoing;
    for (std::size_t at = queue_.size(); at-- > 0;) {
      const std::int32_t u = queue_[at];
      ScaledCount share = 0;
      for (std::int64_t i = arcs.offsets[u]; i < arcs.offsets[u + 1]; ++i) {
        const std::int32_t v = arcs.neighbors[i];
        if (depth_[v] != depth_[u] + 1) continue;
        share += shares_[v];
        if (sums.along) sums.along[i] += weight * static_cast<double>(counts_[u] * shares_[v]);
      }
      const double onward = static_cast<double>(counts_[u] * share);
      const double target = at == 0 ? 0 : problem_.target_weights[u];
      if (at > 0 || problem_.endpoints) {
        sums.through[u] += weight * (problem_.endpoints ? onward + target : onward);
      }
      shares_[u] = ScaledCount(onward + target) / counts_[u];
    }
    for (const std::int32_t u : queue_) depth_[u] = -1;
  }

 private:
  void count_paths(std::int32_t source) {
    const Arcs<std::int32_t>& arcs = problem_.outgoing;
    queue_.assign(1, source);
    depth_[source] = 0;
    counts_[source] = 1;
    for (std::size_t at = 0; at < queue_.size(); ++at) {
      const std::int32_t u = queue_[at];
      if (depth_[u] == problem_.limit) break;
      for (std::int64_t i = arcs.offsets[u]; i < arcs.offsets[u + 1]; ++i) {
        const std::int32_t v = arcs.neighbors[i];
        if (depth_[v] < 0) {
          depth_[v] = depth_[u] + 1;
          counts_[v] = 0;
          queue_.push_back(v);
        }
        if (depth_[v] == depth_[u] + 1) counts_[v] += counts_[u];
      }
    }
  }

  const BetweennessProblem& problem_;
  std::vector<std::int64_t> depth_;  // -1 between runs
  std::vector<ScaledCount> counts_, shares_;
  std::vector<std::int32_t> queue_;
};

}  // namespace kleene::measures
