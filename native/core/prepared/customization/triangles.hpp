// The order in which triangles are relaxed, supernode by supernode: what customization and the
// search for middles share.
//
// A supernode takes triangles from its sources, the supernodes below, and then from its own
// vertices. Both are products of panels: with the panel of the source, a row u of the supernode
// becomes better by a[v][u] times b[v][w] over the source's vertices v. Where the upward neighbors
// of the source follow one another in the supernode too, the product goes straight to the pairs;
// elsewhere it is made in a copy of them. Most sources are single vertices with two or three
// neighbors, and are relaxed one triangle at a time.
//
// Threads share subtrees first, as they become free. Then all work on one supernode after the other
// of those above: on its rows while it takes from its sources, and by its columns on its own
// triangles, block of rows by block of rows.
#pragma once

#include <algorithm>
#include <limits>
#include <memory>
#include <type_traits>
#include <utility>
#include <vector>

#include "parallel/buffer.hpp"
#include "parallel/team.hpp"
#include "prepared/algebra.hpp"
#include "prepared/customization/customize.hpp"
#include "prepared/customization/front_kernel.hpp"
#include "prepared/customization/supernodes.hpp"

namespace kleene::prepared {

// ---- panels -------------------------------------------------------------------------------------
//
// Relaxes the triangles over the vertices of a panel (front_kernel.hpp): what one supernode offers
// to rows of another, or to later rows of its own.

// A way through the vertices v below: a is the way to v, b the way on.
template <class Value>
struct Direction {
  const Value* a;
  const Value* b;
  Value* c;               // what triangles are offered to
  std::int32_t* middles;  // null while values are made
};

// Consecutive rows of a panel.
struct Panel {
  std::int32_t first;     // the vertex of the first row
  std::int64_t vertices;  // rows
  std::int64_t origin;    // where the first row has column 0
  std::int64_t stride;    // from one column to the same in the second row
};

// With kMiddles, values are final, and the middles that they came over are found.
template <class Algebra, bool kMiddles>
class PanelRelaxation {
 public:
  using Value = typename Algebra::Value;
  using Way = Direction<Value>;

  static constexpr std::int64_t kChunk = 128;  // columns that are relaxed in one go

  PanelRelaxation(std::vector<Way> ways, int level)
      : kernel_(front_kernel<Value>(Algebra::kSemiring,
                                    std::is_same_v<Algebra, MinPlus<Value, true>>, level)),
        ways_(std::move(ways)) {}

  void fetch(std::int64_t pair) const {
    for (const Way& way : ways_) __builtin_prefetch(way.b + pair);
  }

  // Offers column i times columns j .. j_end - 1 to the pairs to + column_of(j), one by one.
  template <class ColumnOf>
  void relax_singly(const Panel& from, std::int64_t i, std::int64_t j, std::int64_t j_end,
                    std::int64_t to, ColumnOf&& column_of) const {
    for (const Way& way : ways_) {
      std::int64_t row = from.origin, stride = from.stride;
      for (std::int64_t k = 0; k < from.vertices; ++k, row += stride--) {
        const Value left = way.a[row + i];
        for (std::int64_t h = j; h < j_end; ++h) {
          const std::int64_t at = to + column_of(h);
          const Value offered = Algebra::times(left, way.b[row + h]);
          if constexpr (kMiddles) {
            if (offered != way.c[at]) continue;
            way.middles[at] = std::min(way.middles[at], static_cast<std::int32_t>(from.first + k));
          } else {
            const Value held = way.c[at];  // stored without a branch: half of the offers are better
            way.c[at] = Algebra::better(offered, held) ? offered : held;
          }
        }
      }
    }
  }

  // Offers columns i .. i + rows - 1 times columns j .. j + count - 1 to rows of adjacent pairs
  // that begin at these places.
  void relax_adjacent(const Panel& from, std::int64_t i, std::int64_t j, const std::int64_t* to,
                      int rows, std::int64_t count) const {
    for (const Way& way : ways_) {
      Value* values[kTileRows];
      std::int32_t* middles[kTileRows];
      for (int k = 0; k < rows; ++k) {
        values[k] = way.c + to[k];
        middles[k] = kMiddles ? way.middles + to[k] : nullptr;
      }
      relax(way, from, i, j, values, middles, rows, count);
    }
  }

