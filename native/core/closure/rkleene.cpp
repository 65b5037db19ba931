// R-Kleene: the closure of a matrix by the closures of its two diagonal quadrants and six products
// (D'Alberto and Nicolau 2007), here with the matrix cut into square tiles:
//
//   A11 = A11*;  A12 = A11 A12;  A21 = A21 A11;  A22 = A22 + A21 A12;
//   A22 = A22*;  A21 = A22 A21;  A12 = A12 A22;  A11 = A11 + A12 A21
//
// Two orders of the entries in memory. Row-major: tiles are where the caller has them, and those at
// the edge are cut. Quadtree: a copy in which every quadrant, of every size, is one contiguous
// quarter; tile (i, j) has the number made by interleaving the bits of i and j (Morton 1966). Tiles
// are made as large as it takes for their number per side to be a power of two, so any n will do.
//
// Products are computed in place. Where a factor is also the result, some of its entries are
// already improved when they are read; since the other factor is closed, that gives no path that
// the product does not have. All threads run through the recursion together, with a barrier after
// each step.
#include <algorithm>

#include "closure/relax_row.hpp"
#include "parallel/buffer.hpp"
#include "parallel/team.hpp"

namespace kleene::closure {
namespace {

constexpr std::int64_t kTile = 64;

template <class T>
struct Tile {
  T* values;
  std::int32_t* predecessors;
  std::int64_t stride, rows, columns;
};

template <class T>
struct RowMajor {
  const Matrix<T>& matrix;
  std::int64_t side = kTile;

  std::int64_t tiles() const { return (matrix.n + side - 1) / side; }
  Tile<T> tile(std::int64_t i, std::int64_t j) const {
    const std::int64_t n = matrix.n, at = i * side * n + j * side;
    return {matrix.values + at, matrix.predecessors == nullptr ? nullptr : matrix.predecessors + at,
            n, std::min(side, n - i * side), std::min(side, n - j * side)};
  }
};

// The bits of x at every other place.
std::int64_t spread_bits(std::int64_t x) {
  auto bits = static_cast<std::uint64_t>(x);
  bits = (bits | bits << 16) & 0x0000FFFF0000FFFF;
  bits = (bits | bits << 8) & 0x00FF00FF00FF00FF;
  bits = (bits | bits << 4) & 0x0F0F0F0F0F0F0F0F;
  bits = (bits | bits << 2) & 0x3333333333333333;
  bits = (bits | bits << 1) & 0x5555555555555555;
  return static_cast<std::int64_t>(bits);
}

template <class T>
class Quadtree {
 public:
  explicit Quadtree(const Matrix<T>& matrix) : matrix_(matrix) {
    // untestable (< to <=): twice as many tiles, of half the side
    while (tiles_ * kTile < matrix.n) tiles_ *= 2;
    side_ = (matrix.n + tiles_ - 1) / tiles_;
    values_ = Buffer<T>(tiles_ * tiles_ * side_ * side_);
    std::fill_n(values_.data(), values_.size(), RowRelaxation<Semiring::kMinPlus, T>::kZero);
    if (matrix.predecessors != nullptr) predecessors_ = Buffer<std::int32_t>(values_.size());
    copy([](auto* ours, auto* theirs, std::int64_t count) { std::copy_n(theirs, count, ours); });
  }

  void write_back() {
    copy([](auto* ours, auto* theirs, std::int64_t count) { std::copy_n(ours, count, theirs); });
  }

  std::int64_t tiles() const { return tiles_; }
  Tile<T> tile(std::int64_t i, std::int64_t j) {
    const std::int64_t at = (spread_bits(i) << 1 | spread_bits(j)) * side_ * side_;
    return {values_.data() + at,
            matrix_.predecessors == nullptr ? nullptr : predecessors_.data() + at, side_, side_,
            side_};
  }

 private:
  // Moves every piece of a row that lies in one tile.
  template <class Move>
  void copy(Move&& move) {
    for (std::int64_t row = 0; row < matrix_.n; ++row) {
      // untestable (< to <=): a piece more, of no columns
      for (std::int64_t column = 0; column < matrix_.n; column += side_) {
        const Tile<T> to = tile(row / side_, column / side_);
        const std::int64_t at = row % side_ * side_, count = std::min(side_, matrix_.n - column);
        move(to.values + at, matrix_.row(row) + column, count);
        if (to.predecessors != nullptr)
          move(to.predecessors + at, matrix_.predecessor_row(row) + column, count);
      }
    }
  }

