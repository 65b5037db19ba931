// Products of rows by a panel: step 2 of the tiled method, and all of a product of two matrices.
//
// The right factor lies in a panel: strips of `width` columns, each row by row, whatever sticks out
// filled with "no path". The left factor is packed for some rows at a time. See tile_kernel.hpp.
#pragma once

#include <algorithm>
#include <atomic>
#include <cmath>
#include <cstdint>
#include <cstring>

#include "closure/closure.hpp"
#include "closure/tile_kernel.hpp"
#include "parallel/team.hpp"

namespace kleene::closure {

inline std::int64_t round_up(std::int64_t x, std::int64_t to) { return (x + to - 1) / to * to; }

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
struct Entries {
  T* values;
  std::int32_t* predecessors;  // null without paths

  Entries at(std::int64_t offset) const {
    return {values + offset, predecessors == nullptr ? nullptr : predecessors + offset};
  }
};

// A kernel, with or without predecessors.
template <class T>
class Tiles {
 public:
  Tiles(const TileKernel<T>& kernel, bool paths)
      : height(paths ? kernel.path_rows : kernel.rows),
        width(paths ? kernel.path_columns : kernel.columns),
        paths(paths),
        kernel_(kernel) {}

  // c becomes the best of itself and a times b; see tile_kernel.hpp.
  void multiply(std::int64_t depth, const T* a, Entries<T> b, Entries<T> c,
                std::int64_t stride) const {
    if (paths) {
      kernel_.multiply_paths(depth, a, b.values, b.predecessors, c.values, c.predecessors, stride);
    } else {
      kernel_.multiply(depth, a, b.values, c.values, stride);
    }
  }

  void close(std::int64_t depth, const T* a, Entries<T> c) const {
    if (paths) {
      kernel_.close_paths(depth, a, c.values, c.predecessors);
    } else {
      kernel_.close(depth, a, c.values);
    }
  }

  const std::int64_t height, width;
  const bool paths;

 private:
  const TileKernel<T> kernel_;
};

// Rows of a matrix, `stride` entries apart.
template <class T>
struct RowsOf {
  Entries<T> entries;
  std::int64_t stride;

  Entries<T> row(std::int64_t i) const { return entries.at(i * stride); }
};

template <class T>
RowsOf<T> rows_of(const Matrix<T>& matrix) {
  return {{matrix.values, matrix.predecessors}, matrix.stride()};
}

// Whether no entry has a sign, not even a zero.
template <class T>
bool nonnegative(const T* values, std::int64_t count, int threads) {
  constexpr std::int64_t kGrain = 1 << 16;
  std::atomic<bool> found{false};
  Monitor uncounted;
  parallel_for(count, kGrain, threads, uncounted, [&](std::int64_t begin, std::int64_t end, int) {
    bool sign = false;
    for (std::int64_t i = begin; i < end; ++i) sign |= std::signbit(values[i]);
    if (sign) found.store(true, std::memory_order_relaxed);
  });
  return !found.load(std::memory_order_relaxed);
}

// Copies a row of a strip; the usual lengths without a call.
template <class U>
void copy_strip_row(const U* from, U* to, std::int64_t columns) {
  switch (columns * static_cast<std::int64_t>(sizeof(U))) {
    case 16:
      std::memcpy(to, from, 16);
      return;
    case 32:
      std::memcpy(to, from, 32);
      return;
    case 64:
      std::memcpy(to, from, 64);
      return;
    case 128:
      std::memcpy(to, from, 128);
      return;
    default:
      std::copy_n(from, columns, to);
  }
}

// Reads columns begin .. end - 1 of `size` rows into strips that are `area` entries apart, a whole
// row at a time: one column of a large matrix may fill a set of the cache. Strips have a number of
// rows that the tiles' height divides; what sticks out of the rows, or of the columns, is "no
// path".
template <class T>
void load_strips(const RowsOf<T>& from, std::int64_t size, std::int64_t begin, std::int64_t end,
                 const Tiles<T>& tiles, T zero, Entries<T> strips, std::int64_t area) {
  const std::int64_t rows = round_up(size, tiles.height), width = tiles.width;
  for (std::int64_t i = 0; i < rows; ++i) {
    for (std::int64_t column = begin, s = 0; column < end; column += width, ++s) {
      const Entries<T> to = strips.at(s * area + i * width);
      const std::int64_t columns = i < size ? std::min(width, end - column) : 0;
      if (columns < width) {
        std::fill_n(to.values, width, zero);
        if (tiles.paths) std::fill_n(to.predecessors, width, -1);
      }
      if (columns == 0) continue;
      const Entries<T> row = from.row(i).at(column);
      copy_strip_row(row.values, to.values, columns);
      if (row.predecessors != nullptr) {
        copy_strip_row(row.predecessors, to.predecessors, columns);
      }
    }
  }
}

// Multiplies rows by a panel of at most `block` rows.
template <class T>
class RowProduct {
 public:
  RowProduct(const Tiles<T>& tiles, T zero, std::int64_t block)
      : tiles_(tiles),
        zero_(zero),
        block_(block),
        part_(std::max<std::int64_t>(1, kPartBytes / (block * tiles.width * kEntryBytes))) {}

