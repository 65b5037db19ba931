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
#include <algorithm>
#include <atomic>
#include <cmath>

#include "closure/block_rows.hpp"
#include "closure/closure.hpp"
#include "closure/task_order.hpp"
#include "closure/tile_kernel.hpp"
#include "parallel/buffer.hpp"
#include "parallel/team.hpp"

namespace kleene::closure {
namespace {

// ---- tuning -------------------------------------------------------------------------------------

// Rows of a block and of an item, both multiples of every tile's height. Of 24, 48, ... 192
// rows, 96 were best or near it for float32 at n = 512, 1024 and 2048 on one and two cores of a
// Xeon (Sapphire Rapids, AVX-512), with and without paths. On a Zen 4 core (AVX2 and AVX-512,
// float32) 96 to 240 are alike at n = 2048, 48 to 120 at n = 512; items of 24, 48 and 96 rows too.
constexpr std::int64_t kBlock = 96, kRows = 24;

// Items of a round for each thread, at least: more threads would only wait for the last ones. On
// sixteen Xeon cores (Sapphire Rapids, AVX-512, float32), n = 512 with its 22 items runs at 131 G
// relaxations a second on 8 threads and at 99 on 16; n = 2048 with 86 items at 258 and 434.
constexpr std::int64_t kItemsPerThread = 3;

// Columns of a chunk of strips: not measured; it takes about as long as an item of 512 columns.
constexpr std::int64_t kChunkColumns = 64;

// A part of the panel that serves the tiles of an item. Not measured where it should matter: it is
// half of Zen 3's second cache. On Zen 4 (1 MiB), 128 KiB to 4 MiB are alike at n = 2048.
constexpr std::int64_t kPartBytes = 256 << 10;

constexpr std::int64_t kTileEntries = 12 * 64;  // at most, in any kernel

// Whether no entry has a sign, not even a zero.
template <class T>
bool nonnegative(const Matrix<T>& matrix, int threads) {
  constexpr std::int64_t kGrain = 1 << 16;
  std::atomic<bool> found{false};
  Monitor uncounted;
  parallel_for(matrix.n * matrix.n, kGrain, threads, uncounted,
               [&](std::int64_t begin, std::int64_t end, int) {
                 bool sign = false;
                 for (std::int64_t i = begin; i < end; ++i) sign |= std::signbit(matrix.values[i]);
                 if (sign) found.store(true, std::memory_order_relaxed);
               });
  return !found.load(std::memory_order_relaxed);
}

// Only kernels with paths ask for signs.
template <class T>
KernelTraits traits(const Matrix<T>& matrix, const Options& options) {
  if constexpr (std::is_floating_point_v<T>) {
    return {options.zen, options.zen && options.semiring == Semiring::kMinPlus &&
                             matrix.predecessors != nullptr &&
                             nonnegative(matrix, options.threads)};
  }
  return {};
}

template <class T>
class Tiled {
 public:
  Tiled(const Matrix<T>& matrix, const Options& options, Monitor& monitor)
      : matrix_(matrix),
        elements_(elements_of<T>(options.semiring)),
        tiles_(tile_kernel<T>(options.semiring, options.level, traits(matrix, options)),
               matrix.predecessors != nullptr),
        items_((matrix.n + kRows - 1) / kRows),
        threads_(static_cast<int>(
            std::clamp<std::int64_t>(items_ / kItemsPerThread, 1, std::max(1, options.threads)))),
        block_(round_up(options.block > 0 ? options.block : kBlock, kRows)),
        rows_(matrix_, elements_, tiles_, block_),
        chunk_(std::max<std::int64_t>(1, kChunkColumns / tiles_.width)),
        part_(std::max<std::int64_t>(1, kPartBytes / (block_ * tiles_.width * kEntryBytes))),
        order_(items_, block_ / kRows, (rows_.strips() + chunk_ - 1) / chunk_, threads_),
        progress_(order_, items_),
        monitor_(monitor) {}

