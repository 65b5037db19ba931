// Climbs in the elimination tree: rows of upward pairs by place (climb_kernel.hpp), and what one
// climb works in.
#pragma once

#include <algorithm>
#include <cstdint>

#include "parallel/buffer.hpp"
#include "prepared/algebra.hpp"
#include "prepared/elimination/elimination.hpp"
#include "prepared/pairs/climb_kernel.hpp"

namespace kleene::prepared {

// The rows of an elimination in the form that climbs read; no weights.
class ClimbTree {
 public:
  explicit ClimbTree(const Elimination& elimination);

  ClimbRows rows() const { return {n_, arcs_, rows_.data(), blocks_.data()}; }
  const ClimbRow& row(std::int32_t v) const { return rows_[v]; }
  std::int32_t n() const { return static_cast<std::int32_t>(n_); }

  // Of arrays by place: the number of levels of the tree, in whole blocks.
  std::int64_t places() const { return places_; }

 private:
  std::int64_t n_, arcs_, places_;
  parallel::Buffer<ClimbRow> rows_;
  parallel::Buffer<ClimbBlock> blocks_;
};

template <class Algebra>
struct KindOf;
template <class T>
struct KindOf<MinPlus<T, false>> {
  static constexpr PathKind kKind = PathKind::kMinPlus;
};
template <class T>
struct KindOf<MinPlus<T, true>> {
  static constexpr PathKind kKind = PathKind::kSignedMinPlus;
};
template <class T>
struct KindOf<MaxMin<T>> {
  static constexpr PathKind kKind = PathKind::kMaxMin;
};
template <class T>
struct KindOf<MaxTimes<T>> {
  static constexpr PathKind kKind = PathKind::kMaxTimes;
};

// The arrays of one climb.
template <class Algebra>
class ClimbState {
 public:
  using Value = typename Algebra::Value;

  ClimbState(std::int64_t places, const Value* values, bool with_tails)
      : values_(values),
        best_(places),
        tails_(with_tails ? places : 0),
        ancestors_(with_tails ? places : 0) {}

  // Forgets the last climb; the next begins at this place.
  void start(std::int32_t place) {
    std::fill(best_.data() + place / kBlock * kBlock, best_.data() + best_.size(), Algebra::zero());
    best_[place] = Algebra::one();
  }

  Climb<Value> climb() {
    return {values_, best_.data(), tails_.size() ? tails_.data() : nullptr,
            ancestors_.size() ? ancestors_.data() : nullptr};
  }
  Value best(std::int32_t place) { return best_[place]; }
  std::int32_t tail(std::int32_t place) { return tails_[place]; }
  std::int32_t ancestor(std::int32_t place) { return ancestors_[place]; }

 private:
  const Value* const values_;
  parallel::AlignedBuffer<Value> best_;
  parallel::AlignedBuffer<std::int32_t> tails_, ancestors_;
};

}  // namespace kleene::prepared
