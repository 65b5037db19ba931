// Matrices without sweeps: products of climbs.
//
// The best path from s to t has a highest vertex, which is an ancestor of both. So its value is the
// best, over the common ancestors of s and t, of the climb from s times the climb to t (the query
// by elimination tree of Dibbelt, Strasser and Wagner 2014, for all pairs at once). Common
// ancestors are those of lowest depth, as many as the lowest common ancestor is deep. Sources and
// targets are sorted by rank, so that groups of them share most ancestors; a group of sources and a
// group of targets then have as many common ancestors for all pairs, as a rule, and the values of
// the block are a product of two small matrices over the semiring: the tile kernel of closures.
#include <algorithm>
#include <limits>
#include <vector>

#include "closure/tile_kernel.hpp"
#include "parallel/buffer.hpp"
#include "parallel/team.hpp"
#include "prepared/algebra.hpp"
#include "prepared/sweeps/sweep.hpp"
#include "prepared/sweeps/sweep_climb.hpp"
#include "simd/levels.hpp"

namespace kleene::prepared {
namespace {

// ---- targets in groups --------------------------------------------------------------------------
//
// The targets of a matrix, sorted by rank, in groups, and how many ancestors they have in common
// with a source: with those on one side of it, the fewer the farther they are in the order of
// ranks.

// Where a source comes among the targets, and the ancestors it shares with the two beside it.
struct Seat {
  std::int64_t place;  // of the first target whose rank is not lower
  std::int32_t left, right;
};

class TargetGroups {
 public:
  TargetGroups(const Elimination& elimination, const std::int32_t* depths,
               const std::int32_t* targets, std::int64_t count, std::int64_t width)
      : elimination_(elimination),
        depths_(depths),
        width_(width),
        positions_(sorted_positions(targets, count)),
        ranks_(static_cast<std::size_t>(count)),
        shared_(static_cast<std::size_t>(count)),
        inside_(static_cast<std::size_t>(groups())) {
    for (std::int64_t k = 0; k < count; ++k) ranks_[k] = targets[positions_[k]];
  }

  std::int64_t count() const { return static_cast<std::int64_t>(ranks_.size()); }
  std::int64_t groups() const { return (count() + width_ - 1) / width_; }
  std::int64_t begin(std::int64_t group) const { return group * width_; }
  std::int64_t end(std::int64_t group) const { return std::min(count(), (group + 1) * width_); }
  const std::int32_t* ranks() const { return ranks_.data(); }
  const std::int32_t* positions() const { return positions_.data(); }

  // Counts what neighbors in a group share; before any common ancestors are asked for.
  void count_shared(std::int64_t group) {
    for (std::int64_t k = begin(group); k < end(group); ++k) {
      shared_[k] = k + 1 < count() ? common(ranks_[k], ranks_[k + 1]) : 0;
    }
    inside_[group] = std::numeric_limits<std::int32_t>::max();
    for (std::int64_t k = begin(group); k + 1 < end(group); ++k) {
      inside_[group] = std::min(inside_[group], shared_[k]);
    }
  }

  Seat seat(std::int32_t source) const {
    const std::int64_t place =
        std::lower_bound(ranks_.begin(), ranks_.end(), source) - ranks_.begin();
    return {place, place > 0 ? common(source, ranks_[place - 1]) : 0,
            place < count() ? common(source, ranks_[place]) : 0};
  }

