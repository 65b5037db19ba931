// Pairs of an elimination unpacked into arcs of the graph.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "prepared/elimination.hpp"

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
    pending_.push_back({pair_of(from, to), from, to});
    unpack(path);
  }

 private:
  struct Part {
    std::int64_t pair;
    std::int32_t from, to;
  };

  // A pair with something inside becomes two pairs of the vertex in its middle, which is below
  // both ends: down to it, and up from it.
  void unpack(std::vector<std::int32_t>& path) {
    while (!pending_.empty()) {
      const Part part = pending_.back();
      pending_.pop_back();
      const std::int32_t* const middles = part.from < part.to ? middles_.up : middles_.down;
      const std::int32_t middle = middles[part.pair];
      if (middle < 0) {
        path.push_back(order_[part.to]);
        continue;
      }
      pending_.push_back({pair_of(middle, part.to), middle, part.to});
      pending_.push_back({pair_of(part.from, middle), part.from, middle});
    }
  }

  // Where the values of a pair are: in the row of its lower end.
  std::int64_t pair_of(std::int32_t u, std::int32_t v) const {
    const auto [low, high] = std::minmax(u, v);
    const std::int32_t* const begin = elimination_.heads + elimination_.offsets[low];
    const std::int32_t* const end = elimination_.heads + elimination_.offsets[low + 1];
    return std::lower_bound(begin, end, high) - elimination_.heads;
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
