// The targets of a matrix, sorted by rank, in groups, and how many ancestors they have in common
// with a source: with those on one side of it, the fewer the farther they are in the order of
// ranks.
#pragma once

#include <algorithm>
#include <limits>
#include <vector>

#include "prepared/sweeps/sweep_products.hpp"

namespace kleene::prepared {

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

}  // namespace kleene::prepared