  // Closes the matrix; false at a cycle that is better than the empty path.
  bool run() {
    std::atomic<std::int64_t> next{0};
    run_team(threads_, monitor_, [&](Team::Worker& worker) {
      AlignedBuffer<T> packed(kRows * block_);
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
    if (task.kind == Task::kRows) update_rows(task.round, task.index * kRows, packed);
    return true;
  }

  // ---- step 2 ----------------------------------------------------------------------------------

  // Step 2 for an item: pack what its rows have of the column block, as it is now, then multiply it
  // by all strips of the panel.
  void update_rows(std::int64_t round, std::int64_t row, AlignedBuffer<T>& packed) {
    const std::int64_t row_end = std::min(row + kRows, matrix_.n), height = tiles_.height;
    const std::int64_t first = round * block_, depth = std::min(block_, matrix_.n - first);
    const std::int64_t groups = (row_end - row + height - 1) / height;
    for (std::int64_t group = 0; group < groups; ++group) {
      pack(row + group * height, row_end, first, depth, packed.data() + group * height * block_);
    }
    // Tile after tile along the rows, whose next lines the processor then fetches ahead by itself;
    // a part of the panel that stays in the second cache serves all groups.
    for (std::int64_t begin = 0; begin < rows_.strips(); begin += part_) {
      const std::int64_t end = std::min(begin + part_, rows_.strips());
      for (std::int64_t group = 0; group < groups; ++group) {
        const T* const a = packed.data() + group * height * block_;
        for (std::int64_t strip = begin; strip < end; ++strip) {
          update_tile(row + group * height, row_end, strip * tiles_.width, depth, a,
                      rows_.strip(round, strip));
        }
      }
    }
    monitor_.advance(static_cast<std::uint64_t>((row_end - row) * depth));
  }

  // Packs columns begin .. begin + depth - 1 of a tile's rows for the kernel. Rows past the end
  // repeat the last one; their results are dropped.
  void pack(std::int64_t row, std::int64_t row_end, std::int64_t begin, std::int64_t depth,
            T* packed) const {
    const std::int64_t height = tiles_.height;
    for (std::int64_t i = 0; i < height; ++i) {  // whole rows, as in BlockRows::load
      const T* const entries = matrix_.row(std::min(row + i, row_end - 1));
      for (std::int64_t k = 0; k < depth; ++k) {
        packed[k * height + i] = factor(entries[(begin + k) / kPacked<T>], begin + k);
      }
    }
  }

  using Entries = typename Tiles<T>::Entries;

  // One tile of the matrix; a tile across the edge is computed in a copy.
  void update_tile(std::int64_t row, std::int64_t row_end, std::int64_t column, std::int64_t depth,
                   const T* a, Entries b) const {
    const std::int64_t stride = matrix_.stride(), width = tiles_.width;
    const Entries c{matrix_.row(row) + column,
                    tiles_.paths ? matrix_.predecessor_row(row) + column : nullptr};
    if (row + tiles_.height <= row_end && column + width <= stride) {
      tiles_.multiply(depth, a, b, c, stride);
      return;
    }
    const std::int64_t rows = std::min(tiles_.height, row_end - row);
    const std::int64_t columns = std::min(width, stride - column);
    T values[kTileEntries];
    std::int32_t predecessors[kTileEntries];
    const Entries edge{values, tiles_.paths ? predecessors : nullptr};
    std::fill_n(values, tiles_.height * width, elements_.zero);
    if (tiles_.paths) std::fill_n(predecessors, tiles_.height * width, -1);
    const auto copy = [&](Entries from, std::int64_t from_stride, Entries to,
                          std::int64_t to_stride) {
      for (std::int64_t i = 0; i < rows; ++i) {
        std::copy_n(from.values + i * from_stride, columns, to.values + i * to_stride);
        if (!tiles_.paths) continue;
        std::copy_n(from.predecessors + i * from_stride, columns, to.predecessors + i * to_stride);
      }
    };
    copy(c, stride, edge, width);
    tiles_.multiply(depth, a, b, edge, width);
    copy(edge, width, c, stride);
  }

  static constexpr int kSpinsBeforeYield = 2000;
  static constexpr std::int64_t kEntryBytes = sizeof(T);

  const Matrix<T> matrix_;
  const Elements<T> elements_;
  const Tiles<T> tiles_;
  const std::int64_t items_;  // of rows
  const int threads_;
  const std::int64_t block_;
  BlockRows<T> rows_;
  const std::int64_t chunk_, part_;  // strips of a task, and of the panel's parts
  const TaskOrder order_;
  TaskProgress progress_;
  Monitor& monitor_;
  std::atomic<bool> cycle_{false};
};

}  // namespace

template <class T>
bool tiled(const Matrix<T>& matrix, const Options& options, Monitor& monitor) {
  return Tiled<T>(matrix, options, monitor).run();
}

template bool tiled(const Matrix<float>&, const Options&, Monitor&);
template bool tiled(const Matrix<double>&, const Options&, Monitor&);
template bool tiled(const Matrix<std::int16_t>&, const Options&, Monitor&);
template bool tiled(const Matrix<std::int32_t>&, const Options&, Monitor&);
template bool tiled(const Matrix<std::int64_t>&, const Options&, Monitor&);
template bool tiled(const Matrix<std::uint64_t>&, const Options&, Monitor&);

}  // namespace kleene::closure