  // The fewest and the most ancestors that a source shares with a target of each group: minima and
  // maxima with what is there.
  void bound_common(Seat seat, std::int32_t* fewest, std::int32_t* most) const {
    const auto enter = [&](std::int64_t group, std::int32_t low, std::int32_t high) {
      fewest[group] = std::min(fewest[group], low);
      most[group] = std::max(most[group], high);
    };
    const std::int64_t middle = seat.place / width_;
    std::int64_t after = middle, before = middle - 1;
    std::int32_t right = seat.right, left = seat.left;
    if (seat.place > begin(middle)) {  // the seat is inside a group
      std::int32_t low = left;
      for (std::int64_t k = seat.place - 1; k > begin(middle); --k) {
        low = std::min(low, shared_[k - 1]);
      }
      enter(middle, low, left);
      left = std::min(low, before_group(middle));
      if (seat.place < count()) {
        low = right;
        for (std::int64_t k = seat.place; k + 1 < end(middle); ++k) low = std::min(low, shared_[k]);
        enter(middle, low, right);
        right = std::min(low, after_group(middle));
      }
      ++after;
    }
    for (; after < groups(); ++after) {
      const std::int32_t low = std::min(right, inside_[after]);
      enter(after, low, right);
      right = std::min(low, after_group(after));
    }
    for (; before >= 0; --before) {
      const std::int32_t low = std::min(left, inside_[before]);
      enter(before, low, left);
      left = std::min(low, before_group(before));
    }
  }

  // How many ancestors a source shares with each target of a group.
  void count_common_in(Seat seat, std::int64_t group, std::int32_t* found) const {
    const std::int64_t first = begin(group), stop = end(group), middle = seat.place / width_;
    if (seat.place < stop) {
      std::int32_t shared = seat.right;
      std::int64_t k = seat.place;
      if (k < first) {
        for (; k < end(middle); ++k) shared = std::min(shared, shared_[k]);
        for (std::int64_t g = middle + 1; g < group; ++g) {
          shared = std::min({shared, inside_[g], after_group(g)});
        }
        k = first;
      }
      for (; k < stop; ++k) {
        found[k - first] = shared;
        shared = std::min(shared, shared_[k]);
      }
    }
    if (seat.place > first) {
      std::int32_t shared = seat.left;
      std::int64_t k = seat.place - 1;
      if (k >= stop) {
        const std::int64_t last = k / width_;
        for (; k >= begin(last); --k) shared = std::min(shared, shared_[k - 1]);
        for (std::int64_t g = last - 1; g > group; --g) {
          shared = std::min({shared, inside_[g], before_group(g)});
        }
        k = stop - 1;
      }
      for (; k >= first; --k) {
        found[k - first] = shared;
        if (k > 0) shared = std::min(shared, shared_[k - 1]);
      }
    }
  }

 private:
  // What the last target of a group shares with the next one, and the first with the one before.
  std::int32_t after_group(std::int64_t group) const { return shared_[end(group) - 1]; }
  std::int32_t before_group(std::int64_t group) const {
    return group > 0 ? shared_[begin(group) - 1] : 0;
  }
  std::int32_t common(std::int32_t u, std::int32_t v) const {
    return count_common(elimination_, depths_, u, v);
  }

  const Elimination& elimination_;
  const std::int32_t* const depths_;
  const std::int64_t width_;
  const std::vector<std::int32_t> positions_;
  std::vector<std::int32_t> ranks_;
  std::vector<std::int32_t> shared_;  // ancestors in common with the next target
  std::vector<std::int32_t> inside_;  // the least of these between targets of one group
};

// ---- products -----------------------------------------------------------------------------------

// Targets, and entries of the climbs to them, at a time; more go in several blocks.
constexpr std::int64_t kMostColumns = 1 << 16, kMostPacked = 1 << 23;

// Relaxes one row of a tile where its pairs have different numbers of common ancestors.
template <class T>
using RelaxRow = void(std::int64_t begin, const T* a, std::int64_t rows, const T* b,
                      std::int64_t columns, const std::int32_t* common, T* c);

template <class Algebra, class T = typename Algebra::Value>
void relax_row(std::int64_t begin, const T* a, std::int64_t rows, const T* b, std::int64_t columns,
               const std::int32_t* common, T* c) {
  const std::int64_t end = *std::max_element(common, common + columns);
  for (std::int64_t k = begin; k < end; ++k) {
    const T up = a[k * rows];
    const T* const down = b + k * columns;
    for (std::int64_t j = 0; j < columns; ++j) {
      const T through = Algebra::times(up, down[j]);
      c[j] = k < common[j] && Algebra::better(through, c[j]) ? through : c[j];
    }
  }
}

template <class T>
RelaxRow<T>* row_relaxation(Semiring semiring) {
  if (semiring == Semiring::kMaxMin) return &relax_row<MaxMin<T>>;
  if constexpr (std::is_floating_point_v<T>) {
    if (semiring == Semiring::kMaxTimes) return &relax_row<MaxTimes<T>>;
  }
  return &relax_row<MinPlus<T, false>>;
}

// Climbs from some vertices, `width` to a depth: entry [k][i] is what vertex i has at depth k.
template <class T>
class PackedClimb {
 public:
  explicit PackedClimb(const SweepProblem<T>& problem) : climb_(problem) {}

