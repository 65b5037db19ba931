// The tiled method: elimination by blocks of rows, on all cores.
//
// For each block K of vertices in turn, allow paths through K:
//
//   1. close the rows of K among themselves: every row of K then holds the best paths through
//      earlier blocks and through K;
//   2. for every other row i and every j, take the best of d[i][j] and d[i][k] times d'[k][j] over
//      k in K, where d is from before this round and d' from step 1: k is the first vertex of K on
//      the path.
//
// This is Gauss-Jordan elimination (Carre 1971) in the blocks of Venkataraman, Sahni and
// Mukhopadhyaya (2003). Since step 2 reads the column block as it was, that block needs no phase of
// its own, and one product of (n x K) by (K x n) remains: packed operands, a tile in registers, as
// matrix multiplication is done (Goto and van de Geijn 2008). Step 1 repeats the scheme with blocks
// of a tile's height, and there one vertex at a time.
//
// Why predecessor chains have no cycles, zero-weight cycles or not (in exact arithmetic). One
// vertex at a time, a strict improvement copies a whole chain: see reference/closure.py. For step
// 2, suppose that row i has a cycle of predecessors after the round. If P[i][j] = v and v improved
// in this round, so did j, since the arc (v, j) stays tight; so all of the cycle improved. If k
// attains the best for v, it does so for j; so on a cycle all have the same set of attaining k, and
// the kernel, which scans k upwards and takes strict improvements only, took the same k for all.
// Then the cycle is in row k of K as well, which is closed and has none.
//
// Threads take the tasks of all rounds from one list, without barriers: see task_order.hpp.
//
// A panel of a larger matrix (ClosedPanel) takes the same rounds over its own rows, and keeps the
// closed rows of every block as they were in the block's round. Other rows, whenever they come, are
// taken through these blocks in the same order: every entry sees the operations that it would see
// if the whole matrix were in memory, so the bits are the same.
#include <algorithm>
#include <atomic>

#include "closure/block_rows.hpp"
#include "closure/closure.hpp"
#include "closure/row_product.hpp"
#include "closure/task_order.hpp"
#include "parallel/buffer.hpp"
#include "parallel/team.hpp"

namespace kleene::closure {
namespace {

// ---- tuning -------------------------------------------------------------------------------------

// Rows of a block and of an item, both multiples of every tile's height. Of 24, 48, ... 192
// rows, 96 were best or near it for float32 at n = 512, 1024 and 2048 on one and two cores of a
// Xeon (Sapphire Rapids, AVX-512), with and without paths. On a Zen 4 core (AVX2 and AVX-512,
// float32) 96 to 240 are alike at n = 2048, 48 to 120 at n = 512; items of 24, 48 and 96 rows too.
constexpr std::int64_t kBlock = kPanelStep, kRows = 24;

// Items of a round for each thread, at least: more threads would only wait for the last ones. On
// sixteen Xeon cores (Sapphire Rapids, AVX-512, float32), n = 512 with its 22 items runs at 131 G
// relaxations a second on 8 threads and at 99 on 16; n = 2048 with 86 items at 258 and 434.
constexpr std::int64_t kItemsPerThread = 3;

// Columns of a chunk of strips: not measured; it takes about as long as an item of 512 columns.
constexpr std::int64_t kChunkColumns = 64;

// Only kernels with paths ask for signs.
template <class T>
KernelTraits traits(const Matrix<T>& matrix, const Options& options) {
  if constexpr (std::is_floating_point_v<T>) {
    return {options.zen, options.zen && options.semiring == Semiring::kMinPlus &&
                             matrix.predecessors != nullptr &&
                             nonnegative(matrix.values, matrix.rows * matrix.n, options.threads)};
  }
  return {};
}

// As many threads as have enough items.
int threads_for(std::int64_t items, int threads) {
  return static_cast<int>(
      std::clamp<std::int64_t>(items / kItemsPerThread, 1, std::max(1, threads)));
}

}  // namespace

template <class T>
class Tiled {
 public:
  // A panel keeps the blocks of all rounds for other rows, which may have signs that it has not.
  Tiled(const Matrix<T>& matrix, const Options& options, Monitor& monitor, bool panel = false)
      : matrix_(matrix),
        elements_(elements_of<T>(options.semiring)),
        tiles_(tile_kernel<T>(options.semiring, options.level,
                              panel ? KernelTraits{options.zen} : traits(matrix, options)),
               matrix.predecessors != nullptr),
        items_((matrix.rows + kRows - 1) / kRows),
        threads_(threads_for(items_, options.threads)),
        block_(round_up(options.block > 0 ? options.block : kBlock, kRows)),
        rows_(matrix_, elements_, tiles_, block_, panel ? (matrix.rows + block_ - 1) / block_ : 2),
        chunk_(std::max<std::int64_t>(1, kChunkColumns / tiles_.width)),
        product_(tiles_, elements_.zero, block_),
        order_(items_, block_ / kRows, (rows_.strips() + chunk_ - 1) / chunk_, threads_),
        progress_(order_, items_),
        monitor_(monitor) {}

  // Closes the matrix; false at a cycle that is better than the empty path.
  bool run() {
    std::atomic<std::int64_t> next{0};
    run_team(threads_, monitor_, [&](Team::Worker& worker) {
      AlignedBuffer<T> packed(product_.packed_size(kRows));
      CancelCheck check(monitor_, worker.thread());
      for (;;) {
        check();
        const std::int64_t i = next.fetch_add(1, std::memory_order_relaxed);
        if (i >= order_.size()) return;
        const Task task = order_.at(i);
        if (!wait_until_ready(task, check)) return;
        if (!execute(task, packed)) {
          cycle_.store(true, std::memory_order_relaxed);
          return;
        }
        progress_.finish(task);
      }
    });
    return !cycle_.load(std::memory_order_relaxed);
  }

