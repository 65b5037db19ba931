// Pairs of an elimination unpacked into arcs of the graph.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "prepared/elimination/elimination.hpp"

namespace kleene::prepared {

// What lies inside each pair's best path: a vertex below both ends, a rank; -1 for an arc.
struct Middles {
  const std::int32_t* up;
  const std::int32_t* down;
};

class Unpacker {
 public:
  Unpacker(const Elimination& elimination, const Middles& middles, const std::int32_t* order)
      : elimination_(elimination), middles_(middles), order_(order) {}

  // Appends the vertices after the first one of the path from one end of a pair to the other, in
  // the numbering of the graph. The ends are ranks.
  void append(std::int32_t from, std::int32_t to, std::vector<std::int32_t>& path) {
    const auto [low, high] = std::minmax(from, to);
    Part part{find(row(low), row(low + 1), high) - elimination_.heads, from, to};
    for (;;) {
      const bool up = part.from < part.to;
      const std::int32_t middle = (up ? middles_.up : middles_.down)[part.pair];
      if (middle >= 0) {
        part = split(part, middle, up);
        continue;
      }
      path.push_back(order_[part.to]);
      if (pending_.empty()) return;
      part = pending_.back();
      pending_.pop_back();
    }
  }

 private:
  struct Part {
    std::int64_t pair;  // of the two ends
    std::int32_t from, to;
  };

  // A pair with something inside becomes two pairs of the vertex in its middle, which is below
  // both ends: returns the way down to it, and leaves the way up from it for later.
  Part split(const Part& part, std::int32_t middle, bool up) {
    const std::int32_t* const end = row(middle + 1);
    const std::int32_t* const low = find(row(middle), end, up ? part.from : part.to);
    const std::int32_t* const high = find(low + 1, end, up ? part.to : part.from);
    const std::int64_t down_pair = (up ? low : high) - elimination_.heads;
    const std::int64_t up_pair = (up ? high : low) - elimination_.heads;
    __builtin_prefetch(middles_.up + up_pair);
    pending_.push_back({up_pair, middle, part.to});
    return {down_pair, part.from, middle};
  }

  const std::int32_t* row(std::int32_t v) const {
    return elimination_.heads + elimination_.offsets[v];
  }

  // Where a head is; most often it comes first.
  static const std::int32_t* find(const std::int32_t* begin, const std::int32_t* end,
                                  std::int32_t head) {
    return *begin == head ? begin : std::lower_bound(begin + 1, end, head);
  }

  const Elimination elimination_;
  const Middles middles_;
  const std::int32_t* const order_;
  std::vector<Part> pending_;
};

// Cuts out what a walk does between two visits of the same vertex. Such detours cost nothing: a
// shortest path over arcs of length zero may have them, and so may a widest one.
class LoopCutter {
 public:
  explicit LoopCutter(std::int64_t n) : seen_(static_cast<std::size_t>(n), kNowhere) {}

  // Of a walk that begins at path[first].
  void cut(std::vector<std::int32_t>& path, std::size_t first) {
    std::size_t end = first;  // of what is kept
    for (std::size_t i = first; i < path.size(); ++i) {
      const std::int32_t v = path[i];
      if (const std::int32_t at = seen(v); at != kNowhere) {
        while (end > first + static_cast<std::size_t>(at) + 1) seen(path[--end]) = kNowhere;
      } else {
        seen(v) = static_cast<std::int32_t>(end - first);
        path[end++] = v;
      }
    }
    path.resize(end);
    for (std::size_t i = first; i < end; ++i) seen(path[i]) = kNowhere;
  }

 private:
  static constexpr std::int32_t kNowhere = -1;

  std::int32_t& seen(std::int32_t v) { return seen_[static_cast<std::size_t>(v)]; }

  std::vector<std::int32_t> seen_;  // how far along the walk a vertex is
};

}  // namespace kleene::prepared
