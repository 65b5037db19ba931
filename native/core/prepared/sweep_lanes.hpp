// Sweeps of one batch of sources: lines of values for all vertices, and from them rows.
#pragma once

#include <algorithm>

#include "prepared/sweep_climb.hpp"
#include "prepared/sweep_plan.hpp"

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
  const SweepPlan& plan;
  const std::int32_t* places;   // the line of each vertex; null: in the order of the plan
  const std::int32_t* columns;  // the line of each column; null: in order
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

  void climb(const std::int32_t* positions, std::int64_t count) {
    std::int32_t sources[kWidth];
    count_ = static_cast<int>(count);
    for (int k = 0; k < count_; ++k) {
      sources[k] = job_.rows.sources[positions[k]];
      row_values_[k] = job_.rows.values + positions[k] * job_.rows.columns;
      if (job_.rows.predecessors)
        row_predecessors_[k] = job_.rows.predecessors + positions[k] * job_.rows.columns;
    }
    climb_.climb(sources, count_);
  }

  // Computes the lines of a piece; by_depth has those of the ancestors of its first vertex.
  void sweep(Piece piece, LineBuffer<T>& by_depth) {
    const auto& climbed = climb_.vertices();
    std::int64_t begin = piece.begin;
    Lines<T> initial = none_.at(0);
    auto next = std::upper_bound(climbed.begin(), climbed.end(), job_.plan.vertex(begin));
    while (next != climbed.begin()) {
      const std::int32_t v = *--next;
      const std::int64_t at = job_.plan.position(v, begin);
      if (at >= piece.end) break;
      if (job_.plan.vertex(at) != v) continue;
      sweep_run({begin, at}, initial, by_depth);
      begin = at;
      initial = climb_.line(next - climbed.begin());
    }
    sweep_run({begin, piece.end}, initial, by_depth);
    finish_streaming();
  }

  // Copies the lines of all ancestors of a vertex, which are done.
  void collect_ancestors(std::int64_t v, LineBuffer<T>& by_depth) const {
    const std::int32_t* const parents = job_.problem.elimination.parents;
    for (std::int64_t at = 0; (v = parents[v]) >= 0;) {
      at = job_.places ? job_.places[v] : job_.plan.position(v, 0);
      const Lines<T> to = by_depth.at(job_.problem.depths[v]);
      std::copy_n(lines_.values + at * kWidth, kWidth, to.values);
      if (to.predecessors) std::copy_n(lines_.predecessors + at * kWidth, kWidth, to.predecessors);
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
  void sweep_run(Piece piece, Lines<T> initial, LineBuffer<T>& by_depth) const {
    if (piece.begin == piece.end) return;
    const Lines<T> to =
        job_.places
            ? lines_
            : Lines<T>{lines_.values + piece.begin * kWidth,
                       lines_.predecessors ? lines_.predecessors + piece.begin * kWidth : nullptr};
    const SweepRun<T> run{job_.plan.list ? job_.plan.list + piece.begin : nullptr,
                          job_.plan.vertex(piece.begin),
                          piece.end - piece.begin,
                          initial,
                          by_depth.at(0),
                          to,
                          job_.places,
                          job_.plan.count > kLinesInCache};
    const auto relax = job_.problem.paths() ? kernel_.sweep_paths : kernel_.sweep;
    relax(job_.problem.down, run, zero_);
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
  int count_ = 0;
  Out* row_values_[kWidth];
  std::int32_t* row_predecessors_[kWidth];
};

}  // namespace kleene::prepared
