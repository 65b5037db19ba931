// Rows of arcs as another library stores them: in any order, some perhaps twice, and not checked.
//
// Readers load every entry once and check it before they use it. So nothing is copied first, and
// if another thread writes to the arrays meanwhile, the answer may be wrong, but no access is out
// of bounds.
#pragma once

#include <cstdint>
#include <type_traits>

#include "parallel/buffer.hpp"
#include "parallel/relaxed.hpp"

namespace kleene::graph {

using namespace parallel;

// Thrown for offsets that fall or lead out of the arrays, and for heads that are not vertices.
struct BadRow {};

// Offset and Id are int32 or int64; there are fewer than 2^31 vertices either way.
template <class Offset, class Id>
struct StoredRows {
  std::int64_t n = 0;
  const Offset* offsets = nullptr;  // n + 1
  const Id* neighbors = nullptr;    // `stored` of them
  const double* lengths = nullptr;  // as many, or null
  std::int64_t stored = 0;

  struct Range {
    std::int64_t begin, end;
  };

  Range row(std::int64_t u) const {
    const std::int64_t begin = relaxed_load(offsets[u]), end = relaxed_load(offsets[u + 1]);
    if (begin < 0 || end < begin || end > stored) throw BadRow{};
    return {begin, end};
  }

  std::int32_t head(std::int64_t arc) const {
    const Id v = relaxed_load(neighbors[arc]);
    using Unsigned = std::make_unsigned_t<Id>;  // a negative one is larger than n
    if (static_cast<Unsigned>(v) >= static_cast<Unsigned>(n)) throw BadRow{};
    return static_cast<std::int32_t>(v);
  }
};

// Rows turned round, in memory of their own: row v holds the tails of the arcs to v, in order.
template <class Offset, class Id>
struct TransposedRows {
  Buffer<Offset> offsets;
  Buffer<Id> neighbors;
  Buffer<double> lengths;  // empty without lengths

  StoredRows<Offset, Id> rows() const {
    return {offsets.size() - 1, offsets.data(), neighbors.data(), lengths.data(), neighbors.size()};
  }
};

// Throws BadRow.
template <class Offset, class Id>
TransposedRows<Offset, Id> transpose(const StoredRows<Offset, Id>& rows);

// Copies offsets, and returns whether they rise from 0 to at most `stored`.
template <class Offset>
bool copy_offsets(const Offset* offsets, std::int64_t n, std::int64_t stored, std::int64_t* copy);

// Copies heads, and returns whether all are vertices 0 .. n - 1.
template <class Id>
bool copy_heads(const Id* heads, std::int64_t count, std::int64_t n, std::int32_t* copy);

}  // namespace kleene::graph
