// A product of matrices over a semiring: the step of closures whose matrix is in several places.
//
// The rows of the right factor are taken a block at a time, packed into a panel by all threads, and
// multiplied as in step 2 of the tiled method (tiled.cpp). Rows are scanned upwards and only strict
// improvements count, so the row that attains the best value is the first one.
#include <algorithm>
#include <limits>
#include <mutex>

#include "closure/closure.hpp"
#include "closure/row_product.hpp"
#include "parallel/buffer.hpp"
#include "parallel/team.hpp"

namespace kleene::closure {
namespace {

// As in tiled.cpp; columns of a chunk of strips that one thread packs.
constexpr std::int64_t kBlock = 96, kRows = 24, kChunkColumns = 64;

// Relaxations for each thread, at least: to start one takes some 20 us.
constexpr std::int64_t kWorthThread = 1 << 20;

// Only kernels with paths ask for signs.
template <class T>
KernelTraits traits(const ProductOf<T>& product, const Options& options) {
  if constexpr (std::is_floating_point_v<T>) {
    return {options.zen,
            options.zen && options.semiring == Semiring::kMinPlus &&
                product.predecessors != nullptr &&
                nonnegative(product.values, product.rows * product.columns, options.threads) &&
                nonnegative(product.left, product.rows * product.depth, options.threads) &&
                nonnegative(product.right, product.depth * product.columns, options.threads)};
  }
  return {};
}

// Names the rows of strips, from `first` on, in the place of their predecessors.
void number_rows(std::int32_t* strip, std::int64_t first, std::int64_t depth, std::int64_t width) {
  for (std::int64_t k = 0; k < depth; ++k) {
    std::fill_n(strip + k * width, width, static_cast<std::int32_t>(first + k));
  }
}

// Lane by lane, which compilers turn into vector minima; flags are as wide as the lanes for that.
template <class T>
void extend_ends(const T* values, std::int64_t count, T no_path, Ends<T>& ends) {
  using Wide = std::conditional_t<sizeof(T) == 8, std::int64_t, std::int32_t>;
  using Flag = std::conditional_t<sizeof(T) == 2, std::int16_t, Wide>;
  constexpr std::int64_t kLanes = 64 / sizeof(T);
  T low[kLanes], high[kLanes];
  Flag nan[kLanes] = {};
  std::fill_n(low, kLanes, ends.low);
  std::fill_n(high, kLanes, ends.high);
  const auto extend = [&](T value, std::int64_t lane) {
    const T below = value == no_path ? low[lane] : value;
    const T above = value == no_path ? high[lane] : value;
    low[lane] = below < low[lane] ? below : low[lane];
    high[lane] = above > high[lane] ? above : high[lane];  // untestable (> to >=): equal values
    nan[lane] |= value != value ? Flag{1} : Flag{0};
  };
  std::int64_t i = 0;
  for (; i + kLanes <= count; i += kLanes) {  // untestable (<= to <): the next loop takes the rest
    for (std::int64_t lane = 0; lane < kLanes; ++lane) extend(values[i + lane], lane);
  }
  for (; i < count; ++i) extend(values[i], 0);
  ends.low = *std::min_element(low, low + kLanes);
  ends.high = *std::max_element(high, high + kLanes);
  ends.has_nan |= std::any_of(nan, nan + kLanes, [](Flag found) { return found != 0; });
}

}  // namespace

template <class T>
void multiply(const ProductOf<T>& product, const Options& options, Monitor& monitor) {
  const Tiles<T> tiles(tile_kernel<T>(options.semiring, options.level, traits(product, options)),
                       product.predecessors != nullptr);
  const T zero = elements_of<T>(options.semiring).zero;
  const std::int64_t columns = (product.columns + kPacked<T> - 1) / kPacked<T>;  // entries
  const std::int64_t area = kBlock * tiles.width,
                     strips = (columns + tiles.width - 1) / tiles.width;
  const std::int64_t chunk = std::max<std::int64_t>(1, kChunkColumns / tiles.width);
  const RowsOf<T> to{{product.values, product.predecessors}, columns};
  // Read only: load_strips and pack write nothing there.
  const RowsOf<T> right{
      {const_cast<T*>(product.right), const_cast<std::int32_t*>(product.right_predecessors)},
      columns};
  const RowsOf<T> left{{const_cast<T*>(product.left), nullptr},
                       (product.depth + kPacked<T> - 1) / kPacked<T>};
  const RowProduct<T> rows(tiles, zero, kBlock);
  AlignedBuffer<T> values(strips * area);
  AlignedBuffer<std::int32_t> predecessors(tiles.paths ? strips * area : 0);
  const Entries<T> panel{values.data(), tiles.paths ? predecessors.data() : nullptr};
  const std::int64_t work = product.rows * product.depth * columns / kWorthThread;
  const int threads =
      static_cast<int>(std::clamp<std::int64_t>(work, 1, std::max(1, options.threads)));
  run_team(threads, monitor, [&](Team::Worker& worker) {
    AlignedBuffer<T> packed(rows.packed_size(kRows));
    CancelCheck check(monitor, worker.thread());
    // untestable (< to <=): a block more, of no depth
    for (std::int64_t first = 0; first < product.depth; first += kBlock) {
      const std::int64_t depth = std::min(kBlock, product.depth - first);
      worker.loop(strips, chunk, [&](std::int64_t begin, std::int64_t end) {
        load_strips({right.row(first), columns}, depth, begin * tiles.width,
                    std::min(end * tiles.width, columns), tiles, zero, panel.at(begin * area),
                    area);
        if (!tiles.paths || right.entries.predecessors != nullptr) return;
        for (std::int64_t s = begin; s < end; ++s) {
          number_rows(panel.at(s * area).predecessors, first, depth, tiles.width);
        }
      });
      worker.loop(product.rows, kRows, [&](std::int64_t begin, std::int64_t end) {
        check();
        rows.update(
            to, begin, end, left, first, depth, columns,
            [&](std::int64_t s) { return panel.at(s * area); }, packed.data());
        monitor.advance(static_cast<std::uint64_t>((end - begin) * depth));
      });
    }
  });
}

template <class T>
Ends<T> find_ends(const T* values, std::int64_t count, T no_path, int threads, Monitor& monitor) {
  using Limits = std::numeric_limits<T>;
  constexpr std::int64_t kGrain = 1 << 16;
  const T top = Limits::has_infinity ? Limits::infinity() : Limits::max();
  const T bottom = Limits::has_infinity ? -Limits::infinity() : Limits::lowest();
  Ends<T> all{top, bottom, false};
  std::mutex mutex;
  parallel_for(count, kGrain, threads, monitor, [&](std::int64_t begin, std::int64_t end, int) {
    Ends<T> own{top, bottom, false};
    extend_ends(values + begin, end - begin, no_path, own);
    const std::lock_guard lock(mutex);
    all = {std::min(all.low, own.low), std::max(all.high, own.high), all.has_nan || own.has_nan};
  });
  return all;
}

#define KLEENE_FIND_ENDS(T) template Ends<T> find_ends(const T*, std::int64_t, T, int, Monitor&);
KLEENE_FIND_ENDS(float)
KLEENE_FIND_ENDS(double)
KLEENE_FIND_ENDS(std::int16_t)
KLEENE_FIND_ENDS(std::int32_t)
KLEENE_FIND_ENDS(std::int64_t)
#undef KLEENE_FIND_ENDS

#define KLEENE_MULTIPLY(T) template void multiply(const ProductOf<T>&, const Options&, Monitor&);
KLEENE_MULTIPLY(float)
KLEENE_MULTIPLY(double)
KLEENE_MULTIPLY(std::int16_t)
KLEENE_MULTIPLY(std::int32_t)
KLEENE_MULTIPLY(std::int64_t)
KLEENE_MULTIPLY(std::uint64_t)
#undef KLEENE_MULTIPLY

}  // namespace kleene::closure
