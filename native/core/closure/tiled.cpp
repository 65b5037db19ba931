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
// Two barriers a round: thread 0 finishes the rows of the next block first and closes their
// diagonal block while the other threads are still busy with the rest.
#include <algorithm>
#include <atomic>
#include <memory>

#include "closure/closure.hpp"
#include "closure/tile_kernel.hpp"
#include "parallel/buffer.hpp"
#include "parallel/team.hpp"

namespace kleene::closure {
namespace {

// Rows of a block and of a work item, both multiples of every tile's height. Of 24, 48, ... 192
// rows, 96 were best or near it for float32 at n = 512, 1024 and 2048 on one and two cores of a
// Xeon (Sapphire Rapids, AVX-512), with and without paths.
constexpr std::int64_t kBlock = 96, kRows = 24;

constexpr std::int64_t kTileRows = 12, kTileEntries = 12 * 64;  // at most, in any kernel

std::int64_t round_up(std::int64_t x, std::int64_t to) { return (x + to - 1) / to * to; }

// The entry that holds column k, as a factor: for booleans all ones or all zeros.
template <class T>
T factor(T entry, std::int64_t k) {
  if constexpr (kPacked<T> == 64) {
    return ~((entry >> (k % 64) & 1) - 1);
  } else {
    return entry;
  }
}

template <class T>
class Tiled {
 public:
  Tiled(const Matrix<T>& matrix, const Options& options, Monitor& monitor)
      : matrix_(matrix),
        elements_(elements_of<T>(options.semiring)),
        kernel_(tile_kernel<T>(options.semiring, options.level)),
        paths_(matrix.predecessors != nullptr),
        threads_(options.threads),
        height_(paths_ ? kernel_.path_rows : kernel_.rows),
        width_(paths_ ? kernel_.path_columns : kernel_.columns),
        block_(round_up(options.block > 0 ? options.block : kBlock, kRows)),
        strips_((matrix.stride() + width_ - 1) / width_),
        panel_(strips_ * block_ * width_),
        panel_predecessors_(paths_ ? panel_.size() : 0),
        multipliers_(block_ * block_),
        monitor_(monitor) {}

  bool run() {
    const std::int64_t rounds = (matrix_.n + block_ - 1) / block_;
    const auto handed_out = std::make_unique<std::atomic<std::int64_t>[]>(2 * rounds);
    run_team(threads_, monitor_, [&](Team::Worker& worker) {
      AlignedBuffer<T> packed(kRows * block_);
      if (worker.is_leader()) close_diagonal(0);
      worker.barrier();
      for (std::int64_t round = 0; round < rounds && !cycle_; ++round) {
        const std::int64_t begin = round * block_, end = std::min(begin + block_, matrix_.n);
        each(handed_out[2 * round], strips_, worker,
             [&](std::int64_t strip) { close_strip(strip, begin, end - begin); });
        worker.barrier();
        // Row items in order: below the block first, since the next block is there; then above.
        const std::int64_t below = (matrix_.n - end + kRows - 1) / kRows;
        const std::int64_t above = begin / kRows;
        const std::int64_t ahead = std::min(below, block_ / kRows);
        const auto item = [&](std::int64_t at) {
          const std::int64_t row = at < below ? end + at * kRows : (at - below) * kRows;
          const std::int64_t limit = at < below ? matrix_.n : begin;
          update_rows(row, std::min(row + kRows, limit), begin, end, packed);
        };
        if (worker.is_leader() && end < matrix_.n) {
          for (std::int64_t at = 0; at < ahead; ++at) item(at);
          close_diagonal(end);
        }
        each(handed_out[2 * round + 1], below + above - ahead, worker,
             [&](std::int64_t at) { item(ahead + at); });
        worker.barrier();
      }
    });
    return !cycle_;
  }

 private:
  // Hands out 0 .. count - 1 to whichever thread is free.
  template <class Body>
  void each(std::atomic<std::int64_t>& next, std::int64_t count, const Team::Worker& worker,
            Body&& body) {
    for (;;) {
      if (monitor_.cancelled()) throw Cancelled{};
      const std::int64_t at = next.fetch_add(1, std::memory_order_relaxed);
      if (at >= count) return;
      body(at);
      if (worker.is_leader()) monitor_.poll();
    }
  }

  void tile(std::int64_t depth, const T* a, const T* b, const std::int32_t* b_predecessors, T* c,
            std::int64_t stride, std::int32_t* predecessors,
            std::int64_t predecessor_stride) const {
    if (paths_) {
      kernel_.multiply_paths(depth, a, b, b_predecessors, c, stride, predecessors,
                             predecessor_stride);
    } else {
      kernel_.multiply(depth, a, b, c, stride);
    }
  }

  // ---- step 1 ----------------------------------------------------------------------------------
  // A strip is `width_` columns of the block's rows, row by row; groups are `height_` of its rows.

