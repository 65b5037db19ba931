// Shortest paths from several sources at once, one to a lane of a vector.
//
// Every vertex has a vector of tentative distances, one for each source, and an arc is relaxed for
// all sources by one addition and one minimum. A vertex waits in a bucket by the smallest distance
// that has improved since it was last looked at; so vertices come in order, or nearly, as in
// delta-stepping (Meyer and Sanders 2003). Sources that are near each other reach most vertices at
// about the same time, and those are looked at two or three times for 16 sources: on roads, where
// the sources of a batch are neighbours, and on small worlds, where everything is near.
//
// A search that starts again and again at distant sources of a wide graph would look at vertices as
// often as single searches do. `worth` tells after a batch whether it was so.
//
// Strict improvements alone change a predecessor, and lengths are not negative: so predecessors
// form a tree, arcs of length zero or not, rounding or not.
#pragma once

#include <algorithm>
#include <vector>

#include "buckets.hpp"
#include "buffer.hpp"
#include "sssp.hpp"
#include "sssp_lanes_kernel.hpp"

namespace kleene {

template <class Value>
class LaneSearch {
 public:
  using Id = std::int32_t;

  LaneSearch(const SsspProblem<Id, Value>& problem, bool paths, double width)
      : arcs_(problem.out),
        lengths_(problem.lengths),
        limit_(problem.stop.limit),
        width_(width),
        relax_(relax_lanes<Value>(problem.level)),
        distances_(arcs_.n * kWidth),
        last_(paths ? arcs_.n * kWidth : 0),
        keys_(static_cast<std::size_t>(arcs_.n)),
        slots_(kSlots + 1),
        improved_(kChunk),
        nearest_(kChunk) {}

  // Searches from up to kWidth sources; rows[k] is filled for sources[k].
  void search(const Id* sources, int count, const Row<Id, Value>* rows, Watch watch) {
    begin(sources, count);
    while (true) {
      for (int slot = 0; slot < kSlots; ++slot) empty(slot, watch);
      if (!move_on()) break;
    }
    for (auto& slot : slots_) slot.clear();
    hand_over(count, rows);
  }

  // Did the sources of the last batch share enough work?
  bool worth() const { return looked_ <= kMostLooks * std::max<std::int64_t>(1, reached_); }

 private:
  static constexpr int kWidth = kLanes<Value>;
  static constexpr int kMostLooks = kWidth * 3 / 8;
  static constexpr std::int64_t kChunk = 1024;  // arcs relaxed in one call

  // Farther than any path, and so that a length can be added to it.
  static constexpr Value kNone = std::numeric_limits<Value>::has_infinity
                                     ? kNoPath<Value>
                                     : kNoPath<Value> - kNoPath<Value> / 2;

  void begin(const Id* sources, int count) {
    std::fill_n(distances_.data(), arcs_.n * kWidth, kNone);
    if (last_.size()) std::fill_n(last_.data(), arcs_.n * kWidth, LaneIndex<Value>{-1});
    std::fill(keys_.begin(), keys_.end(), kNone);
    looked_ = reached_ = 0;
    scale_ = Scale<Value>(0, width_);
    for (int k = 0; k < count; ++k) {
      distances_[std::int64_t{sources[k]} * kWidth + k] = 0;
      wait(sources[k], 0);
    }
  }

  // Puts a vertex where its new key belongs, unless it is there.
  void wait(Id v, Value key) {
    const Value before = keys_[v];
    if (!(key < before)) return;
    keys_[v] = key;
    const int slot = scale_.slot(key);
    if (before == kNone || scale_.slot(before) != slot) slots_[slot].push_back(v);
  }

  // Looks at the vertices of a slot until there are none, those that enter it meanwhile too.
  void empty(int slot, Watch& watch) {
    auto& waiting = slots_[slot];
    for (std::size_t at = 0; at < waiting.size(); ++at) {
      const Id u = waiting[at];
      if (keys_[u] == kNone || scale_.slot(keys_[u]) != slot) continue;  // was looked at, or moved
      keys_[u] = kNone;
      if (++looked_ % 1024 == 0) watch.look();
      look_at(u);
    }
    waiting.clear();
  }

  void look_at(Id u) {
    const Value* from = distances_.data() + std::int64_t{u} * kWidth;
    LaneIndex<Value>* last = last_.size() ? last_.data() : nullptr;
    const std::int64_t end = arcs_.offsets[u + 1];
    for (std::int64_t i = arcs_.offsets[u]; i < end; i += kChunk) {
      const std::int64_t found =
          relax_(from, u, std::min(kChunk, end - i), arcs_.neighbors + i, lengths_ + i, kNone,
                 distances_.data(), last, improved_.data(), nearest_.data());
      for (std::int64_t k = 0; k < found; ++k) wait(improved_[k], nearest_[k]);
    }
  }

  // Moves the window to the nearest of what lies beyond it; false if nothing within the limit does.
  bool move_on() {
    std::vector<Id> far;
    std::swap(far, slots_[kSlots]);
    std::erase_if(far, [&](Id v) { return keys_[v] == kNone; });
    Value base = kNone;
    for (const Id v : far) base = std::min(base, keys_[v]);
    if (far.empty() || base > limit_) return false;
    scale_ = Scale<Value>(base, width_);
    for (const Id v : far) slots_[scale_.slot(keys_[v])].push_back(v);
    return true;
  }

  void hand_over(int count, const Row<Id, Value>* rows) {
    for (std::int64_t v = 0; v < arcs_.n; ++v) {
      const Value* distances = distances_.data() + v * kWidth;
      bool any = false;
      for (int k = 0; k < count; ++k) {
        const bool there = distances[k] < kNone && !(distances[k] > limit_);
        any |= there;
        rows[k].values[v] = there ? distances[k] : kNoPath<Value>;
        if (rows[k].parents) {
          rows[k].parents[v] = there ? static_cast<Id>(last_[v * kWidth + k]) : Id{-1};
        }
      }
      reached_ += any;
    }
  }

  const Arcs<Id> arcs_;
  const Value* const lengths_;
  const Value limit_;
  const double width_;
  RelaxLanes<Value>* const relax_;
  AlignedBuffer<Value> distances_;
  AlignedBuffer<LaneIndex<Value>> last_;
  std::vector<Value> keys_;             // the smallest distance not yet passed on; kNone: all are
  std::vector<std::vector<Id>> slots_;  // the last is the far pile
  Scale<Value> scale_{0, 1};
  std::vector<Id> improved_;
  std::vector<Value> nearest_;
  std::int64_t looked_ = 0, reached_ = 0;
};

}  // namespace kleene
