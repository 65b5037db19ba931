// Sweeps of one batch of sources: lines of values for all vertices, and from them rows.
#pragma once

#include <algorithm>

#include "prepared/sweeps/sweep_climb.hpp"
#include "prepared/sweeps/sweep_plan.hpp"

#if defined(__SSE2__)
#include <emmintrin.h>
#endif

namespace kleene::prepared {

// Lines of a batch that stay in the cache of a core; more are written past the caches.
constexpr std::int64_t kLinesInCache = 1 << 13;

// Streamed lines become visible to the threads that this one meets next.
inline void finish_streaming() {
#if defined(__SSE2__)
  _mm_sfence();
#endif
}

// What all batches share.
template <class T, class Out>
struct SweepJob {
  const SweepProblem<T>& problem;
  const SweepRows<Out>& rows;
  SweepTree<T> tree;
  const std::int32_t* columns;  // the line of each column; null: in order
  SweepPlan plan;
  Batches batches;
  Lines<T> lines;
};

// One batch of sources at a time.
template <class T, class Out>
class LaneSweep {
 public:
  static constexpr std::int64_t kWidth = kLanes<T>;

  LaneSweep(const SweepJob<T, Out>& job, Lines<T> lines)
      : job_(job),
        lines_(lines),
        zero_(job.problem.elements().zero),
        kernel_(job.problem.kernel()),
        write_values_(write_rows<T, Out>(job.problem.level)),
        write_predecessors_(write_rows<LaneIndex<T>, std::int32_t>(job.problem.level)),
        no_path_(shown_no_path<Out>(job.problem.semiring, zero_)),
        climb_(job.problem),
        none_(1, job.problem.paths()) {
    none_.fill(0, 1, zero_);
  }

  void climb(std::int64_t batch) {
    const SweepRows<Out>& rows = job_.rows;
    std::int32_t sources[kWidth];
    count_ = static_cast<int>(job_.batches.size(batch));
    for (int k = 0; k < count_; ++k) {
      const std::int64_t position = job_.batches.begin(batch)[k];
      sources[k] = rows.sources[position];
      row_values_[k] = rows.values + position * rows.columns;
      if (rows.predecessors) row_predecessors_[k] = rows.predecessors + position * rows.columns;
    }
    climb_.climb(sources, count_);
    climbed_.clear();
    for (std::size_t i = 0; i < climb_.vertices().size(); ++i) {
      const std::int32_t rank = climb_.vertices()[i];
      const std::int32_t v = job_.tree.numbers ? job_.tree.numbers[rank] : rank;
      if (v >= 0) climbed_.push_back({v, static_cast<std::int32_t>(i)});
    }
  }

  // Computes the lines of a piece; by_depth has those of the ancestors of its first vertex.
  void sweep(Piece piece, LineBuffer<T>& by_depth) {
    const std::int64_t end = piece.first - piece.count;
    Lines<T> initial = none_.at(0);
    auto next = std::upper_bound(climbed_.begin(), climbed_.end(), Climbed{piece.first, 0},
                                 [](Climbed a, Climbed b) { return a.vertex < b.vertex; });
    for (; next != climbed_.begin() && (next - 1)->vertex > end; --next) {
      const std::int64_t v = (next - 1)->vertex;
      sweep_run({piece.first, piece.first - v}, initial, by_depth);
      initial = climb_.line((next - 1)->line);
      piece.first = v;
    }
    sweep_run({piece.first, piece.first - end}, initial, by_depth);
    finish_streaming();
  }

  // Copies the lines of all ancestors of a vertex, which are done.
  void collect_ancestors(std::int64_t v, LineBuffer<T>& by_depth) const {
    const SweepTree<T>& tree = job_.tree;
    while ((v = tree.parents[v]) >= 0) {
      const std::int64_t at = tree.lines[v] * kWidth;
      const Lines<T> to = by_depth.at(tree.depths[v]);
      std::copy_n(lines_.values + at, kWidth, to.values);
      if (to.predecessors) std::copy_n(lines_.predecessors + at, kWidth, to.predecessors);
    }
  }

  // Writes some columns of the batch's rows.
  void write(std::int64_t begin, std::int64_t end) const {
    write_values_(lines_.values, job_.columns, begin, end, no_path_, count_, row_values_);
    if (!job_.rows.predecessors) return;
    write_predecessors_(lines_.predecessors, job_.columns, begin, end, {-1, -1}, count_,
                        row_predecessors_);
  }

 private:
  struct Climbed {
    std::int64_t vertex;
    std::int64_t line;
  };

  void sweep_run(Piece piece, Lines<T> initial, LineBuffer<T>& by_depth) const {
    if (piece.count == 0) return;
    const SweepRun<T> run{piece.first,
                          piece.count,
                          initial,
                          by_depth.at(0),
                          lines_,
                          job_.tree.lines,
                          job_.tree.n > kLinesInCache};
    const auto relax = job_.problem.paths() ? kernel_.sweep_paths : kernel_.sweep;
    relax(job_.tree.arcs, run, zero_);
  }

  const SweepJob<T, Out>& job_;
  const Lines<T> lines_;
  const T zero_;
  const SweepKernel<T> kernel_;
  WriteRows<T, Out>* const write_values_;
  WriteRows<LaneIndex<T>, std::int32_t>* const write_predecessors_;
  const Replacement<Out> no_path_;
  LaneClimb<T> climb_;
  LineBuffer<T> none_;
  std::vector<Climbed> climbed_;  // the vertices of the tree that were climbed to, ascending
  int count_ = 0;
  Out* row_values_[kWidth];
  std::int32_t* row_predecessors_[kWidth];
};

}  // namespace kleene::prepared
