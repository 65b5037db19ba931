// A uniform random path among all shortest paths between two vertices, by weights that are not
// negative.
//
// An arc (u, v) is tight when distance(u) + weight = distance(v), in the arithmetic of a search
// from the source: int64 for integers, float64 for floats. Tight arcs that lead to the target are
// the shortest paths; a depth-first search backward from the target lists their vertices,
// predecessors first, and paths are counted in that order. So arcs of weight zero are counted
// rightly, and counts are kept for the few vertices on shortest paths only. From the target, the
// path goes back to a predecessor with a probability in proportion to its count.
//
// Distances from the source come from Dijkstra's algorithm, with a search from the target that says
// where it need not go (Pohl 1971, "Bi-directional search"):
//
//   1. Both searches go on, the one that has scanned fewer arcs next, until what they have settled
//      holds a shortest path: its length is `best`.
//   2. The search from the source goes on to the target.
//
// Both leave out vertices whose distance from one end and least distance to the other, which the
// other search knows, add up to more than the best path that was found.
//
// A vertex on a shortest path is never left out, nor are its predecessors there, so its distance is
// the one of a whole search, to the last bit; float sums that begin at the target would not be.
// They round differently, which a little slack on `best` allows for.
#pragma once

#include <algorithm>
#include <cstdint>
#include <limits>
#include <type_traits>
#include <utility>
#include <vector>

#include "graph/arcs.hpp"
#include "measures/path_draws.hpp"
#include "measures/shortest_path_arcs.hpp"
#include "sssp/heap.hpp"

namespace kleene::measures {

using namespace parallel;
using namespace graph;

template <class Id, class Weight>
class WeightedPathSampler {
 public:
  WeightedPathSampler(const Arcs<Id, Weight>& outgoing, const Arcs<Id, Weight>& incoming,
                      CancelCheck check_cancelled)
      : incoming_(incoming),
        check_cancelled_(check_cancelled),
        forward_{outgoing, std::vector<Vertex>(static_cast<std::size_t>(outgoing.n))},
        backward_{incoming, std::vector<Vertex>(static_cast<std::size_t>(outgoing.n))},
        vertices_(forward_.vertices) {}

  // Fills `path` with the vertices of a path from source to target; false if there is none. Throws
  // CycleOfLengthZero where arcs add nothing to a distance, as 1e-20 to 1.
  bool sample(Id source, Id target, PathDraws draws, std::vector<Id>& path) {
    if (!settle(source, target)) return false;
    list_paths(source, target);
    path.clear();
    if (!walk_back(counts_, draws, path)) walk_back(scaled_counts_, draws, path);
    return true;
  }

 private:
  using Length = std::conditional_t<std::is_floating_point_v<Weight>, double, std::int64_t>;

  struct Vertex {
    Length distance{};
    std::uint32_t epoch = 0;  // of the sample that reached it last
    Id rank = kUnseen;        // position in listed_, once that is known
  };

  static constexpr Id kUnseen = -1, kOnStack = std::numeric_limits<Id>::max();
  static constexpr Length kFarthest = std::numeric_limits<Length>::max();
  static constexpr std::uint64_t kCheckEvery = 1024;  // settled vertices

  // One of the two searches.
  struct Side {
    Arcs<Id, Weight> arcs;
    std::vector<Vertex> vertices{};
    sssp::QuadHeap<Id, Length> queue{};
    Length radius = 0;  // vertices that are nearer are settled
    std::int64_t scanned = 0;
  };

  bool is_reached(const Side& side, Id v) const { return side.vertices[v].epoch == epoch_; }

  void begin(Side& side, Id start) {
    side.queue.clear();
    side.radius = 0;
    side.scanned = 0;
    lower(side, start, 0);
  }

  void lower(Side& side, Id v, Length distance) {
    side.vertices[v] = {distance, epoch_, kUnseen};
    side.queue.push({distance, v});
  }

  // Takes the nearest vertex from the queue and calls reach(v, distance) for the vertices that get
  // nearer through it. False if there is none, or it is beyond the limit.
  template <class Reach>
  bool settle_next(Side& side, Length limit, Reach&& reach) {
    while (!side.queue.empty()) {
      const auto [distance, u] = side.queue.pop();
      if (distance > limit) return false;
      if (distance != side.vertices[u].distance) continue;
      if (++steps_ % kCheckEvery == 0) check_cancelled_();
      side.radius = distance;
      side.scanned += side.arcs.degree(u) + 1;
      for (std::int64_t i = side.arcs.offsets[u]; i < side.arcs.offsets[u + 1]; ++i) {
        const Id v = side.arcs.neighbors[i];
        const Length through = distance + static_cast<Length>(side.arcs.weights[i]);
        if (!is_reached(side, v) || through < side.vertices[v].distance) reach(v, through);
      }
      return true;
    }
    return false;
  }

