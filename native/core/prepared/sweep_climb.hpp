// Climbs from several sources at once, a lane each.
//
// A lane keeps its values by depth: at each depth it has one ancestor. A vertex that is an ancestor
// of some sources is relaxed once for all of them; the other lanes take no part.
#pragma once

#include <algorithm>
#include <vector>

#include "parallel/buffer.hpp"
#include "prepared/sweep.hpp"

namespace kleene::prepared {

template <class T>
class LaneClimb {
 public:
  static constexpr int kWidth = kLanes<T>;

  explicit LaneClimb(const SweepProblem<T>& problem)
      : problem_(problem),
        elements_(problem.elements()),
        kernel_(sweep_kernel<T>(problem.semiring, problem.negative, problem.level)),
        by_depth_(problem.height * kWidth),
        lines_(std::min(problem.elimination.n, problem.height * kWidth) * kWidth) {}

  // Climbs from up to kWidth sources, in ascending order.
  void climb(const std::int32_t* sources, int count) {
    std::fill_n(by_depth_.data(), by_depth_.size(), elements_.zero);
    vertices_.clear();
    std::uint32_t at[kWidth];  // where each lane is; roots lead to the largest number
    for (int lane = 0; lane < count; ++lane) {
      at[lane] = static_cast<std::uint32_t>(sources[lane]);
      by_depth_[problem_.depth(sources[lane]) * kWidth + lane] = elements_.one;
    }
    while (true) {
      const std::uint32_t v = *std::min_element(at, at + count);
      if (v == static_cast<std::uint32_t>(-1)) break;
      T* const from = line(static_cast<std::int64_t>(vertices_.size()));
      const T* const values = by_depth_.data() + problem_.depth(v) * kWidth;
      std::fill_n(from, kWidth, elements_.zero);
      for (int lane = 0; lane < count; ++lane) {
        if (at[lane] != v) continue;
        from[lane] = values[lane];
        at[lane] = static_cast<std::uint32_t>(problem_.elimination.parents[v]);
      }
      vertices_.push_back(static_cast<std::int32_t>(v));
      kernel_.climb(problem_.up, v, from, elements_.zero, {by_depth_.data()});
    }
  }

  // The ancestors of all sources, ascending, and their lines: "no path" where a source has another.
  const std::vector<std::int32_t>& vertices() const { return vertices_; }
  T* line(std::int64_t i) { return lines_.data() + i * kWidth; }

 private:
  const SweepProblem<T>& problem_;
  const closure::Elements<T> elements_;
  const SweepKernel<T> kernel_;
  parallel::AlignedBuffer<T> by_depth_, lines_;
  std::vector<std::int32_t> vertices_;
};

}  // namespace kleene::prepared
