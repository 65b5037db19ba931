// Blocked Floyd-Warshall, as Venkataraman, Sahni and Mukhopadhyaya (2003) have it: for each block
// of vertices, first the diagonal block, then the blocks in its row and column, then the rest. All
// blocks of a phase are independent and are shared among the threads. Any block size, whether
// or not it divides n.
#include <algorithm>

#include "closure/relax_row.hpp"
#include "parallel/team.hpp"

namespace kleene::closure {
namespace {

constexpr std::int64_t kBlock = 64;  // two float64 blocks and a half fit a second-level cache

template <class T>
class Blocked {
 public:
  Blocked(const Matrix<T>& matrix, const Options& options, Monitor& monitor)
      : matrix_(matrix),
        threads_(options.threads),
        block_(options.block > 0 ? options.block : kBlock),
        blocks_((matrix.n + block_ - 1) / block_),
        monitor_(monitor) {}

  bool run() {
    run_team(threads_, monitor_, [&](Team::Worker& worker) {
      // untestable (< to <=): a round more, of no vertices
      for (std::int64_t k = 0; k < blocks_; ++k) {
        if (worker.is_leader() && !update(k, k, k)) cycle_ = true;
        worker.barrier();
        if (cycle_) return;
        share(worker, 2 * blocks_, [&](std::int64_t at) {
          const std::int64_t other = at / 2;
          // untestable (== to !=): the two updates in the other order
          if (other != k) at % 2 == 0 ? update(k, other, k) : update(other, k, k);
        });
        worker.barrier();
        share(worker, blocks_ * blocks_, [&](std::int64_t at) {
          const std::int64_t i = at / blocks_, j = at % blocks_;
          if (i != k && j != k) update(i, j, k);
        });
        worker.barrier();
        if (!worker.is_leader()) continue;
        monitor_.advance(static_cast<std::uint64_t>(matrix_.n * block_));
        monitor_.poll();
      }
    });
    return !cycle_;
  }

 private:
  using P = RowRelaxation<Semiring::kMinPlus, T>;

  template <class Body>
  void share(Team::Worker& worker, std::int64_t count, Body&& body) {
    // untestable (< to <=): the block behind the last has no rows
    for (std::int64_t at = worker.thread(); at < count; at += worker.threads()) {
      body(at);
      if (monitor_.cancelled()) throw Cancelled{};
      if (worker.is_leader()) monitor_.poll();
    }
  }

  // Block (i, j) through the vertices of block k; false at a negative cycle in a diagonal block.
  bool update(std::int64_t bi, std::int64_t bj, std::int64_t bk) {
    const auto end = [&](std::int64_t b) { return std::min((b + 1) * block_, matrix_.n); };
    const std::int64_t begin = bj * block_, count = end(bj) - begin;
    const bool paths = matrix_.predecessors != nullptr;
    for (std::int64_t k = bk * block_; k < end(bk); ++k) {
      // untestable (first && to ||): no cycle is left for other blocks to find
      if (bi == bk && bj == bk && !P::passable(matrix_.row(k)[k])) return false;
      const T* const b = matrix_.row(k) + begin;
      const std::int32_t* const b_predecessors =
          paths ? matrix_.predecessor_row(k) + begin : nullptr;
      for (std::int64_t i = bi * block_; i < end(bi); ++i) {
        if (i == k) continue;
        T* const c = matrix_.row(i);
        P::relax(c[k], b, b_predecessors, c + begin,
                 paths ? matrix_.predecessor_row(i) + begin : nullptr, count);
      }
    }
    return true;
  }

  const Matrix<T> matrix_;
  const int threads_;
  const std::int64_t block_, blocks_;
  Monitor& monitor_;
  bool cycle_ = false;  // written by thread 0 before a barrier
};

}  // namespace

template <class T>
bool blocked(const Matrix<T>& matrix, const Options& options, Monitor& monitor) {
  return Blocked<T>(matrix, options, monitor).run();
}

template bool blocked(const Matrix<float>&, const Options&, Monitor&);
template bool blocked(const Matrix<double>&, const Options&, Monitor&);
template bool blocked(const Matrix<std::int32_t>&, const Options&, Monitor&);
template bool blocked(const Matrix<std::int64_t>&, const Options&, Monitor&);

}  // namespace kleene::closure