  void pack(const std::int32_t* vertices, std::int64_t count, std::int64_t width,
            std::int64_t depths, T* to) {
    for (std::int64_t first = 0; first < count; first += kLanes<T>) {
      const std::int64_t lanes = std::min<std::int64_t>(kLanes<T>, count - first);
      climb_.climb(vertices + first, static_cast<int>(lanes));
      for (std::int64_t k = 0; k < depths; ++k) {
        std::copy_n(climb_.at_depth(k), lanes, to + k * width + first);
      }
    }
  }

 private:
  LaneClimb<T> climb_;
};

template <class T, class Out>
class Products {
 public:
  Products(const SweepProblem<T>& problem, const SweepRows<Out>& rows)
      : problem_(problem),
        backward_(problem),
        rows_(rows),
        zero_(problem.elements().zero),
        kernel_(closure::tile_kernel<T>(problem.semiring, problem.level,
                                        {simd::has_zen_pipes(), !problem.negative})),
        no_path_(shown_no_path<Out>(problem.semiring, zero_)),
        positions_(sorted_positions(rows.sources, rows.count)),
        sources_(static_cast<std::size_t>(rows.count)),
        targets_(problem.elimination, problem.depths, rows.targets, rows.columns, kernel_.columns),
        depths_(static_cast<std::size_t>(targets_.groups())),
        packs_(static_cast<std::size_t>(targets_.groups())),
        order_(static_cast<std::size_t>(rows.columns)) {
    std::swap(backward_.up, backward_.down);
    for (std::int64_t i = 0; i < rows.count; ++i) sources_[i] = rows.sources[positions_[i]];
    for (std::int64_t k = 0; k < rows.columns; ++k) {
      order_[targets_.positions()[k]] = static_cast<std::int32_t>(k);
    }
  }

  void run(int threads, Monitor& monitor) {
    const std::int64_t groups = (rows_.count + kernel_.rows - 1) / kernel_.rows;
    parallel::run_team(threads, monitor, [&](parallel::Team::Worker& worker) {
      parallel::CancelCheck check_cancelled(monitor, worker.thread());
      worker.loop(targets_.groups(), 16, [&](std::int64_t first, std::int64_t last) {
        for (; first < last; ++first) prepare(first);
        check_cancelled();
      });
      if (worker.is_leader()) divide_into_blocks();
      worker.barrier();
      PackedClimb<T> to_targets(backward_);
      Workspace own(*this);
      for (const Block& block : blocks_) {
        worker.loop(block.end - block.begin, 1, [&](std::int64_t i, std::int64_t) {
          pack_targets(block.begin + i, to_targets);
          check_cancelled();
        });
        worker.loop(groups, 1, [&](std::int64_t i, std::int64_t) {
          const std::int64_t first = i * kernel_.rows;
          const std::int64_t count = std::min<std::int64_t>(kernel_.rows, rows_.count - first);
          multiply(first, count, block, own);
          if (block.end == targets_.groups()) monitor.advance(static_cast<std::uint64_t>(count));
          check_cancelled();
        });
      }
    });
  }

 private:
  // Groups of targets.
  struct Block {
    std::int64_t begin, end;
  };

