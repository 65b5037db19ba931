// Relaxes the triangles over the vertices of a panel (front_kernel.hpp): what one supernode offers
// to rows of another, or to later rows of its own.
#pragma once

#include <algorithm>
#include <type_traits>
#include <utility>
#include <vector>

#include "prepared/algebra.hpp"
#include "prepared/customization/front_kernel.hpp"

namespace kleene::prepared {

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

}  // namespace kleene::prepared
