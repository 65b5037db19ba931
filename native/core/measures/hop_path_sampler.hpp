// A uniform random path among all paths of fewest arcs between two vertices, by balanced
// bidirectional breadth-first search (Borassi and Natale 2016, "KADABRA is an ADaptive Algorithm
// for Betweenness via Random Approximation").
//
// Two searches, forward from the source and backward from the target, count shortest paths level by
// level; the one whose frontier has fewer arcs goes next. While they have not met, no vertex
// belongs to both, and no arc joins them but from one frontier to the other: an older arc would
// have been scanned, and its far end taken. So the level that meets the other frontier finds all
// meeting arcs, every shortest path has exactly one of them, and arc (u, v) lies on (paths to u) x
// (paths from v) of them. One is drawn with that probability; from its ends the path goes back
// level by level, to a predecessor with a probability in proportion to its count.
//
// On graphs with hubs and short paths such a search scans about the square root of all arcs. It
// must not spend more than it scans, so nothing is reset: each level has a number (`Mark`) of its
// own, higher than all numbers of earlier samples.
#pragma once

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>
#include <memory>
#include <type_traits>
#include <utility>
#include <vector>

#include "graph/arcs.hpp"
#include "measures/path_draws.hpp"

namespace kleene::measures {

using namespace parallel;
using namespace graph;

enum class Sampled { kPath, kNoPath, kTooManyPaths };

// The searches of one thread, with counts of one type.
template <class Id, class Count>
class HopPathSearch {
 public:
  HopPathSearch(const Arcs<Id>& outgoing, const Arcs<Id>& incoming, CancelCheck check_cancelled)
      : forward_{outgoing, incoming},
        backward_{incoming, outgoing},
        check_cancelled_(check_cancelled),
        vertices_(static_cast<std::size_t>(outgoing.n)) {}

  // Fills `path` with the vertices from source to target, which are different.
  Sampled sample(Id source, Id target, PathDraws draws, std::vector<Id>& path) {
    begin(source, target);
    for (;;) {
      if (forward_.frontier.empty() || backward_.frontier.empty()) return Sampled::kNoPath;
      const bool ahead = forward_.frontier_arcs <= backward_.frontier_arcs;
      Side &near = ahead ? forward_ : backward_, &far = ahead ? backward_ : forward_;
      if (!counts_fit(near)) return Sampled::kTooManyPaths;
      if (!expand(near, far, draws)) continue;
      path.clear();
      walk_to_start(forward_, ahead ? near_end_ : far_end_, draws, path);
      std::reverse(path.begin(), path.end());
      walk_to_start(backward_, ahead ? far_end_ : near_end_, draws, path);
      return Sampled::kPath;
    }
  }

 private:
  using Mark = std::make_unsigned_t<Id>;

  struct Vertex {
    Count count{};  // shortest paths from the start of its side
    Mark mark = 0;  // of its level; below first_mark_: not visited by this sample
  };

  // One of the two searches.
  struct Side {
    Arcs<Id> ahead, back;  // arcs that lead away from its start, and towards it
    std::vector<Id> frontier{};
    std::vector<Mark> levels{};  // their marks, from the start to the frontier
    std::int64_t frontier_arcs = 0;
    int count_bits = 0;  // every count of the frontier is below 2 to this power
  };

  // The product of a count of either side, and sums of such products, stay in the range of doubles.
  static constexpr int kMostBits = 450;
  static constexpr std::uint64_t kCheckEvery = 1024;  // vertices
  static constexpr std::int64_t kPrefetch = 12;       // arcs

  void begin(Id source, Id target) {
    constexpr Mark kEnd = std::numeric_limits<Mark>::max();
    if (mark_ > kEnd - static_cast<Mark>(vertices_.size()) - 4) {  // a path has at most n levels
      for (Vertex& vertex : vertices_) vertex.mark = 0;
      mark_ = 0;
    }
    first_mark_ = mark_ + 1;
    begin(forward_, source);
    begin(backward_, target);
  }

  void begin(Side& side, Id start) {
    side.frontier.assign(1, start);
    side.levels.assign(1, ++mark_);
    side.frontier_arcs = side.ahead.degree(start);
    side.count_bits = 1;
    vertices_[start] = {Count(1.0), mark_};
  }