  struct Strip {
    T* values;
    std::int32_t* predecessors;
  };

  // The factors of a group's rows for vertex k, packed for the kernel.
  T* multiplier(std::int64_t group, std::int64_t k) {
    return multipliers_.data() + (group * block_ + k) * height_;
  }

  // Takes a group's rows through the vertices k .. k + depth - 1 of the block.
  void eliminate(Strip strip, std::int64_t group, std::int64_t k, std::int64_t depth) {
    const std::int64_t from = k * width_, to = group * height_ * width_;
    tile(depth, multiplier(group, k), strip.values + from,
         paths_ ? strip.predecessors + from : nullptr, strip.values + to, width_,
         paths_ ? strip.predecessors + to : nullptr, width_);
  }

  // Closes the diagonal block alone, in private memory, only to learn the multipliers: entry (i, k)
  // as it is when vertex k's turn comes. All strips then repeat this with them.
  void close_diagonal(std::int64_t begin) {
    const std::int64_t size = std::min(block_, matrix_.n - begin);
    if (size <= 0) return;
    const std::int64_t first = begin / kPacked<T>;
    const std::int64_t columns = (begin + size - 1) / kPacked<T> - first + 1;
    const std::int64_t strips = (columns + width_ - 1) / width_;
    const std::int64_t area = round_up(size, height_) * width_;
    AlignedBuffer<T> values(strips * area);
    AlignedBuffer<std::int32_t> predecessors(paths_ ? strips * area : 0);
    const auto strip = [&](std::int64_t s) {
      return Strip{values.data() + s * area, paths_ ? predecessors.data() + s * area : nullptr};
    };
    for (std::int64_t s = 0; s < strips; ++s) {
      load_strip(strip(s), begin, size, first + s * width_, first + columns);
    }
    const auto load_multiplier = [&](std::int64_t group, std::int64_t k) {
      const std::int64_t column = (begin % kPacked<T> + k) / kPacked<T>;
      const T* entry = strip(column / width_).values + group * height_ * width_ + column % width_;
      for (std::int64_t i = 0; i < height_; ++i, entry += width_) {
        multiplier(group, k)[i] = factor(*entry, begin + k);
      }
    };
    for (std::int64_t q = 0; q * height_ < size; ++q) {
      const std::int64_t from = q * height_, to = std::min(from + height_, size);
      for (std::int64_t k = from; k < to; ++k) {
        load_multiplier(q, k);
        T& own = multiplier(q, k)[k - from];
        if (elements_.better(own, elements_.one)) {
          cycle_ = true;
          return;
        }
        own = elements_.one;
        for (std::int64_t s = 0; s < strips; ++s) eliminate(strip(s), q, k, 1);
      }
      for (std::int64_t group = 0; group * height_ < size; ++group) {
        if (group == q) continue;
        for (std::int64_t k = from; k < to; ++k) load_multiplier(group, k);
        for (std::int64_t s = 0; s < strips; ++s) eliminate(strip(s), group, from, to - from);
      }
    }
  }

  // Closes one strip of the block's rows, in the packed panel, and writes it back.
  void close_strip(std::int64_t at, std::int64_t begin, std::int64_t size) {
    const std::int64_t offset = at * block_ * width_, column = at * width_;
    const std::int64_t columns = std::min(width_, matrix_.stride() - column);
    const Strip strip{panel_.data() + offset,
                      paths_ ? panel_predecessors_.data() + offset : nullptr};
    load_strip(strip, begin, size, column, matrix_.stride());
    for (std::int64_t q = 0; q * height_ < size; ++q) {
      const std::int64_t from = q * height_, to = std::min(from + height_, size);
      for (std::int64_t k = from; k < to; ++k) eliminate(strip, q, k, 1);
      for (std::int64_t group = 0; group * height_ < size; ++group) {
        if (group != q) eliminate(strip, group, from, to - from);
      }
    }
    for (std::int64_t i = 0; i < size; ++i) {
      const std::int64_t diagonal = begin + i - column;
      if (kPacked<T> == 1 && diagonal >= 0 && diagonal < columns) {  // in spite of rounding
        strip.values[i * width_ + diagonal] = elements_.one;
        if (paths_) strip.predecessors[i * width_ + diagonal] = -1;
      }
      std::copy_n(strip.values + i * width_, columns, matrix_.row(begin + i) + column);
      if (!paths_) continue;
      std::copy_n(strip.predecessors + i * width_, columns,
                  matrix_.predecessor_row(begin + i) + column);
    }
  }