  // Of one thread.
  struct Workspace {
    explicit Workspace(const Products& all)
        : climb(all.problem_),
          packed(all.problem_.height * all.kernel_.rows),
          seats(static_cast<std::size_t>(all.kernel_.rows)),
          fewest(all.depths_.size()),
          most(all.depths_.size()),
          common(static_cast<std::size_t>(all.kernel_.columns)) {
      std::fill_n(packed.data(), packed.size(), all.zero_);
    }
    PackedClimb<T> climb;
    parallel::AlignedBuffer<T> packed;  // of the group of sources
    parallel::AlignedBuffer<T> values;  // of the group and a block, targets sorted
    std::vector<Seat> seats;
    std::vector<std::int32_t> fewest, most, common;
  };

  // Counts the depths of a group of targets that some source shares.
  void prepare(std::int64_t group) {
    targets_.count_shared(group);
    const auto& elimination = problem_.elimination;
    std::int32_t most = 0;
    for (std::int64_t k = targets_.begin(group); k < targets_.end(group); ++k) {
      const std::int32_t target = targets_.ranks()[k];
      const auto next = std::lower_bound(sources_.begin(), sources_.end(), target);
      const auto look = [&](std::int32_t source) {
        most = std::max(most, count_common(elimination, problem_.depths, source, target));
      };
      if (next != sources_.end()) look(*next);
      if (next != sources_.begin()) look(*(next - 1));
    }
    depths_[group] = most;
  }

  // As many groups as may be packed at a time.
  void divide_into_blocks() {
    std::int64_t largest = 0;
    for (std::int64_t begin = 0, end = 0; begin < targets_.groups(); begin = end) {
      std::int64_t entries = 0;
      for (; end < targets_.groups() && (end - begin) * kernel_.columns < kMostColumns; ++end) {
        const std::int64_t more = std::int64_t{depths_[end]} * kernel_.columns;
        if (end > begin && entries + more > kMostPacked) break;
        packs_[end] = entries;
        entries += more;
      }
      blocks_.push_back({begin, end});
      largest = std::max(largest, entries);
    }
    packed_ = parallel::AlignedBuffer<T>(largest);
  }

  void pack_targets(std::int64_t group, PackedClimb<T>& climb) {
    T* const to = packed_.data() + packs_[group];
    const std::int64_t first = targets_.begin(group), count = targets_.end(group) - first;
    if (count < kernel_.columns) std::fill_n(to, depths_[group] * kernel_.columns, zero_);
    climb.pack(targets_.ranks() + first, count, kernel_.columns, depths_[group], to);
  }

  // The values of a group of sources and a block of targets.
  void multiply(std::int64_t first, std::int64_t count, Block block, Workspace& own) {
    const auto [begin, end] = block;
    const std::int64_t columns = kernel_.columns, rows = kernel_.rows;
    const std::int64_t stride = (end - begin) * columns;
    if (own.values.size() < rows * stride) own.values = parallel::AlignedBuffer<T>(rows * stride);
    std::fill_n(own.values.data(), rows * stride, zero_);
    std::fill(own.fewest.begin(), own.fewest.end(), std::numeric_limits<std::int32_t>::max());
    std::fill(own.most.begin(), own.most.end(), 0);
    for (std::int64_t i = 0; i < count; ++i) {
      own.seats[i] = targets_.seat(sources_[first + i]);
      targets_.bound_common(own.seats[i], own.fewest.data(), own.most.data());
    }
    const std::int32_t depths = *std::max_element(own.most.begin() + begin, own.most.begin() + end);
    own.climb.pack(sources_.data() + first, count, rows, depths, own.packed.data());
    for (std::int64_t group = begin; group < end; ++group) {
      const T* const pack = packed_.data() + packs_[group];
      T* const tile = own.values.data() + (group - begin) * columns;
      const std::int32_t shared = own.fewest[group];
      if (shared > 0) kernel_.multiply(shared, own.packed.data(), pack, tile, stride);
      if (own.most[group] == shared) continue;
      for (std::int64_t i = 0; i < count; ++i) {
        std::fill(own.common.begin(), own.common.end(), 0);
        targets_.count_common_in(own.seats[i], group, own.common.data());
        relax_row_(shared, own.packed.data() + i, rows, pack, columns, own.common.data(),
                   tile + i * stride);
      }
    }
    for (std::int64_t i = 0; i < count; ++i) {
      write(own.values.data() + i * stride, block, positions_[first + i]);
    }
  }

