// Climbs from several sources at once, a lane each.
//
// A lane keeps its values by depth: at each depth it has one ancestor. A vertex that is an ancestor
// of some sources is relaxed once for all of them; the other lanes take no part.
#pragma once

#include <algorithm>
#include <vector>

#include "parallel/buffer.hpp"
#include "prepared/sweeps/sweep.hpp"

namespace kleene::prepared {

// Memory for lines.
template <class T>
class LineBuffer {
 public:
  LineBuffer(std::int64_t count, bool paths)
      : values_(count * kLanes<T>), predecessors_(paths ? count * kLanes<T> : 0) {}

  Lines<T> at(std::int64_t i) {
    return {values_.data() + i * kLanes<T>,
            predecessors_.size() > 0 ? predecessors_.data() + i * kLanes<T> : nullptr};
  }
  void fill(std::int64_t begin, std::int64_t end, T zero) {
    std::fill(at(begin).values, at(end).values, zero);
    if (predecessors_.size() > 0) {
      std::fill(at(begin).predecessors, at(end).predecessors, LaneIndex<T>{-1});
    }
  }

 private:
  parallel::AlignedBuffer<T> values_;
  parallel::AlignedBuffer<LaneIndex<T>> predecessors_;
};

template <class T>
class LaneClimb {
 public:
  static constexpr int kWidth = kLanes<T>;

  explicit LaneClimb(const SweepProblem<T>& problem)
      : problem_(problem),
        elements_(problem.elements()),
        kernel_(problem.kernel()),
        by_depth_(problem.height, problem.paths()),
        lines_(std::min(problem.elimination.n, problem.height * kWidth), problem.paths()) {
    by_depth_.fill(0, problem.height, elements_.zero);
  }

  // Climbs from up to kWidth sources, in ascending order.
  void climb(const std::int32_t* sources, int count) {
    constexpr auto kDone = static_cast<std::uint32_t>(-1);  // above the roots
    const auto relax = problem_.paths() ? kernel_.climb_paths : kernel_.climb;
    std::int32_t deepest = -1;
    std::uint32_t at[kWidth];  // where each lane is
    for (int lane = 0; lane < count; ++lane) {
      at[lane] = static_cast<std::uint32_t>(sources[lane]);
      deepest = std::max(deepest, problem_.depths[sources[lane]]);
    }
    by_depth_.fill(0, deepest + 1, elements_.zero);
    for (int lane = 0; lane < count; ++lane) {
      by_depth_.at(problem_.depths[sources[lane]]).values[lane] = elements_.one;
    }
    vertices_.clear();
    for (std::uint32_t v; (v = *std::min_element(at, at + count)) != kDone;) {
      const auto i = static_cast<std::int64_t>(vertices_.size());
      const Lines<T> from = lines_.at(i), held = by_depth_.at(problem_.depths[v]);
      lines_.fill(i, i + 1, elements_.zero);
      for (int lane = 0; lane < count; ++lane) {
        if (at[lane] != v) continue;
        at[lane] = static_cast<std::uint32_t>(problem_.elimination.parents[v]);
        from.values[lane] = held.values[lane];
        if (from.predecessors) from.predecessors[lane] = held.predecessors[lane];
      }
      vertices_.push_back(static_cast<std::int32_t>(v));
      relax(problem_.up, v, from.values, elements_.zero, by_depth_.at(0));
    }
  }

  // The ancestors of the sources, ascending, and their lines: "no path" from sources that have
  // others.
  const std::vector<std::int32_t>& vertices() const { return vertices_; }
  Lines<T> line(std::int64_t i) { return lines_.at(i); }

  // By depth, what each source has on its way to its root.
  const T* at_depth(std::int64_t depth) { return by_depth_.at(depth).values; }

 private:
  const SweepProblem<T>& problem_;
  const closure::Elements<T> elements_;
  const SweepKernel<T> kernel_;
  LineBuffer<T> by_depth_, lines_;
  std::vector<std::int32_t> vertices_;
};

}  // namespace kleene::prepared