  // Entries for the packed left factor of so many rows.
  std::int64_t packed_size(std::int64_t rows) const {
    return round_up(rows, tiles_.height) * block_;
  }

  // Rows begin .. end - 1 of `to` become the best of themselves and left times right, where `left`
  // has their columns first .. first + depth - 1, and strip(s) is a strip of the right factor.
  // Packs before it writes: `left` may be `to`.
  template <class Strip>
  void update(const RowsOf<T>& to, std::int64_t begin, std::int64_t end, const RowsOf<T>& left,
              std::int64_t first, std::int64_t depth, std::int64_t columns, Strip&& strip,
              T* packed) const {
    const std::int64_t height = tiles_.height, strips = (columns + tiles_.width - 1) / tiles_.width;
    const std::int64_t groups = (end - begin + height - 1) / height;
    for (std::int64_t group = 0; group < groups; ++group) {
      pack(left, begin + group * height, end, first, depth, packed + group * height * block_);
    }
    // Tile after tile along the rows, whose next lines the processor then fetches ahead by itself;
    // a part of the panel that stays in the second cache serves all groups.
    for (std::int64_t part = 0; part < strips; part += part_) {
      const std::int64_t part_end = std::min(part + part_, strips);
      // untestable (< to <=): a tile more, of no rows
      for (std::int64_t group = 0; group < groups; ++group) {
        for (std::int64_t s = part; s < part_end; ++s) {
          update_tile(to, begin + group * height, end, s * tiles_.width, columns, depth,
                      packed + group * height * block_, strip(s));
        }
      }
    }
  }

 private:
  // A part of the panel that serves the tiles of an item. Not measured where it should matter: it
  // is half of Zen 3's second cache. On Zen 4 (1 MiB), 128 KiB to 4 MiB are alike at n = 2048.
  static constexpr std::int64_t kPartBytes = 256 << 10;
  static constexpr std::int64_t kEntryBytes = sizeof(T);
  static constexpr std::int64_t kTileEntries = 12 * 64;  // at most, in any kernel

  // Packs columns first .. first + depth - 1 of a tile's rows for the kernel. Rows past the end
  // repeat the last one; their results are dropped.
  void pack(const RowsOf<T>& left, std::int64_t row, std::int64_t row_end, std::int64_t first,
            std::int64_t depth, T* packed) const {
    const std::int64_t height = tiles_.height;
    for (std::int64_t i = 0; i < height; ++i) {  // whole rows, as in load_strips
      const T* const entries = left.row(std::min(row + i, row_end - 1)).values;
      for (std::int64_t k = 0; k < depth; ++k) {
        packed[k * height + i] = factor(entries[(first + k) / kPacked<T>], first + k);
      }
    }
  }

  // One tile of the matrix; a tile across the edge is computed in a copy.
  void update_tile(const RowsOf<T>& to, std::int64_t row, std::int64_t row_end, std::int64_t column,
                   std::int64_t column_end, std::int64_t depth, const T* a, Entries<T> b) const {
    const std::int64_t width = tiles_.width;
    const Entries<T> c = to.row(row).at(column);
    // untestable (<= to <): a tile that just fits is computed in a copy
    if (row + tiles_.height <= row_end && column + width <= column_end) {
      tiles_.multiply(depth, a, b, c, to.stride);
      return;
    }
    const std::int64_t rows = std::min(tiles_.height, row_end - row);
    const std::int64_t columns = std::min(width, column_end - column);
    T values[kTileEntries];
    std::int32_t predecessors[kTileEntries];
    const Entries<T> edge{values, tiles_.paths ? predecessors : nullptr};
    std::fill_n(values, tiles_.height * width, zero_);
    // untestable: entries across the edge are dropped
    if (tiles_.paths) std::fill_n(predecessors, tiles_.height * width, -1);
    const auto copy = [&](Entries<T> from, std::int64_t from_stride, Entries<T> into,
                          std::int64_t into_stride) {
      for (std::int64_t i = 0; i < rows; ++i) {
        std::copy_n(from.values + i * from_stride, columns, into.values + i * into_stride);
        if (!tiles_.paths) continue;
        std::copy_n(from.predecessors + i * from_stride, columns,
                    into.predecessors + i * into_stride);
      }
    };
    copy(c, to.stride, edge, width);
    tiles_.multiply(depth, a, b, edge, width);
    copy(edge, width, c, to.stride);
  }

  const Tiles<T>& tiles_;
  const T zero_;
  const std::int64_t block_, part_;
};

}  // namespace kleene::closure
