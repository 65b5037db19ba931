// How threads share the work. Where the lines of a batch fit into the cache of a core, and there is
// a batch for each thread, threads work apart. Otherwise they share one batch: one thread climbs
// and sweeps the vertices with the largest subtrees, then all sweep the subtrees below these, then
// all write the rows.
#include "prepared/sweeps/sweep.hpp"

#include <algorithm>
#include <atomic>
#include <numeric>

#include "parallel/team.hpp"
#include "prepared/sweeps/sweep_lanes.hpp"

namespace kleene::prepared {
namespace {

// Columns written between two looks at the monitor.
constexpr std::int64_t kWriteGrain = 1 << 12;

template <class T, class Out>
void sweep_apart(const SweepJob<T, Out>& job, int threads, Monitor& monitor) {
  std::atomic<std::int64_t> next{0};
  parallel::run_team(threads, monitor, [&](parallel::Team::Worker& worker) {
    LineBuffer<T> own(threads > 1 ? job.tree.n : 0, job.problem.paths());
    LineBuffer<T> by_depth(job.problem.height, job.problem.paths());
    LaneSweep<T, Out> lanes(job, threads > 1 ? own.at(0) : job.lines);
    parallel::CancelCheck check_cancelled(monitor, worker.thread());
    for (std::int64_t b;
         (b = next.fetch_add(1, std::memory_order_relaxed)) < job.batches.count();) {
      lanes.climb(b);
      for (const Piece piece : job.plan.top) {
        lanes.sweep(piece, by_depth);
        check_cancelled();
      }
      for (std::int64_t j = 0; j < job.rows.columns; j += kWriteGrain) {
        lanes.write(j, std::min(j + kWriteGrain, job.rows.columns));
        check_cancelled();
      }
      monitor.advance(static_cast<std::uint64_t>(job.batches.size(b)));
    }
  });
}

template <class T, class Out>
void sweep_together(const SweepJob<T, Out>& job, int threads, Monitor& monitor) {
  LaneSweep<T, Out> lanes(job, job.lines);
  const std::vector<Piece>& subtrees = job.plan.subtrees;
  parallel::run_team(threads, monitor, [&](parallel::Team::Worker& worker) {
    LineBuffer<T> by_depth(job.problem.height, job.problem.paths());
    parallel::CancelCheck check_cancelled(monitor, worker.thread());
    for (std::int64_t b = 0; b < job.batches.count(); ++b) {
      if (worker.is_leader()) {
        lanes.climb(b);
        for (const Piece piece : job.plan.top) lanes.sweep(piece, by_depth);
      }
      worker.barrier();
      worker.loop(static_cast<std::int64_t>(subtrees.size()), 1, [&](std::int64_t i, std::int64_t) {
        lanes.collect_ancestors(subtrees[i].first, by_depth);
        lanes.sweep(subtrees[i], by_depth);
        check_cancelled();
      });
      worker.loop(job.rows.columns, kWriteGrain, [&](std::int64_t begin, std::int64_t end) {
        lanes.write(begin, end);
        check_cancelled();
      });
      if (worker.is_leader()) monitor.advance(static_cast<std::uint64_t>(job.batches.size(b)));
    }
  });
}

// Sweeps over a tree; columns as in SweepJob.
template <class T, class Out>
void sweep_tree(const SweepProblem<T>& problem, const SweepRows<Out>& rows,
                const SweepTree<T>& tree, const std::int32_t* columns, void* workspace, int threads,
                Monitor& monitor) {
  T* const values = static_cast<T*>(workspace);
  void* const behind = values + tree.n * kLanes<T>;
  SweepJob<T, Out> job{problem,
                       rows,
                       tree,
                       columns,
                       {},
                       {sorted_positions(rows.sources, rows.count), kLanes<T>},
                       {values, problem.paths() ? static_cast<LaneIndex<T>*>(behind) : nullptr}};
  if (threads == 1 || (job.batches.count() >= threads && tree.n <= kLinesInCache)) {
    job.plan = SweepPlan::even(tree.n);
    const auto most = static_cast<int>(std::min<std::int64_t>(threads, job.batches.count()));
    sweep_apart(job, std::max(1, most), monitor);
  } else {
    job.plan = SweepPlan::by_subtrees(tree.n, tree.sizes, threads);
    sweep_together(job, threads, monitor);
  }
}

}  // namespace

std::vector<std::int32_t> sorted_positions(const std::int32_t* ranks, std::int64_t count) {
  std::vector<std::int32_t> positions(static_cast<std::size_t>(count));
  std::iota(positions.begin(), positions.end(), 0);
  std::sort(positions.begin(), positions.end(),
            [&](auto a, auto b) { return std::pair(ranks[a], a) < std::pair(ranks[b], b); });
  return positions;
}

std::int64_t sweep_bytes(std::int64_t n, bool paths) { return (paths ? 2 : 1) * kLineBytes * n; }

template <class T, class Out>
void sweep(const SweepProblem<T>& problem, const std::int32_t* order, const SweepRows<Out>& rows,
           void* workspace, int threads, Monitor& monitor) {
  if (rows.targets == nullptr) {
    const SweepTree<T> tree{problem.elimination.n,
                            problem.down,
                            problem.elimination.parents,
                            problem.depths,
                            problem.sizes,
                            order,
                            nullptr};
    sweep_tree(problem, rows, tree, nullptr, workspace, threads, monitor);
  } else {
    const AncestorTree<T> ancestors(problem, rows.targets, rows.columns);
    sweep_tree(problem, rows, ancestors.tree(), ancestors.columns(), workspace, threads, monitor);
  }
}

#define KLEENE_SWEEP(T, Out)                                                                     \
  template void sweep(const SweepProblem<T>&, const std::int32_t*, const SweepRows<Out>&, void*, \
                      int, Monitor&);
KLEENE_SWEEP(float, float)
KLEENE_SWEEP(double, double)
KLEENE_SWEEP(std::int32_t, std::int32_t)
KLEENE_SWEEP(std::int32_t, std::int64_t)
KLEENE_SWEEP(std::int32_t, bool)
KLEENE_SWEEP(std::int64_t, std::int64_t)
KLEENE_SWEEP(std::uint8_t, bool)
#undef KLEENE_SWEEP

}  // namespace kleene::prepared
