// What a sweep goes over and in which pieces: all vertices or some of them, descending.
#pragma once

#include <algorithm>
#include <functional>
#include <vector>

#include "prepared/sweep.hpp"

namespace kleene::prepared {

// Vertices swept between two looks at the monitor: a millisecond or less.
constexpr std::int64_t kSweepGrain = 1 << 17;

// The ancestors of some ranks, descending, and where each rank is among them.
struct Ancestors {
  std::vector<std::int32_t> list, columns;

  Ancestors(const Elimination& elimination, const std::int32_t* ranks, std::int64_t count)
      : columns(static_cast<std::size_t>(count)) {
    std::vector<std::int32_t> place(static_cast<std::size_t>(elimination.n), -1);
    for (std::int64_t j = 0; j < count; ++j) {
      for (std::int32_t v = ranks[j]; v >= 0 && place[v] < 0; v = elimination.parents[v]) {
        place[v] = 0;
      }
    }
    for (std::int64_t v = elimination.n; v-- > 0;) {
      if (place[v] < 0) continue;
      place[v] = static_cast<std::int32_t>(list.size());
      list.push_back(static_cast<std::int32_t>(v));
    }
    for (std::int64_t j = 0; j < count; ++j) columns[j] = place[ranks[j]];
  }
};

struct Piece {
  std::int64_t begin, end;
};

// Positions count the vertices in the order of the sweep.
struct SweepPlan {
  const std::int32_t* list;  // null: all vertices
  std::int64_t count;
  std::vector<Piece> top;       // swept first, by one thread
  std::vector<Piece> subtrees;  // then in any order

  SweepPlan(const Elimination& elimination, const std::vector<std::int32_t>* vertices)
      : list(vertices ? vertices->data() : nullptr),
        count(vertices ? static_cast<std::int64_t>(vertices->size()) : elimination.n),
        n_(elimination.n) {}

  std::int64_t vertex(std::int64_t position) const {
    return list ? list[position] : n_ - 1 - position;
  }
  // The first position, from `begin` on, whose vertex is `v` or below.
  std::int64_t position(std::int64_t v, std::int64_t begin) const {
    if (!list) return n_ - 1 - v;
    return std::lower_bound(list + begin, list + count, v, std::greater<>()) - list;
  }

  void divide_evenly() {
    for (std::int64_t at = 0; at < count; at += kSweepGrain) {
      top.push_back({at, std::min(count, at + kSweepGrain)});
    }
  }
  // Subtrees of at most a sixteenth of a thread's share; tiny ones are not worth a start.
  void divide_by_subtrees(const std::int32_t* sizes, int threads) {
    const std::int64_t largest = std::max<std::int64_t>(1, count / (16 * threads));
    for (std::int64_t at = 0; at < count;) {
      const std::int64_t v = vertex(at), end = position(v - sizes[v], at);
      const bool tiny = end - at < largest / 64;
      const std::int64_t stop = end - at > largest ? at + 1 : end;
      if (stop < end || tiny) {
        if (!top.empty() && top.back().end == at) {
          top.back().end = stop;
        } else {
          top.push_back({at, stop});
        }
      } else {
        subtrees.push_back({at, stop});
      }
      at = stop;
    }
  }

 private:
  std::int64_t n_;
};

// The batches of sources: positions sorted by rank, kLanes at a time.
struct Batches {
  std::vector<std::int32_t> positions;
  std::int64_t width;

  std::int64_t count() const {
    return (static_cast<std::int64_t>(positions.size()) + width - 1) / width;
  }
  const std::int32_t* begin(std::int64_t b) const { return positions.data() + b * width; }
  std::int64_t size(std::int64_t b) const {
    return std::min(width, static_cast<std::int64_t>(positions.size()) - b * width);
  }
};

}  // namespace kleene::prepared
