// Step 1 of the tiled method: closes the rows of one block among themselves, in a packed panel.
//
// The scheme of the whole repeats here with groups of a tile's height: a group closes its own rows
// in registers, one vertex at a time, then all other groups take the product. The multipliers,
// entry (i, k) as it is when vertex k's turn comes, depend on the diagonal block alone. So that is
// closed first, in private memory, only to learn them; then every strip of columns can be closed by
// itself, on any thread.
//
// A strip is `width` columns of the block's rows, row by row; groups are `height` of its rows.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "closure/closure.hpp"
#include "closure/row_product.hpp"
#include "parallel/buffer.hpp"

namespace kleene::closure {

template <class T>
class BlockRows {
 public:
  using Entries = closure::Entries<T>;

  BlockRows(const Matrix<T>& matrix, Elements<T> elements, const Tiles<T>& tiles,
            std::int64_t block, std::int64_t panels)
      : matrix_(matrix),
        elements_(elements),
        tiles_(tiles),
        height_(tiles.height),
        width_(tiles.width),
        block_(block),
        panels_(static_cast<std::size_t>(panels)),
        multipliers_(block * block) {
    for (auto& panel : panels_) panel = Panel(strips() * block * width_, tiles.paths);
  }

  std::int64_t strips() const { return (matrix_.stride() + width_ - 1) / width_; }

  // A strip of a closed block. The panels of some rounds live side by side.
  Entries strip(std::int64_t round, std::int64_t at) {
    return panels_[static_cast<std::size_t>(round) % panels_.size()].entries().at(at * block_ *
                                                                                  width_);
  }

  // Learns the multipliers; false at a cycle that is better than the empty path.
  bool close_diagonal(std::int64_t round) {
    const std::int64_t begin = round * block_, size = std::min(block_, matrix_.rows - begin);
    const std::int64_t vertex = matrix_.first + begin, first = vertex / kPacked<T>;
    const std::int64_t columns = (vertex + size - 1) / kPacked<T> - first + 1;
    const std::int64_t strips = (columns + width_ - 1) / width_;
    const std::int64_t area = round_up(size, height_) * width_;
    Panel copy(strips * area, tiles_.paths);
    const auto strip = [&](std::int64_t s) { return copy.entries().at(s * area); };
    const auto strip_of = [&](std::int64_t k) {
      return (vertex % kPacked<T> + k) / kPacked<T> / width_;
    };
    load(copy.entries(), area, begin, size, first, first + columns);
    const auto load_multiplier = [&](std::int64_t group, std::int64_t k) {
      const std::int64_t column = (vertex % kPacked<T> + k) / kPacked<T>;
      const T* entry = strip(strip_of(k)).values + group * height_ * width_ + column % width_;
      for (std::int64_t i = 0; i < height_; ++i, entry += width_) {
        multiplier(group, k)[i] = factor(*entry, vertex + k);
      }
    };
    // untestable (< to <=): a group more, of no vertices
    for (std::int64_t q = 0; q * height_ < size; ++q) {
      const std::int64_t from = q * height_, to = std::min(from + height_, size);
      const std::int64_t own_begin = strip_of(from), own_end = strip_of(to - 1) + 1;
      for (std::int64_t k = from; k < to; ++k) {
        load_multiplier(q, k);
        T& own = multiplier(q, k)[k - from];
        if (elements_.better(own, elements_.one)) return false;
        own = elements_.one;
        for (std::int64_t s = own_begin; s < own_end; ++s) eliminate(strip(s), q, k, 1);
      }
      for (std::int64_t s = 0; s < strips; ++s) {
        if (s < own_begin || s >= own_end) close_group(strip(s), q, to - from);
      }
      for (std::int64_t group = 0; group * height_ < size; ++group) {
        if (group == q) continue;
        for (std::int64_t k = from; k < to; ++k) load_multiplier(group, k);
        for (std::int64_t s = 0; s < strips; ++s) eliminate(strip(s), group, from, to - from);
      }
    }
    return true;
  }

