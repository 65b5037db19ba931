// Positions 0 .. size - 1 of a queue that one thread fills and all empty: its owner takes small
// pieces, in order; a thread with nothing left of its own steals chunks.
//
// Entries that follow one another often lie near each other in the graph, and lead to vertices that
// do. So chunks are large: a thread that steals every other piece would for ever share cache lines
// with the owner, which costs more than it helps (on roads, 17 ms and not 12 of two cores that are
// 170 ns apart).
#pragma once

#include <algorithm>
#include <atomic>
#include <cstdint>

namespace kleene::parallel {

class StealableRange {
 public:
  struct Piece {
    std::int64_t begin, end;
    bool empty() const { return begin >= end; }
  };

  // Between rounds only.
  void reset(std::int64_t size) {
    size_ = size;
    taken_.store(0, std::memory_order_relaxed);
  }

  // The owner's next piece.
  Piece take(std::int64_t grain) {
    if (taken_.load(std::memory_order_relaxed) >= size_) return {size_, size_};
    const std::int64_t at = taken_.fetch_add(grain, std::memory_order_relaxed);
    return {at, std::min(at + grain, size_)};
  }

  // A share of what is left for one of so many threads; nothing when less than `least` is left,
  // which the owner, or the leader, soon has done.
  Piece steal(int threads, std::int64_t grain, std::int64_t least) {
    std::int64_t at = taken_.load(std::memory_order_relaxed), end;
    do {
      const std::int64_t left = size_ - at;
      if (left <= 0 || left < least) return {size_, size_};
      end = std::min(size_, at + std::max(grain, left / threads));
    } while (!taken_.compare_exchange_weak(at, end, std::memory_order_relaxed));
    return {at, end};
  }

 private:
  std::int64_t size_ = 0;
  std::atomic<std::int64_t> taken_{0};
};

}  // namespace kleene::parallel
