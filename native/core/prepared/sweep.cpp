#include "prepared/sweep.hpp"

#include <algorithm>
#include <atomic>
#include <numeric>
#include <vector>

#include "parallel/team.hpp"
#include "prepared/sweep_climb.hpp"

namespace kleene::prepared {
namespace {

// The value as users see it, in the type of the answers.
template <class T, class Out>
struct Translation {
  T zero, one;
  Out out_zero, out_one;

  explicit Translation(Semiring semiring) {
    const auto inside = closure::elements_of<T>(semiring);
    const auto outside =
        closure::elements_of<std::conditional_t<std::is_same_v<Out, bool>, T, Out>>(semiring);
    zero = inside.zero;
    one = inside.one;
    out_zero =
        semiring == Semiring::kMinPlus ? graph::kNoPath<Out> : static_cast<Out>(outside.zero);
    out_one = static_cast<Out>(outside.one);
  }
  Out operator()(T value) const {
    return value == zero ? out_zero : value == one ? out_one : static_cast<Out>(value);
  }
};

// One batch of sources at a time.
template <class T, class Out>
class LaneSweep {
 public:
  static constexpr int kWidth = kLanes<T>;

  // `list` has the vertices to sweep, descending; null for all.
  LaneSweep(const SweepProblem<T>& problem, const std::vector<std::int32_t>* list)
      : problem_(problem),
        list_(list),
        zero_(problem.elements().zero),
        kernel_(sweep_kernel<T>(problem.semiring, problem.negative, problem.level)),
        climb_(problem),
        by_depth_(problem.height * kWidth),
        by_rank_(problem.elimination.n * kWidth),
        translate_(problem.semiring) {
    parallel::advise_huge_pages(by_rank_.data(),
                                sizeof(T) * static_cast<std::size_t>(by_rank_.size()));
    std::fill_n(none_, kWidth, zero_);
  }

  void run(const std::int32_t* sources, int count) {
    climb_.climb(sources, count);
    const std::int64_t all =
        list_ ? static_cast<std::int64_t>(list_->size()) : problem_.elimination.n;
    std::int64_t begin = 0;
    T* initial = none_;
    const auto& climbed = climb_.vertices();
    for (auto i = static_cast<std::int64_t>(climbed.size()); i-- > 0;) {
      const std::int64_t at = place(climbed[i], begin);
      if (at < 0) continue;
      sweep(begin, at, initial);
      begin = at;
      initial = climb_.line(i);
    }
    sweep(begin, all, initial);
  }

  // Copies the lines of the targets into the rows of the batch.
  void write(const SweepRows<Out>& rows, const std::int64_t* positions, int count) {
    constexpr std::int64_t kBlock = 64;
    for (std::int64_t j = 0; j < rows.columns; j += kBlock) {
      const std::int64_t end = std::min(j + kBlock, rows.columns);
      for (int lane = 0; lane < count; ++lane) {
        Out* const row = rows.values + positions[lane] * rows.columns;
        for (std::int64_t k = j; k < end; ++k) {
          row[k] = translate_(by_rank_[std::int64_t{rows.targets[k]} * kWidth + lane]);
        }
      }
    }
  }

 private:
  // Where a vertex comes in the sweep, at `from` or later; -1 if it does not.
  std::int64_t place(std::int32_t v, std::int64_t from) const {
    if (!list_) return problem_.elimination.n - 1 - v;
    const auto at = std::lower_bound(list_->begin() + from, list_->end(), v, std::greater<>());
    return at != list_->end() && *at == v ? at - list_->begin() : -1;
  }

  void sweep(std::int64_t begin, std::int64_t end, T* initial) {
    if (begin == end) return;
    kernel_.sweep(problem_.down, list_ ? list_->data() + begin : nullptr,
                  problem_.elimination.n - 1 - begin, end - begin, {initial}, zero_,
                  {by_depth_.data()}, {by_rank_.data()});
  }