  const Matrix<T>& matrix_;
  std::int64_t tiles_ = 1, side_ = 1;
  Buffer<T> values_;
  Buffer<std::int32_t> predecessors_;
};

template <class T, class Order>
class RKleene {
 public:
  RKleene(Order& order, const Options& options, Monitor& monitor)
      : order_(order), threads_(options.threads), monitor_(monitor) {}

  bool run() {
    run_team(threads_, monitor_, [&](Team::Worker& worker) { close(worker, {0, order_.tiles()}); });
    return !cycle_;
  }

 private:
  using P = RowRelaxation<Semiring::kMinPlus, T>;

  struct Range {  // of tiles
    std::int64_t begin, end;
  };

  void close(Team::Worker& worker, Range all) {
    if (all.end - all.begin <= 1) {
      close_tile(worker, all.begin);
      return;
    }
    const std::int64_t middle = (all.begin + all.end) / 2;
    const Range one{all.begin, middle}, two{middle, all.end};
    close(worker, one);
    if (cycle_) return;
    multiply(worker, one, one, two);
    multiply(worker, two, one, one);
    multiply(worker, two, one, two);
    close(worker, two);
    if (cycle_) return;
    multiply(worker, two, two, one);
    multiply(worker, one, two, two);
    multiply(worker, one, two, one);
  }

  void close_tile(Team::Worker& worker, std::int64_t at) {
    if (worker.is_leader()) {
      const Tile<T> d = order_.tile(at, at);
      for (std::int64_t k = 0; k < d.rows && !cycle_; ++k) {
        if (!P::passable(d.values[k * d.stride + k])) cycle_ = true;
        if (!cycle_) relax(d, d, d, k, k + 1);
      }
    }
    worker.barrier();
  }

  // Rows times columns through `inner`. Threads share the tile columns where the right factor is
  // the result too (rows depend on each other), and the tile rows otherwise.
  [[gnu::noinline]] void multiply(Team::Worker& worker, Range rows, Range inner, Range columns) {
    const bool by_columns = rows.begin == inner.begin;
    const Range shared = by_columns ? columns : rows, other = by_columns ? rows : columns;
    for (std::int64_t s = shared.begin + worker.thread(); s < shared.end; s += worker.threads()) {
      for (std::int64_t o = other.begin; o < other.end; ++o) {
        const std::int64_t i = by_columns ? o : s, j = by_columns ? s : o;
        for (std::int64_t k = inner.begin; k < inner.end; ++k) {
          const Tile<T> a = order_.tile(i, k);
          relax(order_.tile(i, j), a, order_.tile(k, j), 0, a.columns);
          if (worker.is_leader()) monitor_.advance(1);
        }
        if (monitor_.cancelled()) throw Cancelled{};
        if (worker.is_leader()) monitor_.poll();
      }
    }
    worker.barrier();
  }

  void relax(const Tile<T>& c, const Tile<T>& a, const Tile<T>& b, std::int64_t begin,
             std::int64_t end) {
    const bool paths = c.predecessors != nullptr;
    for (std::int64_t k = begin; k < end; ++k) {
      const std::int32_t* const b_predecessors = paths ? b.predecessors + k * b.stride : nullptr;
      for (std::int64_t i = 0; i < c.rows; ++i) {
        const T* const right = b.values + k * b.stride;
        T* const row = c.values + i * c.stride;
        if (row == right) continue;  // a row through its own vertex
        P::relax(a.values[i * a.stride + k], right, b_predecessors, row,
                 paths ? c.predecessors + i * c.stride : nullptr, c.columns);
      }
    }
  }

  Order& order_;
  const int threads_;
  Monitor& monitor_;
  bool cycle_ = false;  // written by thread 0 before a barrier
};

}  // namespace

template <class T>
bool rkleene(const Matrix<T>& matrix, const Options& options, Monitor& monitor) {
  RowMajor<T> order{matrix};
  return RKleene<T, RowMajor<T>>(order, options, monitor).run();
}

template <class T>
bool rkleene_quadtree(const Matrix<T>& matrix, const Options& options, Monitor& monitor) {
  Quadtree<T> order(matrix);
  const bool closed = RKleene<T, Quadtree<T>>(order, options, monitor).run();
  order.write_back();
  return closed;
}

#define KLEENE_RKLEENE(T)                                            \
  template bool rkleene(const Matrix<T>&, const Options&, Monitor&); \
  template bool rkleene_quadtree(const Matrix<T>&, const Options&, Monitor&);
KLEENE_RKLEENE(float)
KLEENE_RKLEENE(double)
KLEENE_RKLEENE(std::int32_t)
KLEENE_RKLEENE(std::int64_t)
#undef KLEENE_RKLEENE

}  // namespace kleene::closure