  // Closes strips begin .. end - 1 of the block's rows, in the panel, and writes them back.
  void close_strips(std::int64_t round, std::int64_t begin, std::int64_t end) {
    const std::int64_t first = round * block_, size = std::min(block_, matrix_.rows - first);
    load(strip(round, begin), block_ * width_, first, size, begin * width_,
         std::min(end * width_, matrix_.stride()));
    for (std::int64_t s = begin; s < end; ++s) {
      const Entries entries = strip(round, s);
      // untestable (< to <=): a group more, of no vertices
      for (std::int64_t q = 0; q * height_ < size; ++q) {
        const std::int64_t from = q * height_, to = std::min(from + height_, size);
        close_group(entries, q, to - from);
        for (std::int64_t group = 0; group * height_ < size; ++group) {
          if (group != q) eliminate(entries, group, from, to - from);
        }
      }
      if constexpr (kPacked<T> == 1) {
        reset_diagonal(entries, matrix_.first + first, size, s * width_);
      }
    }
    for (std::int64_t i = 0; i < size; ++i) {
      for (std::int64_t s = begin; s < end; ++s) {
        const Entries row = strip(round, s).at(i * width_);
        const std::int64_t column = s * width_;
        const std::int64_t columns = std::min(width_, matrix_.stride() - column);
        copy_strip_row(row.values, matrix_.row(first + i) + column, columns);
        if (!tiles_.paths) continue;
        copy_strip_row(row.predecessors, matrix_.predecessor_row(first + i) + column, columns);
      }
    }
  }

 private:
  struct Panel {
    AlignedBuffer<T> values;
    AlignedBuffer<std::int32_t> predecessors;
    bool paths = false;

    Panel() = default;
    Panel(std::int64_t size, bool paths)
        : values(size), predecessors(paths ? size : 0), paths(paths) {}
    Entries entries() { return {values.data(), paths ? predecessors.data() : nullptr}; }
  };

  // The factors of a group's rows for vertex k, packed for the kernel.
  T* multiplier(std::int64_t group, std::int64_t k) {
    return multipliers_.data() + (group * block_ + k) * height_;
  }

  // Takes a group's rows through the vertices k .. k + depth - 1 of the block.
  void eliminate(Entries strip, std::int64_t group, std::int64_t k, std::int64_t depth) {
    tiles_.multiply(depth, multiplier(group, k), strip.at(k * width_),
                    strip.at(group * height_ * width_), width_);
  }

  // Takes a group's rows through its own vertices, of which there are `depth`.
  void close_group(Entries strip, std::int64_t group, std::int64_t depth) {
    tiles_.close(depth, multiplier(group, group * height_), strip.at(group * height_ * width_));
  }

  // Empty paths on the diagonal, in spite of rounding; `first` is the block's first vertex.
  void reset_diagonal(Entries strip, std::int64_t first, std::int64_t size,
                      std::int64_t column) const {
    for (std::int64_t j = std::max(first, column); j < std::min(first + size, column + width_);
         ++j) {
      const Entries own = strip.at((j - first) * width_ + j - column);
      *own.values = elements_.one;
      if (tiles_.paths) *own.predecessors = -1;
    }
  }

  // Reads columns begin .. end - 1 of `size` rows from `first` on.
  void load(Entries strips, std::int64_t area, std::int64_t first, std::int64_t size,
            std::int64_t begin, std::int64_t end) const {
    const RowsOf<T> rows = rows_of(matrix_);
    load_strips({rows.row(first), rows.stride}, size, begin, end, tiles_, elements_.zero, strips,
                area);
  }

  const Matrix<T> matrix_;
  const Elements<T> elements_;
  const Tiles<T>& tiles_;
  const std::int64_t height_, width_, block_;
  std::vector<Panel> panels_;  // the rows of a block, strip by strip, each strip row by row
  AlignedBuffer<T> multipliers_;
};

}  // namespace kleene::closure