  // Copies a row of the block to where its targets come in the matrix.
  void write(const T* from, Block block, std::int64_t position) const {
    Out* const row = rows_.values + position * rows_.columns;
    const auto shown = [&](T value) {
      const Out out = static_cast<Out>(value);
      return out == no_path_.inside ? no_path_.outside : out;
    };
    if (blocks_.size() == 1) {
      for (std::int64_t j = 0; j < rows_.columns; ++j) row[j] = shown(from[order_[j]]);
      return;
    }
    const std::int64_t first = targets_.begin(block.begin), stop = targets_.end(block.end - 1);
    for (std::int64_t k = first; k < stop; ++k) {
      row[targets_.positions()[k]] = shown(from[k - first]);
    }
  }

  const SweepProblem<T>& problem_;
  SweepProblem<T> backward_;  // climbs to vertices
  const SweepRows<Out>& rows_;
  const T zero_;
  const closure::TileKernel<T> kernel_;
  const Replacement<Out> no_path_;
  RelaxRow<T>* const relax_row_ = row_relaxation<T>(problem_.semiring);
  const std::vector<std::int32_t> positions_;
  std::vector<std::int32_t> sources_;  // sorted
  TargetGroups targets_;
  std::vector<std::int32_t> depths_;  // of each group of targets, to pack
  std::vector<std::int64_t> packs_;   // where its climbs are
  std::vector<Block> blocks_;
  std::vector<std::int32_t> order_;  // the place of each target among the sorted ones
  parallel::AlignedBuffer<T> packed_;
};

std::int64_t count_ancestor_arcs(const Elimination& elimination, const std::int32_t* ranks,
                                 std::int64_t count) {
  std::vector<bool> seen(static_cast<std::size_t>(elimination.n));
  std::int64_t arcs = 0;
  for (std::int64_t i = 0; i < count; ++i) {
    for (std::int32_t v = ranks[i]; v >= 0 && !seen[v]; v = elimination.parents[v]) {
      seen[v] = true;
      arcs += elimination.offsets[v + 1] - elimination.offsets[v];
    }
  }
  return arcs;
}

}  // namespace

MatrixWork matrix_work(const Elimination& elimination, const std::int32_t* depths,
                       const std::int32_t* sources, std::int64_t source_count,
                       const std::int32_t* targets, std::int64_t target_count) {
  constexpr std::int64_t kSample = 256, kStep = 7919;  // a prime, to pair sources with any targets
  MatrixWork work{count_ancestor_arcs(elimination, sources, source_count),
                  count_ancestor_arcs(elimination, targets, target_count), 0, 0};
  if (source_count == 0 || target_count == 0) return work;
  for (std::int64_t i = 0; i < kSample; ++i) {
    const std::int32_t s = sources[i * source_count / kSample];
    const std::int32_t t = targets[i * kStep % target_count];
    work.common += static_cast<double>(count_common(elimination, depths, s, t)) / kSample;
    for (std::int32_t v = s; v >= 0; v = elimination.parents[v]) {
      const std::int64_t arcs = elimination.offsets[v + 1] - elimination.offsets[v];
      work.climb += static_cast<double>(arcs) / kSample;
    }
  }
  return work;
}

template <class T, class Out>
void multiply_climbs(const SweepProblem<T>& problem, const SweepRows<Out>& rows, int threads,
                     Monitor& monitor) {
  if (rows.count == 0 || rows.columns == 0) return;
  Products<T, Out>(problem, rows).run(threads, monitor);
}

#define KLEENE_PRODUCTS(T, Out) \
  template void multiply_climbs(const SweepProblem<T>&, const SweepRows<Out>&, int, Monitor&);
KLEENE_PRODUCTS(float, float)
KLEENE_PRODUCTS(double, double)
KLEENE_PRODUCTS(std::int32_t, std::int32_t)
KLEENE_PRODUCTS(std::int32_t, std::int64_t)
KLEENE_PRODUCTS(std::int64_t, std::int64_t)
#undef KLEENE_PRODUCTS

}  // namespace kleene::prepared
