// What a sweep goes over, and in which pieces: all vertices, or the ancestors of some of them.
#pragma once

#include <algorithm>
#include <numeric>
#include <vector>

#include "prepared/sweeps/sweep.hpp"

namespace kleene::prepared {

// Vertices swept between two looks at the monitor: a millisecond or less.
constexpr std::int64_t kSweepGrain = 1 << 17;

// Vertices 0 .. n - 1 in a postorder of the tree.
template <class T>
struct SweepTree {
  std::int64_t n;
  DepthArcs<T> arcs;
  const std::int32_t *parents, *depths, *sizes;
  const std::int32_t* lines;    // where the line of each vertex goes
  const std::int32_t* numbers;  // of the ranks among the vertices, -1 for others; null: the same
};

// The tree of the ancestors of some ranks. It is a copy, so that a sweep reads it in one go.
template <class T>
class AncestorTree {
 public:
  AncestorTree(const SweepProblem<T>& problem, const std::int32_t* ranks, std::int64_t count)
      : numbers_(static_cast<std::size_t>(problem.elimination.n), -1),
        columns_(static_cast<std::size_t>(count)),
        offsets_(1, 0) {
    const Elimination& elimination = problem.elimination;
    for (std::int64_t j = 0; j < count; ++j) {
      // untestable (< to <=): climbs on over ancestors that are marked
      for (std::int32_t v = ranks[j]; v >= 0 && numbers_[v] < 0; v = elimination.parents[v]) {
        numbers_[v] = 0;
      }
    }
    for (std::int64_t v = 0; v < elimination.n; ++v) {
      if (numbers_[v] < 0) continue;
      numbers_[v] = static_cast<std::int32_t>(depths_.size());
      depths_.push_back(problem.depths[v]);
      sizes_.push_back(1);
      parents_.push_back(elimination.parents[v]);
      const std::int64_t begin = elimination.offsets[v], end = elimination.offsets[v + 1];
      const DepthArcs<T>& arcs = problem.down;
      head_depths_.insert(head_depths_.end(), arcs.depths + begin, arcs.depths + end);
      values_.insert(values_.end(), arcs.values + begin, arcs.values + end);
      offsets_.push_back(static_cast<std::int64_t>(values_.size()));
    }
    for (std::size_t v = 0; v < sizes_.size(); ++v) {
      if (parents_[v] < 0) continue;
      parents_[v] = numbers_[parents_[v]];
      sizes_[parents_[v]] += sizes_[v];
    }
    lines_.resize(sizes_.size());
    std::iota(lines_.begin(), lines_.end(), 0);
    for (std::int64_t j = 0; j < count; ++j) columns_[j] = numbers_[ranks[j]];
  }

  SweepTree<T> tree() const {
    return {static_cast<std::int64_t>(sizes_.size()),
            {offsets_.data(), head_depths_.data(), values_.data(), nullptr},
            parents_.data(),
            depths_.data(),
            sizes_.data(),
            lines_.data(),
            numbers_.data()};
  }
  const std::int32_t* columns() const { return columns_.data(); }  // the line of each of the ranks

 private:
  std::vector<std::int32_t> numbers_, columns_, depths_, sizes_, parents_, head_depths_, lines_;
  std::vector<std::int64_t> offsets_;
  std::vector<T> values_;
};

// Vertices that are swept one after the other: `first` and those just below it.
struct Piece {
  std::int64_t first, count;
};

struct SweepPlan {
  std::vector<Piece> top;       // swept first, by one thread
  std::vector<Piece> subtrees;  // then in any order

  static SweepPlan even(std::int64_t n) {
    SweepPlan plan;
    for (std::int64_t first = n - 1; first >= 0; first -= kSweepGrain) {
      plan.top.push_back({first, std::min(first + 1, kSweepGrain)});
    }
    return plan;
  }

  // Subtrees of at most a sixteenth of a thread's share; tiny ones are not worth a start.
  static SweepPlan by_subtrees(std::int64_t n, const std::int32_t* sizes, int threads) {
    const std::int64_t largest = std::max<std::int64_t>(1, n / (16 * threads));
    SweepPlan plan;
    for (std::int64_t v = n - 1; v >= 0;) {
      const std::int64_t size = sizes[v], count = size > largest ? 1 : size;
      if (count == size && size > largest / 64) {
        plan.subtrees.push_back({v, count});
      } else if (!plan.top.empty() && plan.top.back().first - plan.top.back().count == v) {
        plan.top.back().count += count;
      } else {
        plan.top.push_back({v, count});
      }
      v -= count;
    }
    return plan;
  }
};

// Positions of the sources, sorted by rank, in batches.
struct Batches {
  std::vector<std::int32_t> positions;
  std::int64_t width;

  std::int64_t count() const {
    return (static_cast<std::int64_t>(positions.size()) + width - 1) / width;
  }
  const std::int32_t* begin(std::int64_t b) const { return positions.data() + b * width; }
  std::int64_t size(std::int64_t b) const {
    return std::min(width, static_cast<std::int64_t>(positions.size()) - b * width);
  }
};

}  // namespace kleene::prepared