  // The same to the pairs to[k] + column_of(h), k below rows and h below count, in a copy of them;
  // with kUpper, to those with k below h alone. At most kTileRows by kChunk.
  template <bool kUpper, class ColumnOf>
  void relax_copy(const Panel& from, std::int64_t i, std::int64_t j, const std::int64_t* to,
                  int rows, std::int64_t count, ColumnOf&& column_of) const {
    Value values[kTileRows][kChunk];
    std::int32_t middles[kTileRows][kMiddles ? kChunk : 1];
    Value* value_rows[kTileRows];
    std::int32_t* middle_rows[kTileRows];
    const auto for_each = [&](auto&& body) {
      for (int k = 0; k < rows; ++k) {
        for (std::int64_t h = kUpper ? k + 1 : 0; h < count; ++h) {
          body(to[k] + column_of(h), values[k][h], middles[k][kMiddles ? h : 0]);
        }
      }
    };
    for (int k = 0; k < rows; ++k) {
      value_rows[k] = values[k];
      middle_rows[k] = middles[k];
      if constexpr (!kUpper) continue;
      std::fill_n(values[k], k + 1, Algebra::zero());
      if constexpr (kMiddles) std::fill_n(middles[k], k + 1, 0);
    }
    for (const Way& way : ways_) {
      for_each([&](std::int64_t at, Value& value, [[maybe_unused]] std::int32_t& middle) {
        value = way.c[at];
        if constexpr (kMiddles) middle = way.middles[at];
      });
      relax(way, from, i, j, value_rows, middle_rows, rows, count);
      for_each(
          [&](std::int64_t at, [[maybe_unused]] Value value, [[maybe_unused]] std::int32_t middle) {
            if constexpr (kMiddles) {
              way.middles[at] = middle;
            } else {
              way.c[at] = value;
            }
          });
    }
  }

 private:
  void relax(const Way& way, const Panel& from, std::int64_t i, std::int64_t j,
             Value* const* values, [[maybe_unused]] std::int32_t* const* middles, int rows,
             std::int64_t count) const {
    const Value* const a = way.a + from.origin + i;
    const Value* const b = way.b + from.origin + j;
    if constexpr (kMiddles) {
      kernel_.find(from.vertices, from.first, a, b, from.stride, values, middles, rows, count);
    } else {
      kernel_.multiply(from.vertices, a, b, from.stride, values, rows, count);
    }
  }

  const FrontKernel<Value> kernel_;
  const std::vector<Way> ways_;
};

// ---- triangles ----------------------------------------------------------------------------------

template <class Algebra, bool kMiddles>
class TriangleRelaxation {
 public:
  TriangleRelaxation(const Elimination& elimination, const Supernodes& supernodes,
                     std::vector<Direction<typename Algebra::Value>> ways, int level)
      : elimination_(elimination), supernodes_(supernodes), panels_(std::move(ways), level) {}

  // monitor.advance counts pairs.
  void run(int threads, Monitor& monitor) const {
    const Shares shares = share_supernodes(supernodes_, threads);
    parallel::run_team(threads, monitor, [&](parallel::Team::Worker& worker) {
      Local local(elimination_.n);
      parallel::CancelCheck check(monitor, worker.thread());
      worker.loop(static_cast<std::int64_t>(shares.subtrees.size()), 1,
                  [&](std::int64_t first, std::int64_t last) {
                    for (std::int64_t i = first; i < last; ++i) {
                      alone(local, shares.subtrees[i], check, monitor);
                    }
                  });
      for (const std::int64_t s : shares.above) {
        if (supernodes_.work[s + 1] - supernodes_.work[s] < kSharedWork) {
          if (worker.is_leader()) alone(local, {s, s + 1}, check, monitor);
          continue;
        }
        worker.barrier();
        check();
        together(worker, local, s);
        if (worker.is_leader()) monitor.advance(pairs({s, s + 1}));
      }
    });
  }

 private:
  // Triangles of a source that are relaxed singly. Of 4, 8, 16 and 32, the last two were best by 5
  // % on the world's highways (a loaded Zen 4 core).
  static constexpr std::int64_t kFewTriangles = 16;
  // Not measured one by one.
  static constexpr std::ptrdiff_t kAhead = 6;           // sources that are fetched ahead
  static constexpr std::int64_t kBlockRows = 32;        // that take from their supernode at once
  static constexpr std::int64_t kSharedRows = 8;        // that a thread takes
  static constexpr std::int64_t kSharedWork = 1 << 13;  // triangles of a supernode worth sharing
  static constexpr std::int64_t kPollEvery = 64;        // supernodes
  static constexpr std::int64_t kChunk = PanelRelaxation<Algebra, kMiddles>::kChunk;

  struct Local {
    explicit Local(std::int64_t n) : columns(n) {}
    parallel::Buffer<std::int32_t> columns;  // of the supernode's upward neighbors, by rank
    std::int64_t supernode = -1;             // that they are of
  };