  // Takes rows of other vertices through all rounds. Tasks are in order of the rounds; one waits
  // until its rows are through the round before, which another thread may still be at.
  void relax(const Matrix<T>& rows, int threads, Monitor& monitor) {
    const std::int64_t items = (rows.rows + kRows - 1) / kRows;
    const auto passed =
        std::make_unique<std::atomic<std::int64_t>[]>(static_cast<std::size_t>(items));
    std::atomic<std::int64_t> next{0};
    run_team(threads_for(items, threads), monitor, [&](Team::Worker& worker) {
      AlignedBuffer<T> packed(product_.packed_size(kRows));
      CancelCheck check(monitor, worker.thread());
      for (;;) {
        check();
        const std::int64_t i = next.fetch_add(1, std::memory_order_relaxed);
        if (i >= items * order_.rounds()) return;
        const std::int64_t round = i / items;
        std::atomic<std::int64_t>& done = passed[static_cast<std::size_t>(i % items)];
        for (int spins = 0; done.load(std::memory_order_acquire) < round; ++spins) {
          if (spins < kSpinsBeforeYield) continue;
          check();
          yield_core();
        }
        update_rows(rows, round, i % items * kRows, packed);
        done.store(round + 1, std::memory_order_release);
      }
    });
  }

 private:
  // False when there is nothing left to wait for.
  bool wait_until_ready(const Task& task, CancelCheck& check) {
    for (int spins = 0; !progress_.ready(task); ++spins) {
      if (cycle_.load(std::memory_order_relaxed)) return false;
      if (spins < kSpinsBeforeYield) continue;
      check();
      yield_core();
    }
    return !cycle_.load(std::memory_order_relaxed);
  }

  // False at a cycle.
  bool execute(const Task& task, AlignedBuffer<T>& packed) {
    if (task.kind == Task::kDiagonal) return rows_.close_diagonal(task.round);
    if (task.kind == Task::kStrips) {
      const std::int64_t begin = task.index * chunk_;
      rows_.close_strips(task.round, begin, std::min(begin + chunk_, rows_.strips()));
    }
    if (task.kind == Task::kRows) {
      const std::int64_t row = task.index * kRows;
      update_rows(matrix_, task.round, row, packed);
      // untestable (min to max): how much progress is reported
      const std::int64_t depth = std::min(block_, matrix_.rows - task.round * block_);
      monitor_.advance(static_cast<std::uint64_t>(std::min(kRows, matrix_.rows - row) * depth));
    }
    return true;
  }

  // ---- step 2 ----------------------------------------------------------------------------------

  // Step 2 for an item: its rows by the panel; their column block is packed as it is now.
  void update_rows(const Matrix<T>& matrix, std::int64_t round, std::int64_t row,
                   AlignedBuffer<T>& packed) {
    const std::int64_t row_end = std::min(row + kRows, matrix.rows);
    const std::int64_t first = round * block_, depth = std::min(block_, matrix_.rows - first);
    const RowsOf<T> rows = rows_of(matrix);
    product_.update(
        rows, row, row_end, rows, matrix_.first + first, depth, matrix.stride(),
        [&](std::int64_t s) { return rows_.strip(round, s); }, packed.data());
  }

  static constexpr int kSpinsBeforeYield = 2000;

  const Matrix<T> matrix_;
  const Elements<T> elements_;
  const Tiles<T> tiles_;
  const std::int64_t items_;  // of rows
  const int threads_;
  const std::int64_t block_;
  BlockRows<T> rows_;
  const std::int64_t chunk_;  // strips of a task
  const RowProduct<T> product_;
  const TaskOrder order_;
  TaskProgress progress_;
  Monitor& monitor_;
  std::atomic<bool> cycle_{false};
};

template <class T>
bool tiled(const Matrix<T>& matrix, const Options& options, Monitor& monitor) {
  return Tiled<T>(matrix, options, monitor).run();
}

template <class T>
ClosedPanel<T>::ClosedPanel(const Matrix<T>& panel, const Options& options, Monitor& monitor)
    : tiled_(std::make_unique<Tiled<T>>(panel, options, monitor, true)),
      found_cycle_(!tiled_->run()) {}

template <class T>
ClosedPanel<T>::~ClosedPanel() = default;

template <class T>
void ClosedPanel<T>::relax(const Matrix<T>& rows, int threads, Monitor& monitor) {
  tiled_->relax(rows, threads, monitor);
}

template bool tiled(const Matrix<float>&, const Options&, Monitor&);
template bool tiled(const Matrix<double>&, const Options&, Monitor&);
template bool tiled(const Matrix<std::int16_t>&, const Options&, Monitor&);
template bool tiled(const Matrix<std::int32_t>&, const Options&, Monitor&);
template bool tiled(const Matrix<std::int64_t>&, const Options&, Monitor&);
template bool tiled(const Matrix<std::uint64_t>&, const Options&, Monitor&);

template class ClosedPanel<float>;
template class ClosedPanel<double>;
template class ClosedPanel<std::int16_t>;
template class ClosedPanel<std::int32_t>;
template class ClosedPanel<std::int64_t>;
template class ClosedPanel<std::uint64_t>;

}  // namespace kleene::closure