  const SweepProblem<T>& problem_;
  const std::vector<std::int32_t>* const list_;
  const T zero_;
  const SweepKernel<T> kernel_;
  LaneClimb<T> climb_;
  parallel::AlignedBuffer<T> by_depth_, by_rank_;
  const Translation<T, Out> translate_;
  alignas(kLineBytes) T none_[kWidth];
};

// Sources sorted by rank share most of their ancestors.
template <class T, class Out>
void sweep_batches(const SweepProblem<T>& problem, const SweepRows<Out>& rows,
                   const std::vector<std::int32_t>* list, int threads, Monitor& monitor) {
  constexpr std::int64_t kWidth = kLanes<T>;
  std::vector<std::int64_t> positions(static_cast<std::size_t>(rows.count));
  std::iota(positions.begin(), positions.end(), std::int64_t{0});
  std::sort(positions.begin(), positions.end(), [&](auto a, auto b) {
    return std::pair(rows.sources[a], a) < std::pair(rows.sources[b], b);
  });
  const std::int64_t batches = (rows.count + kWidth - 1) / kWidth;
  std::atomic<std::int64_t> next{0};
  parallel::run_team(
      static_cast<int>(std::min<std::int64_t>(threads, batches)), monitor, [&](auto& worker) {
        LaneSweep<T, Out> sweep(problem, list);
        parallel::CancelCheck check_cancelled(monitor, worker.thread());
        for (std::int64_t b; (b = next.fetch_add(1, std::memory_order_relaxed)) < batches;) {
          const std::int64_t first = b * kWidth;
          const int count = static_cast<int>(std::min(kWidth, rows.count - first));
          std::int32_t sources[kWidth];
          for (int k = 0; k < count; ++k) sources[k] = rows.sources[positions[first + k]];
          sweep.run(sources, count);
          check_cancelled();
          sweep.write(rows, positions.data() + first, count);
          monitor.advance(static_cast<std::uint64_t>(count));
          check_cancelled();
        }
      });
}

}  // namespace

std::int32_t head_depths(const Elimination& elimination, std::int32_t* depths) {
  std::vector<std::int32_t> by_rank(static_cast<std::size_t>(elimination.n));
  std::int32_t height = 0;
  for (std::int64_t v = elimination.n; v-- > 0;) {
    const std::int32_t parent = elimination.parents[v];
    by_rank[v] = parent < 0 ? 0 : by_rank[parent] + 1;
    height = std::max(height, by_rank[v] + 1);
    for (std::int64_t i = elimination.offsets[v]; i < elimination.offsets[v + 1]; ++i) {
      depths[i] = by_rank[elimination.heads[i]];
    }
  }
  return height;
}

template <class T, class Out>
void sweep_all(const SweepProblem<T>& problem, const SweepRows<Out>& rows, int threads,
               Monitor& monitor) {
  sweep_batches<T, Out>(problem, rows, nullptr, threads, monitor);
}

template <class T, class Out>
void sweep_ancestors(const SweepProblem<T>& problem, const SweepRows<Out>& rows, int threads,
                     Monitor& monitor) {
  std::vector<bool> seen(static_cast<std::size_t>(problem.elimination.n));
  std::vector<std::int32_t> list;
  for (std::int64_t j = 0; j < rows.columns; ++j) {
    for (std::int32_t v = rows.targets[j]; v >= 0 && !seen[v]; v = problem.elimination.parents[v]) {
      seen[v] = true;
      list.push_back(v);
    }
  }
  std::sort(list.begin(), list.end(), std::greater<>());
  sweep_batches(problem, rows, &list, threads, monitor);
}

#define KLEENE_SWEEPS(T, Out)                                                            \
  template void sweep_all(const SweepProblem<T>&, const SweepRows<Out>&, int, Monitor&); \
  template void sweep_ancestors(const SweepProblem<T>&, const SweepRows<Out>&, int, Monitor&);
KLEENE_SWEEPS(float, float)
KLEENE_SWEEPS(double, double)
KLEENE_SWEEPS(std::int32_t, std::int32_t)
KLEENE_SWEEPS(std::int32_t, std::int64_t)
KLEENE_SWEEPS(std::int64_t, std::int64_t)
KLEENE_SWEEPS(std::uint8_t, bool)
#undef KLEENE_SWEEPS

}  // namespace kleene::prepared
