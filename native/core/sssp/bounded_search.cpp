// Searches that stop at a limit, or after so many vertices, with answers no larger than what they
// reach: compressed rows of vertices, distances and predecessors, one row per source.
//
// A search uses one core; several run side by side. Each thread has one entry per vertex to work
// in, allocated once, and after a search resets only what the search touched. So a search costs
// what it reaches, whatever the size of the graph.
//
// Vertices are settled by distance and, among those found at the same distance, by position. This
// is the order in which `count` cuts off, and the predecessor of a vertex is the first settled
// vertex that gives it its distance: answers depend on nothing but the graph. Without lengths every
// arc counts one, and levels take the place of a heap.
#include <algorithm>
#include <atomic>
#include <memory>
#include <vector>

#include "parallel/team.hpp"
#include "sssp/heap.hpp"
#include "sssp/near.hpp"

namespace kleene::sssp {
namespace {

// One thread's searches, one after the other.
template <class Id, class Value>
class BoundedSearch {
 public:
  BoundedSearch(const Arcs<Id>& arcs, const Value* lengths)
      : arcs_(arcs),
        lengths_(lengths),
        distances_(static_cast<std::size_t>(arcs.n), kNoPath<Value>),
        predecessors_(static_cast<std::size_t>(arcs.n)) {}

  ReachedRow<Id, Value> search(Id source, Value limit, std::int64_t count, bool with_predecessors,
                               CancelCheck check_cancelled) {
    reset();
    if (lengths_) {
      settle_by_distance(source, limit, count, check_cancelled);
    } else {
      settle_by_level(source, limit, count, check_cancelled);
    }
    return take_row(with_predecessors);
  }

 private:
  void reset() {
    for (const Id v : touched_) distances_[v] = kNoPath<Value>;
    touched_.clear();
    settled_.clear();
    queue_.clear();
  }

  void settle_by_distance(Id source, Value limit, std::int64_t count,
                          CancelCheck& check_cancelled) {
    lower(source, 0, kNoPredecessor<Id>);
    while (!queue_.empty()) {
      const auto [distance, u] = queue_.pop();
      if (distance != distances_[u]) continue;
      settled_.push_back(u);
      if (is_full(settled_, count)) return;
      if (++steps_ % kCheckEvery == 0) check_cancelled();
      for (std::int64_t i = arcs_.offsets[u]; i < arcs_.offsets[u + 1]; ++i) {
        const Id v = arcs_.neighbors[i];
        const Value through = distance + lengths_[i];
        if (through < distances_[v] && !(through > limit)) lower(v, through, u);
      }
    }
  }

  void lower(Id v, Value distance, Id predecessor) {
    if (distances_[v] == kNoPath<Value>) touched_.push_back(v);
    distances_[v] = distance;
    predecessors_[v] = predecessor;
    queue_.push({distance, v});
  }

  void settle_by_level(Id source, Value limit, std::int64_t count, CancelCheck& check_cancelled) {
    enter(source, 0, kNoPredecessor<Id>);
    std::size_t begin = 0;
    for (Value depth = 0; begin < touched_.size(); ++depth) {
      const std::size_t end = touched_.size();
      std::sort(touched_.begin() + static_cast<std::ptrdiff_t>(begin), touched_.end());
      if (is_full(touched_, count) || depth >= limit) break;
      for (; begin < end; ++begin) {
        if (++steps_ % kCheckEvery == 0) check_cancelled();
        const Id u = touched_[begin];
        for (std::int64_t i = arcs_.offsets[u]; i < arcs_.offsets[u + 1]; ++i) {
          const Id v = arcs_.neighbors[i];
          if (distances_[v] == kNoPath<Value>) enter(v, static_cast<Value>(depth + 1), u);
        }
      }
    }
    const auto most = static_cast<std::uint64_t>(count) + 1;
    const auto kept = std::min<std::uint64_t>(touched_.size(), most);
    settled_.assign(touched_.begin(), touched_.begin() + static_cast<std::ptrdiff_t>(kept));
  }

  void enter(Id v, Value depth, Id predecessor) {
    touched_.push_back(v);
    distances_[v] = depth;
    predecessors_[v] = predecessor;
  }

  // Are there so many vertices besides the source?
  static bool is_full(const std::vector<Id>& vertices, std::int64_t count) {
    return static_cast<std::int64_t>(vertices.size()) - 1 >= count;
  }

  ReachedRow<Id, Value> take_row(bool with_predecessors) {
    std::sort(settled_.begin(), settled_.end());
    const auto size = static_cast<std::int64_t>(settled_.size());
    ReachedRow<Id, Value> row{Buffer<Id>(size), Buffer<Value>(size),
                              Buffer<Id>(with_predecessors ? size : 0)};
    for (std::int64_t i = 0; i < size; ++i) {
      const Id v = settled_[static_cast<std::size_t>(i)];
      row.vertices[i] = v;
      row.distances[i] = distances_[v];
      if (with_predecessors) row.predecessors[i] = predecessors_[v];
    }
    return row;
  }

  static constexpr std::uint64_t kCheckEvery = 1024;  // settled vertices

  const Arcs<Id> arcs_;
  const Value* const lengths_;
  std::vector<Value> distances_;
  std::vector<Id> predecessors_;  // of vertices that have a distance
  std::vector<Id> touched_;       // vertices that have a distance
  std::vector<Id> settled_;
  QuadHeap<Id, Value, ByDistanceAndVertex> queue_;
  std::uint64_t steps_ = 0;
};

}  // namespace

template <class Id, class Value>
Reached<Id, Value> bounded_search(const Arcs<Id>& arcs, const Value* lengths, const Id* sources,
                                  std::int64_t count, const Bounds<Value>& bounds,
                                  bool with_predecessors, std::int64_t available, int threads,
                                  Monitor& monitor) {
  using Search = BoundedSearch<Id, Value>;
  std::vector<ReachedRow<Id, Value>> rows(static_cast<std::size_t>(count));
  std::vector<std::unique_ptr<Search>> searches(static_cast<std::size_t>(threads));
  MemoryBudget budget(available, count);
  parallel_for(count, 1, threads, monitor, [&](std::int64_t i, std::int64_t, int thread) {
    auto& search = searches[static_cast<std::size_t>(thread)];
    if (!search) search = std::make_unique<Search>(arcs, lengths);
    auto& row = rows[static_cast<std::size_t>(i)];
    row = search->search(sources[i], bounds.limit(i), bounds.count, with_predecessors,
                         CancelCheck(monitor, thread));
    budget.take(row.bytes());
  });
  searches.clear();
  return joined_rows(rows, with_predecessors, threads, monitor);
}

#define KLEENE_BOUNDED_SEARCH(Id, Value)                                               \
  template Reached<Id, Value> bounded_search(const Arcs<Id>&, const Value*, const Id*, \
                                             std::int64_t, const Bounds<Value>&, bool, \
                                             std::int64_t, int, Monitor&);
#define KLEENE_BOUNDED_SEARCHES(Id)       \
  KLEENE_BOUNDED_SEARCH(Id, std::int32_t) \
  KLEENE_BOUNDED_SEARCH(Id, std::int64_t) \
  KLEENE_BOUNDED_SEARCH(Id, float)        \
  KLEENE_BOUNDED_SEARCH(Id, double)
KLEENE_BOUNDED_SEARCHES(std::int32_t)
KLEENE_BOUNDED_SEARCHES(std::int64_t)

}  // namespace kleene::sssp