  // Finds the distances from the source of all vertices on shortest paths; false if there is none.
  bool settle(Id source, Id target) {
    if (++epoch_ == 0) {  // all epochs are used
      for (Side* side : {&forward_, &backward_}) {
        for (Vertex& vertex : side->vertices) vertex.epoch = 0;
      }
      epoch_ = 1;
    }
    begin(forward_, source);
    begin(backward_, target);
    Length best = kFarthest, bound = kFarthest;
    // Vertex v is at this distance from the start of `side`, if it can be on a shortest path.
    const auto reach = [&](Side& side, const Side& other, Id v, Length distance) {
      const bool met = is_reached(other, v);
      const Length beyond = met ? other.vertices[v].distance : other.radius;
      if (bound - distance < std::min(beyond, other.radius)) return;
      lower(side, v, distance);
      if (!met || best - distance <= beyond) return;
      best = distance + beyond;
      bound = with_slack(best);
    };
    while (best == kFarthest || forward_.radius + backward_.radius < best) {
      const bool ahead = forward_.scanned <= backward_.scanned;
      Side &near = ahead ? forward_ : backward_, &far = ahead ? backward_ : forward_;
      const auto reach_near = [&](Id v, Length distance) { reach(near, far, v, distance); };
      if (settle_next(near, kFarthest, reach_near)) continue;
      if (best == kFarthest) return false;
      break;
    }
    const auto reach_forward = [&](Id v, Length distance) {
      reach(forward_, backward_, v, distance);
    };
    for (Length limit = kFarthest; settle_next(forward_, limit, reach_forward);) {
      if (is_reached(forward_, target)) limit = forward_.vertices[target].distance;
    }
    return is_reached(forward_, target);
  }

  // What the length of a shortest path is at most in other orders of adding.
  Length with_slack(Length best) const {
    if constexpr (std::is_same_v<Length, double>) {
      constexpr double kRounding = 4 * std::numeric_limits<double>::epsilon();
      return best * (1 + kRounding * static_cast<double>(forward_.arcs.n));
    }
    return best;
  }

  // Is incoming arc i of v tight?
  bool is_tight(std::int64_t i, Id v) const {
    const Vertex& tail = vertices_[incoming_.neighbors[i]];
    return tail.epoch == epoch_ &&
           tail.distance + static_cast<Length>(incoming_.weights[i]) == vertices_[v].distance;
  }

  // Lists the vertices on shortest paths, each after its predecessors.
  void list_paths(Id source, Id target) {
    listed_.assign(1, source);
    vertices_[source].rank = 0;
    push(target);
    while (!stack_.empty()) {
      const Id v = stack_.back().first;
      std::int64_t& arc = stack_.back().second;
      while (arc < incoming_.offsets[v + 1] && !leads_to_unseen(arc, v)) ++arc;
      if (arc < incoming_.offsets[v + 1]) {
        push(incoming_.neighbors[arc++]);
      } else {
        vertices_[v].rank = static_cast<Id>(listed_.size());
        listed_.push_back(v);
        stack_.pop_back();
        if (++steps_ % kCheckEvery == 0) check_cancelled_();
      }
    }
  }

  void push(Id v) {
    vertices_[v].rank = kOnStack;
    stack_.push_back({v, incoming_.offsets[v]});
  }

  // Is incoming arc i of v tight, and its tail not seen yet?
  bool leads_to_unseen(std::int64_t i, Id v) const {
    if (!is_tight(i, v)) return false;
    const Id u = incoming_.neighbors[i];
    if (vertices_[u].rank == kOnStack) throw CycleOfLengthZero{u, v};
    return vertices_[u].rank == kUnseen;
  }

  // Calls visit(u) for the predecessors of v until it returns true.
  template <class Visit>
  void each_predecessor(Id v, Visit&& visit) const {
    for (std::int64_t i = incoming_.offsets[v]; i < incoming_.offsets[v + 1]; ++i) {
      if (is_tight(i, v) && visit(incoming_.neighbors[i])) return;
    }
  }

  // Counts the paths to each vertex of the list, then fills `path` with one of those to the target.
  // False, and nothing done, when counts leave the range of their type.
  template <class Count>
  bool walk_back(std::vector<Count>& counts, PathDraws& draws, std::vector<Id>& path) {
    counts.assign(listed_.size(), Count{});
    counts[0] = Count(1.0);
    for (std::size_t at = 1; at < listed_.size(); ++at) {
      each_predecessor(listed_[at], [&](Id u) {
        counts[at] += counts[static_cast<std::size_t>(vertices_[u].rank)];
        return false;
      });
      if constexpr (std::is_same_v<Count, double>) {
        if (counts[at] > kLargestCount) return false;
      }
    }
    const auto count_of = [&](Id v) { return counts[static_cast<std::size_t>(vertices_[v].rank)]; };
    Id v = listed_.back();
    for (; vertices_[v].rank > 0; path.push_back(v)) {
      v = choose_by_count<Id>(count_of(v), draws, [&](auto&& visit) {
        each_predecessor(v, [&](Id u) { return visit(u, count_of(u)); });
      });
    }
    std::reverse(path.begin(), path.end());
    path.push_back(listed_.back());
    return true;
  }

  const Arcs<Id, Weight> incoming_;
  CancelCheck check_cancelled_;
  Side forward_, backward_;
  std::vector<Vertex>& vertices_;  // of the search from the source
  std::uint32_t epoch_ = 0;
  std::vector<std::pair<Id, std::int64_t>> stack_;  // vertices, and their next incoming arcs
  std::vector<Id> listed_;
  std::vector<double> counts_;  // of listed_
  std::vector<ScaledCount> scaled_counts_;
  std::uint64_t steps_ = 0;
};

}  // namespace kleene::measures