  // Reads `size` rows from `begin`; what sticks out of them, or out of the columns, is "no path".
  void load_strip(Strip strip, std::int64_t begin, std::int64_t size, std::int64_t column,
                  std::int64_t column_end) const {
    const std::int64_t rows = round_up(size, height_);
    const std::int64_t columns = std::min(width_, column_end - column);
    std::fill_n(strip.values, rows * width_, elements_.zero);
    if (paths_) std::fill_n(strip.predecessors, rows * width_, -1);
    for (std::int64_t i = 0; i < size; ++i) {
      std::copy_n(matrix_.row(begin + i) + column, columns, strip.values + i * width_);
      if (!paths_) continue;
      std::copy_n(matrix_.predecessor_row(begin + i) + column, columns,
                  strip.predecessors + i * width_);
    }
  }

  // ---- step 2 ----------------------------------------------------------------------------------

  // Step 2 for the rows from `row` to `row_end`: pack what they have of the column block, as it is
  // now, then multiply it by all strips of the panel.
  void update_rows(std::int64_t row, std::int64_t row_end, std::int64_t begin, std::int64_t end,
                   AlignedBuffer<T>& packed) {
    const std::int64_t depth = end - begin, groups = (row_end - row + height_ - 1) / height_;
    for (std::int64_t group = 0; group < groups; ++group) {
      const std::int64_t first = row + group * height_;
      pack(first, row_end, begin, depth, packed.data() + group * height_ * block_);
    }
    for (std::int64_t strip = 0; strip < strips_; ++strip) {
      const T* const b = panel_.data() + strip * block_ * width_;
      const std::int32_t* const b_predecessors =
          paths_ ? panel_predecessors_.data() + strip * block_ * width_ : nullptr;
      for (std::int64_t group = 0; group < groups; ++group) {
        const T* const a = packed.data() + group * height_ * block_;
        update_tile(row + group * height_, row_end, strip * width_, depth, a, b, b_predecessors);
      }
    }
    monitor_.advance(static_cast<std::uint64_t>((row_end - row) * depth));
  }

  // Packs columns begin .. begin + depth - 1 of a tile's rows for the kernel. Rows past the end
  // repeat the last one; their results are dropped.
  void pack(std::int64_t row, std::int64_t row_end, std::int64_t begin, std::int64_t depth,
            T* packed) const {
    const T* rows[kTileRows];
    for (std::int64_t i = 0; i < height_; ++i)
      rows[i] = matrix_.row(std::min(row + i, row_end - 1));
    T entries[kTileRows];
    for (std::int64_t k = begin; k < begin + depth; ++k, packed += height_) {
      if (k == begin || k % kPacked<T> == 0) {
        for (std::int64_t i = 0; i < height_; ++i) entries[i] = rows[i][k / kPacked<T>];
      }
      for (std::int64_t i = 0; i < height_; ++i) packed[i] = factor(entries[i], k);
    }
  }

  // One tile of the matrix; a tile across the edge is computed in a copy.
  void update_tile(std::int64_t row, std::int64_t row_end, std::int64_t column, std::int64_t depth,
                   const T* a, const T* b, const std::int32_t* b_predecessors) const {
    const std::int64_t stride = matrix_.stride();
    T* const c = matrix_.row(row) + column;
    std::int32_t* const predecessors = paths_ ? matrix_.predecessor_row(row) + column : nullptr;
    if (row + height_ <= row_end && column + width_ <= stride) {
      tile(depth, a, b, b_predecessors, c, stride, predecessors, stride);
      return;
    }
    const std::int64_t rows = std::min(height_, row_end - row);
    const std::int64_t columns = std::min(width_, stride - column);
    T edge[kTileEntries];
    std::int32_t edge_predecessors[kTileEntries];
    std::fill_n(edge, height_ * width_, elements_.zero);
    if (paths_) std::fill_n(edge_predecessors, height_ * width_, -1);
    for (std::int64_t i = 0; i < rows; ++i) {
      std::copy_n(c + i * stride, columns, edge + i * width_);
      if (paths_) std::copy_n(predecessors + i * stride, columns, edge_predecessors + i * width_);
    }
    tile(depth, a, b, b_predecessors, edge, width_, edge_predecessors, width_);
    for (std::int64_t i = 0; i < rows; ++i) {
      std::copy_n(edge + i * width_, columns, c + i * stride);
      if (paths_) std::copy_n(edge_predecessors + i * width_, columns, predecessors + i * stride);
    }
  }

  const Matrix<T> matrix_;
  const Elements<T> elements_;
  const TileKernel<T> kernel_;
  const bool paths_;
  const int threads_;
  const std::int64_t height_, width_;  // of a tile
  const std::int64_t block_;
  const std::int64_t strips_;  // of `width_` columns
  AlignedBuffer<T> panel_;     // the rows of the block, strip by strip, each strip row by row
  AlignedBuffer<std::int32_t> panel_predecessors_;
  AlignedBuffer<T> multipliers_;
  Monitor& monitor_;
  bool cycle_ = false;  // written by thread 0 between barriers
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
