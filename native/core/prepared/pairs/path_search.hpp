// The best path between two vertices, as vertices of the graph.
#pragma once

#include <cstdint>
#include <vector>

#include "prepared/pairs/pair_search.hpp"
#include "prepared/pairs/unpack.hpp"

namespace kleene::prepared {

template <class Algebra>
class PathSearch {
 public:
  PathSearch(const Elimination& elimination, const ClimbTree& tree, const std::int32_t* order,
             const PairValues<typename Algebra::Value>& values, const Middles& middles, bool prune,
             int level)
      : tree_(tree),
        order_(order),
        search_(tree, values, prune, true, level),
        unpacker_(elimination, middles, order),
        cutter_(elimination.n) {}

  // Appends the vertices of the path from s to t, which are ranks; nothing if there is none.
  void append(std::int32_t s, std::int32_t t, std::vector<std::int32_t>& path) {
    const std::size_t first = path.size();
    if (s == t) return path.push_back(order_[s]);
    const std::int32_t meeting = search_.search(s, t).place;
    if (meeting < 0) return;
    path.push_back(order_[s]);
    append_climb(tree_.row(s).place, meeting, path);
    append_descent(meeting, tree_.row(t).place, path);
    cutter_.cut(path, first);
  }

 private:
  void append_climb(std::int32_t start, std::int32_t meeting, std::vector<std::int32_t>& path) {
    ClimbState<Algebra>& climb = search_.origin();
    places_.clear();
    for (std::int32_t place = meeting; place != start; place = climb.tail(place)) {
      places_.push_back(place);
    }
    for (std::int32_t below = start; !places_.empty(); places_.pop_back()) {
      const std::int32_t above = places_.back();
      unpacker_.append(climb.ancestor(below), climb.ancestor(above), path);
      below = above;
    }
  }

  void append_descent(std::int32_t meeting, std::int32_t end, std::vector<std::int32_t>& path) {
    ClimbState<Algebra>& climb = search_.destination();
    for (std::int32_t above = meeting, below; above != end; above = below) {
      below = climb.tail(above);
      unpacker_.append(climb.ancestor(above), climb.ancestor(below), path);
    }
  }

  const ClimbTree& tree_;
  const std::int32_t* const order_;
  PairSearch<Algebra> search_;
  Unpacker unpacker_;
  LoopCutter cutter_;
  std::vector<std::int32_t> places_;
};

}  // namespace kleene::prepared