  // One thread on supernodes that follow one another.
  void alone(Local& local, const Shares::Range& range, parallel::CancelCheck& check,
             Monitor& monitor) const {
    for (std::int64_t begin = range.begin; begin < range.end; begin += kPollEvery) {
      const std::int64_t end = std::min(begin + kPollEvery, range.end);
      check();
      for (std::int64_t s = begin; s < end; ++s) {
        const std::int64_t rows = vertices(s);
        take_from_sources(local, s, 0, rows);
        if (rows == 1) continue;
        for (std::int64_t row = 0; row < rows; row += kBlockRows) {
          take_from_own(s, row, std::min(row + kBlockRows, rows));
        }
      }
      monitor.advance(pairs({begin, end}));
    }
  }

  // ---- where things are ------------------------------------------------------------------------

  std::int64_t vertices(std::int64_t s) const {
    return supernodes_.starts[s + 1] - supernodes_.starts[s];
  }

  // The vertices of a supernode and its upward neighbors are the columns of its panel.
  std::int64_t columns(std::int64_t s) const { return row_size(supernodes_.starts[s]) + 1; }

  std::int64_t row_size(std::int64_t v) const {
    return elimination_.offsets[v + 1] - elimination_.offsets[v];
  }

  // The first pair of a row.
  std::int64_t place(std::int64_t s, std::int64_t row) const {
    return elimination_.offsets[supernodes_.starts[s] + row];
  }

  // Where the pair of a row with column 0 would be: row i has the columns from i + 1 on.
  std::int64_t origin(std::int64_t s, std::int64_t row) const { return place(s, row) - row - 1; }

  std::uint64_t pairs(const Shares::Range& range) const {
    return static_cast<std::uint64_t>(place(range.end, 0) - place(range.begin, 0));
  }

  void find_columns(Local& local, std::int64_t s) const {
    if (local.supernode == s) return;
    local.supernode = s;
    const std::int32_t start = supernodes_.starts[s];
    const std::int32_t* const heads = elimination_.heads + elimination_.offsets[start];
    local.columns[start] = 0;
    const std::int64_t size = row_size(start);
    for (std::int64_t i = 0; i < size; ++i) {
      local.columns[heads[i]] = static_cast<std::int32_t>(i + 1);
    }
  }

  // ---- sources ---------------------------------------------------------------------------------

  // The panel of a source, with the columns of those upward neighbors that it offers.
  Panel panel(const Source& from) const {
    const std::int64_t others = from.vertices - 1;
    return {from.first, from.vertices,
            others == 0 ? from.heads : elimination_.offsets[from.first] + others + from.skipped,
            others + from.skipped + from.size - 1};
  }

  // Rows row .. row_end - 1 of a supernode take what its sources offer.
  void take_from_sources(Local& local, std::int64_t s, std::int64_t row,
                         std::int64_t row_end) const {
    const Source* const end = supernodes_.sources.data() + supernodes_.source_offsets[s + 1];
    const Source* from = supernodes_.sources.data() + supernodes_.source_offsets[s];
    if (from == end) return;
    find_columns(local, s);
    const std::int32_t start = supernodes_.starts[s];
    for (; from < end; ++from) {
      if (end - from > kAhead) {
        __builtin_prefetch(elimination_.heads + from[kAhead].heads);
        panels_.fetch(from[kAhead].heads);
      }
      const std::int32_t* const heads = elimination_.heads + from->heads;
      const auto size = static_cast<std::int32_t>(from->size);
      std::int32_t begin = 0;
      while (begin < size && heads[begin] < start + row) ++begin;
      std::int32_t last = begin;
      while (last < size - 1 && heads[last] < start + row_end) ++last;
      if (begin < last) take_from(local, s, *from, begin, last);
    }
  }

  // The rows that are upward neighbors begin .. end - 1 of the source take from it.
  void take_from(Local& local, std::int64_t s, const Source& source, std::int64_t begin,
                 std::int64_t end) const {
    const Panel from = panel(source);
    const std::int32_t* const heads = elimination_.heads + source.heads;
    const auto column_of = [&](std::int64_t h) -> std::int64_t { return local.columns[heads[h]]; };
    const auto singly = [&](std::int64_t i, std::int64_t j_end) {
      panels_.relax_singly(from, i, i + 1, j_end, origin(s, column_of(i)), column_of);
    };
    if (from.vertices * (source.size - begin) <= kFewTriangles) {
      for (std::int64_t i = begin; i < end; ++i) singly(i, source.size);
      return;
    }
    for (std::int64_t i = begin; i + 1 < end; i += kTileRows) {
      const auto rows = static_cast<int>(std::min<std::int64_t>(kTileRows, end - i));
      std::int64_t to[kTileRows];
      for (int k = 0; k < rows; ++k) to[k] = origin(s, column_of(i + k));
      panels_.template relax_copy<true>(from, i, i, to, rows, rows,
                                        [&](std::int64_t h) { return column_of(i + h); });
    }
    for (std::int64_t j = begin + 1; j < source.size; j += kChunk) {
      const std::int64_t j_end = std::min<std::int64_t>(j + kChunk, source.size);
      // untestable (< to <=): a tile of no rows
      for (std::int64_t i = begin; i < end; i += kTileRows) {
        const std::int64_t i_end = std::min<std::int64_t>(i + kTileRows, end);
        if (i_end < j_end) take_chunk(local, s, from, heads, i, i_end, std::max(j, i_end), j_end);
      }
    }
  }