  // Are counts of the next level in the range of their type? Each is a sum over arcs of the
  // frontier; where that bound is too high, the largest count itself gives a better one.
  bool counts_fit(Side& side) {
    if constexpr (std::is_same_v<Count, double>) {
      const int more = std::bit_width(static_cast<std::uint64_t>(side.frontier_arcs));
      if (side.count_bits + more > kMostBits) {
        double largest = 1;
        for (const Id v : side.frontier) largest = std::max(largest, vertices_[v].count);
        side.count_bits = std::ilogb(largest) + 1;
      }
      side.count_bits += more;
      return side.count_bits <= kMostBits;
    }
    return true;
  }

  // Replaces the frontier by the next level. Returns true where it meets the far side's frontier
  // instead; then near_end_ and far_end_ are a random meeting arc.
  bool expand(Side& near, const Side& far, PathDraws& draws) {
    const Mark next = ++mark_, far_mark = far.levels.back(), first = first_mark_;
    const Id* const neighbors = near.ahead.neighbors;
    Count total{};
    bool met = false;
    next_.clear();
    for (const Id u : near.frontier) {
      if (++steps_ % kCheckEvery == 0) check_cancelled_();
      const Count count = vertices_[u].count;
      const std::int64_t end = near.ahead.offsets[u + 1];
      for (std::int64_t i = near.ahead.offsets[u]; i < end; ++i) {
        if (i + kPrefetch < end) __builtin_prefetch(&vertices_[neighbors[i + kPrefetch]]);
        const Id v = neighbors[i];
        Vertex& vertex = vertices_[v];
        if (vertex.mark < first) {
          if (met) continue;  // the next level will not be searched
          vertex = {count, next};
          next_.push_back(v);
        } else if (vertex.mark == next) {
          vertex.count += count;
        } else if (vertex.mark == far_mark) {
          // Of the meeting arcs so far, this is the one with probability product / total.
          const Count product = count * vertex.count;
          total += product;
          if (!met || draws.unit() < ratio(product, total)) near_end_ = u, far_end_ = v;
          met = true;
        }
      }
    }
    if (met) return true;
    std::swap(near.frontier, next_);
    near.levels.push_back(next);
    near.frontier_arcs = 0;
    for (const Id v : near.frontier) near.frontier_arcs += near.ahead.degree(v);
    return false;
  }

  // Appends the vertices from v, in the last level of a side, to the start of the side.
  void walk_to_start(const Side& side, Id v, PathDraws& draws, std::vector<Id>& path) {
    path.push_back(v);
    for (std::size_t level = side.levels.size() - 1; level-- > 0;) {
      const Mark mark = side.levels[level];
      v = choose_by_count<Id>(vertices_[v].count, draws, [&](auto&& visit) {
        for (std::int64_t i = side.back.offsets[v]; i < side.back.offsets[v + 1]; ++i) {
          const Id u = side.back.neighbors[i];
          if (vertices_[u].mark == mark && visit(u, vertices_[u].count)) return;
        }
      });
      path.push_back(v);
    }
  }

  Side forward_, backward_;
  CancelCheck check_cancelled_;
  std::vector<Vertex> vertices_;
  Mark mark_ = 0, first_mark_ = 0;
  std::vector<Id> next_;
  Id near_end_ = 0, far_end_ = 0;
  std::uint64_t steps_ = 0;
};

// The sampler of one thread: counts are doubles unless they grow too large.
template <class Id>
class HopPathSampler {
 public:
  HopPathSampler(const Arcs<Id>& outgoing, const Arcs<Id>& incoming, CancelCheck check_cancelled)
      : outgoing_(outgoing),
        incoming_(incoming),
        check_cancelled_(check_cancelled),
        search_(outgoing, incoming, check_cancelled) {}

  // Fills `path` with the vertices of a path from source to target; false if there is none.
  bool sample(Id source, Id target, const PathDraws& draws, std::vector<Id>& path) {
    Sampled sampled = search_.sample(source, target, draws, path);
    if (sampled == Sampled::kTooManyPaths) {
      if (!scaled_) {
        scaled_ = std::make_unique<HopPathSearch<Id, ScaledCount>>(outgoing_, incoming_,
                                                                   check_cancelled_);
      }
      sampled = scaled_->sample(source, target, draws, path);
    }
    return sampled == Sampled::kPath;
  }

 private:
  const Arcs<Id> outgoing_, incoming_;
  CancelCheck check_cancelled_;
  HopPathSearch<Id, double> search_;
  std::unique_ptr<HopPathSearch<Id, ScaledCount>> scaled_;
};

}  // namespace kleene::measures
