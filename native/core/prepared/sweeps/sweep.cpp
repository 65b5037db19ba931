// How threads share the work. Where the lines of a batch fit into the cache of a core, and there is
// a batch for each thread, threads work apart. Otherwise they share one batch: one thread climbs
// and sweeps the vertices with the largest subtrees, then all sweep the subtrees below these, then
// all write the rows.
#include "prepared/sweeps/sweep.hpp"

#include <algorithm>
#include <atomic>
#include <numeric>
#include <vector>

#include "parallel/team.hpp"
#include "prepared/sweeps/sweep_climb.hpp"

#if defined(__SSE2__)
#include <emmintrin.h>
#endif

namespace kleene::prepared {
namespace {

// ---- pieces of the tree -------------------------------------------------------------------------
//
// What a sweep goes over, and in which pieces: all vertices, or the ancestors of some of them.

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

// ---- a batch of sources -------------------------------------------------------------------------
//
// Sweeps of one batch of sources: lines of values for all vertices, and from them rows.

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

// ---- how threads share the work -----------------------------------------------------------------

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