  // Upward neighbors i .. i_end - 1 of a source take columns j .. j_end - 1.
  void take_chunk(const Local& local, std::int64_t s, const Panel& from, const std::int32_t* heads,
                  std::int64_t i, std::int64_t i_end, std::int64_t j, std::int64_t j_end) const {
    const std::int64_t first = local.columns[heads[j]], count = j_end - j;
    const auto rows = static_cast<int>(i_end - i);
    std::int64_t to[kTileRows];
    for (int k = 0; k < rows; ++k) to[k] = origin(s, local.columns[heads[i + k]]);
    if (local.columns[heads[j_end - 1]] - first == count - 1) {  // adjacent in the target too
      for (int k = 0; k < rows; ++k) to[k] += first;
      panels_.relax_adjacent(from, i, j, to, rows, count);
    } else {
      panels_.template relax_copy<false>(
          from, i, j, to, rows, count,
          [&](std::int64_t h) -> std::int64_t { return local.columns[heads[j + h]]; });
    }
  }

  // ---- own triangles ---------------------------------------------------------------------------

  // So many rows of a supernode, from this one on.
  Panel panel(std::int64_t s, std::int64_t row, std::int64_t rows) const {
    const auto first = static_cast<std::int32_t>(supernodes_.starts[s] + row);
    return {first, rows, origin(s, row), row_size(first) - 1};
  }

  // Rows row .. row_end - 1 take from those before them, in all columns. Columns of these rows
  // themselves come first.
  void take_from_own(std::int64_t s, std::int64_t row, std::int64_t row_end) const {
    take_from_own(s, row, row_end, row, row_end);
    const std::int64_t all = columns(s);
    for (std::int64_t column = row_end; column < all; column += kChunk) {
      take_from_own(s, row, row_end, column, std::min(column + kChunk, all));
    }
  }

  void take_from_own(std::int64_t s, std::int64_t row, std::int64_t row_end, std::int64_t column,
                     std::int64_t column_end) const {
    const bool square = column == row;
    for (; row < row_end; row += kTileRows) {
      const std::int64_t end = std::min<std::int64_t>(row + kTileRows, row_end);
      const std::int64_t begin = std::max(column, end);
      take_rows(s, panel(s, 0, row), row, end, begin, column_end);
      if (square && row > 0) {
        std::int64_t to[kTileRows];
        for (std::int64_t i = row; i < end; ++i) to[i - row] = origin(s, i) + row;
        panels_.template relax_copy<true>(panel(s, 0, row), row, row, to,
                                          static_cast<int>(end - row), end - row,
                                          [](std::int64_t h) { return h; });
      }
      for (std::int64_t i = row + 1; i < end; ++i) {
        const Panel from = panel(s, row, i - row);
        if (square) {
          panels_.relax_singly(from, i, i + 1, end, origin(s, i), [](std::int64_t h) { return h; });
        }
        take_rows(s, from, i, i + 1, begin, column_end);
      }
    }
  }

  void take_rows(std::int64_t s, const Panel& from, std::int64_t row, std::int64_t row_end,
                 std::int64_t column, std::int64_t column_end) const {
    if (from.vertices == 0 || column >= column_end) return;
    std::int64_t to[kTileRows];
    for (std::int64_t i = row; i < row_end; ++i) to[i - row] = origin(s, i) + column;
    panels_.relax_adjacent(from, row, column, to, static_cast<int>(row_end - row),
                           column_end - column);
  }

  // All threads on one supernode.
  void together(parallel::Team::Worker& worker, Local& local, std::int64_t s) const {
    const std::int64_t rows = vertices(s), all = columns(s);
    worker.loop(rows, kSharedRows, [&](std::int64_t row, std::int64_t row_end) {
      take_from_sources(local, s, row, row_end);
    });
    for (std::int64_t row = 0; row < rows; row += kBlockRows) {
      const std::int64_t row_end = std::min(row + kBlockRows, rows);
      if (worker.is_leader()) take_from_own(s, row, row_end, row, row_end);
      worker.barrier();
      worker.loop(all - row_end, kChunk, [&](std::int64_t column, std::int64_t column_end) {
        take_from_own(s, row, row_end, row_end + column, row_end + column_end);
      });
    }
  }

  const Elimination elimination_;
  const Supernodes& supernodes_;
  const PanelRelaxation<Algebra, kMiddles> panels_;
};

}  // namespace kleene::prepared
