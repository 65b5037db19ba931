// Shortest paths from several sources at once, one to a lane of a vector.
//
// Every vertex has a vector of tentative distances, one for each source, and an arc is relaxed for
// all sources by one addition and one minimum. A vertex is in the bucket of the smallest distance
// that has improved since its arcs were last relaxed; so vertices come in order, or nearly, as in
// delta-stepping (Meyer and Sanders 2003). Sources that are near each other reach most vertices at
// about the same time, and those are relaxed two or three times for 16 sources: on roads, where the
// sources of a batch are neighbours, and on small worlds, where everything is near.
//
// A batch of distant sources in a graph of large diameter relaxes vertices as often as single
// searches do. `shared_work` says so after a batch.
//
// Only strict improvements change a predecessor, and lengths are not negative: so predecessors form
// a tree, with arcs of length zero and with rounding.
#pragma once

#include <algorithm>
#include <atomic>
#include <iterator>
#include <limits>
#include <memory>
#include <numeric>
#include <type_traits>
#include <utility>
#include <vector>

#include "parallel/buffer.hpp"
#include "parallel/team.hpp"
#include "sssp/buckets.hpp"
#include "sssp/lane_kernel.hpp"
#include "sssp/sssp.hpp"

namespace kleene::sssp {

template <class Value>
class LaneSearch {
 public:
  using Id = std::int32_t;

  LaneSearch(const Problem<Id, Value>& problem, bool paths, double width)
      : arcs_(problem.outgoing),
        lengths_(problem.lengths),
        limit_(problem.stop.limit),
        width_(width),
        kernel_(relax_lanes<Value>(problem.level)),
        distances_(arcs_.n * kWidth),
        predecessors_(paths ? arcs_.n * kWidth : 0),
        keys_(static_cast<std::size_t>(arcs_.n)),
        slots_(kSlots + 1),
        improved_(kChunk),
        nearest_(kChunk) {
    clear_all();
  }

  // Searches from up to kWidth sources; rows[k] is filled for sources[k].
  void search(const Id* sources, int count, const ResultRow<Id, Value>* rows,
              CancelCheck check_cancelled) {
    search(sources, count, check_cancelled);
    write_rows(count, rows);
  }

  // The same, without rows: distances stay as vectors until the next search.
  void search(const Id* sources, int count, CancelCheck check_cancelled) {
    begin(sources, count);
    while (true) {
      // untestable (< to <=): the far pile before its turn: more work, the same distances
      for (int slot = 0; slot < kSlots; ++slot) settle(slot, check_cancelled);
      if (!move_window()) break;
    }
    for (auto& slot : slots_) slot.clear();
  }

  // A vector for each vertex. Those beyond the limit may be tentative.
  const Value* distances() { return distances_.data(); }

  // The vertices that have a distance from some source, each once.
  const std::vector<Id>& touched() const { return touched_; }

  // Did the sources of the last batch share enough work?
  bool shared_work() const {
    // untestable: when single searches take over
    return relaxed_ <= kMostRelaxed * std::max<std::int64_t>(1, std::ssize(touched_));
  }

 private:
  static constexpr int kWidth = kLanes<Value>;
  static constexpr int kMostRelaxed = kWidth * 3 / 8;
  static constexpr std::int64_t kChunk = 1024;  // arcs relaxed in one call

  // Farther than any path, which may be as long as kAddableNoPath; a length can be added to it.
  static constexpr Value kUnreached =
      std::is_integral_v<Value> ? kAddableNoPath<Value> + 1 : kNoPath<Value>;

  // Keys of vertices that no search has come to, and of those with nothing to relax. Distances are
  // smaller.
  static constexpr Value kNew = kNoPath<Value>;
  static constexpr Value kIdle =
      std::is_integral_v<Value> ? kNoPath<Value> - 1 : std::numeric_limits<Value>::max();

  void clear_all() {
    std::fill_n(distances_.data(), arcs_.n * kWidth, kUnreached);
    if (predecessors_.size())
      std::fill_n(predecessors_.data(), arcs_.n * kWidth, LaneIndex<Value>{-1});
    std::fill(keys_.begin(), keys_.end(), kNew);
  }

  // Undoes the last search; a search that reaches few vertices costs no more than these.
  void clear() {
    if (4 * std::ssize(touched_) > arcs_.n) {
      clear_all();
    } else {
      for (const Id v : touched_) {
        std::fill_n(distances_.data() + std::int64_t{v} * kWidth, kWidth, kUnreached);
        if (predecessors_.size())
          std::fill_n(predecessors_.data() + std::int64_t{v} * kWidth, kWidth,
                      LaneIndex<Value>{-1});
        keys_[v] = kNew;
      }
    }
    touched_.clear();
  }

  void begin(const Id* sources, int count) {
    clear();
    relaxed_ = 0;
    scale_ = BucketScale<Value>(0, width_);
    for (int k = 0; k < count; ++k) {
      distances_[std::int64_t{sources[k]} * kWidth + k] = 0;
      enter(sources[k], 0);
    }
  }

  // Puts a vertex into the bucket of its new key, unless it is there, or beyond the limit.
  void enter(Id v, Value key) {
    const Value old = keys_[v];
    if (!(key < old)) return;  // untestable (< to <=): an equal key is in the same bucket
    if (old == kNew) touched_.push_back(v);
    keys_[v] = key > limit_ ? kIdle : key;
    if (key > limit_) return;
    const int slot = scale_.slot(key);
    if (old >= kIdle || scale_.slot(old) != slot) slots_[slot].push_back(v);
  }

  // Relaxes the vertices of a slot until there are none, those that enter it meanwhile too.
  void settle(int slot, CancelCheck& check_cancelled) {
    auto& vertices = slots_[slot];
    for (std::size_t at = 0; at < vertices.size(); ++at) {
      const Id u = vertices[at];
      // untestable (|| to &&): a stale entry is relaxed again
      if (keys_[u] == kIdle || scale_.slot(keys_[u]) != slot) continue;  // was relaxed, or moved
      keys_[u] = kIdle;
      if (++relaxed_ % 1024 == 0) check_cancelled();
      relax(u);
    }
    vertices.clear();
  }

  void relax(Id u) {
    const Value* from = distances_.data() + std::int64_t{u} * kWidth;
    LaneIndex<Value>* predecessors = predecessors_.size() ? predecessors_.data() : nullptr;
    const std::int64_t end = arcs_.offsets[u + 1];
    // untestable (< to <=): a chunk of no arcs
    for (std::int64_t i = arcs_.offsets[u]; i < end; i += kChunk) {
      const std::int64_t count =
          kernel_(from, u, std::min(kChunk, end - i), arcs_.neighbors + i, lengths_ + i, kUnreached,
                  distances_.data(), predecessors, improved_.data(), nearest_.data());
      for (std::int64_t k = 0; k < count; ++k) enter(improved_[k], nearest_[k]);
    }
  }

  // Moves the window to the nearest vertex beyond it; false if none is within the limit.
  bool move_window() {
    std::vector<Id> far;
    std::swap(far, slots_[kSlots]);
    std::erase_if(far, [&](Id v) { return keys_[v] == kIdle; });
    Value base = kIdle;
    for (const Id v : far) base = std::min(base, keys_[v]);
    if (far.empty() || base > limit_) return false;
    scale_ = BucketScale<Value>(base, width_);
    for (const Id v : far) slots_[scale_.slot(keys_[v])].push_back(v);
    return true;
  }

  void write_rows(int count, const ResultRow<Id, Value>* rows) {
    for (std::int64_t v = 0; v < arcs_.n; ++v) {
      const Value* distances = distances_.data() + v * kWidth;
      for (int k = 0; k < count; ++k) {
        const bool reached = distances[k] < kUnreached && !(distances[k] > limit_);
        rows[k].distances[v] = reached ? distances[k] : kNoPath<Value>;
        if (rows[k].predecessors) {
          rows[k].predecessors[v] =
              reached ? static_cast<Id>(predecessors_[v * kWidth + k]) : kNoPredecessor<Id>;
        }
      }
    }
  }

  const Arcs<Id> arcs_;
  const Value* const lengths_;
  const Value limit_;
  const double width_;
  RelaxLanes<Value>* const kernel_;
  AlignedBuffer<Value> distances_;
  AlignedBuffer<LaneIndex<Value>> predecessors_;
  std::vector<Value> keys_;             // the smallest improved distance; kIdle when none
  std::vector<std::vector<Id>> slots_;  // the last is the far pile
  BucketScale<Value> scale_{0, 1};
  std::vector<Id> improved_;
  std::vector<Value> nearest_;
  std::vector<Id> touched_;
  std::int64_t relaxed_ = 0;
};

// ---- many sources, in batches of near ones ------------------------------------------------------

// Sources per thread from which batches are faster than single searches.
constexpr std::int64_t kSourcesWorthLanes = 8;

// Single searches take over when so many batches, and a quarter of all, had sources that share
// little work. The last batches, of sources that others left over, often do.
constexpr std::int64_t kPoorBatches = 3;

// A search with targets may end early, alone; one by reduced costs adds up other lengths.
template <class Id, class Value>
bool lanes_may_pay(const Problem<Id, Value>& problem, const ResultRows<Id, Value>& rows,
                   int threads) {
  // untestable: batches and single searches find the same
  return std::is_same_v<Id, std::int32_t> && !problem.stop.targets && !problem.original_lengths &&
         rows.count >= kSourcesWorthLanes * threads;
}

// Positions of the sources, so that those near each other follow one another, `size` at a time: a
// breadth-first search from the first that is left collects the others that it reaches.
template <class Id>
std::vector<std::int64_t> order_by_nearness(const Arcs<Id>& arcs, const Id* sources,
                                            std::int64_t count, std::int64_t size) {
  constexpr std::size_t kReach = 512;  // vertices that one search may visit
  std::vector<std::int64_t> next(static_cast<std::size_t>(count));  // position with the same source
  std::vector<std::int64_t> waiting(static_cast<std::size_t>(arcs.n), -1);  // first position
  for (std::int64_t k = count; k-- > 0;) {
    next[k] = waiting[sources[k]];
    waiting[sources[k]] = k;
  }
  std::vector<std::int64_t> positions;
  positions.reserve(static_cast<std::size_t>(count));
  std::vector<Id> queue, seen(static_cast<std::size_t>(arcs.n), -1);  // seen by the search from
  for (std::int64_t k = 0; k < count; ++k) {
    const Id first = sources[k];
    if (waiting[first] < 0) continue;
    queue.assign(1, first);
    seen[first] = first;
    const std::size_t full = (positions.size() / size + 1) * size;  // the end of this batch
    // untestable (second < to <=): which sources share a batch
    for (std::size_t at = 0; at < queue.size() && positions.size() < full; ++at) {
      const Id u = queue[at];
      // untestable (< to <=): which sources share a batch
      for (; waiting[u] >= 0 && positions.size() < full; waiting[u] = next[waiting[u]]) {
        positions.push_back(waiting[u]);
      }
      // untestable (< to <=, + 1 to + 0, second < to >=): which sources share a batch
      for (std::int64_t i = arcs.offsets[u]; i < arcs.offsets[u + 1] && queue.size() < kReach;
           ++i) {
        const Id v = arcs.neighbors[i];
        if (seen[v] == first) continue;  // untestable: which sources share a batch
        seen[v] = first;
        queue.push_back(v);
      }
    }
    // untestable: which sources share a batch
    if (waiting[first] >= 0) --k;  // comes more often than a batch holds
  }
  return positions;
}

// Searches in batches as long as they pay; returns the positions of the sources that are left.
// Buckets are as wide as an arc is long: on roads, grids, R-MAT and uniform graphs of 4096 vertices
// between half and eight times that made little difference.
template <class Id, class Value>
std::vector<std::int64_t> search_in_batches(const Problem<Id, Value>& problem,
                                            const ResultRows<Id, Value>& rows, double mean,
                                            int threads, Monitor& monitor) {
  constexpr std::int64_t kWidth = kLanes<Value>;
  const std::vector<std::int64_t> positions =
      order_by_nearness(problem.outgoing, rows.sources, rows.count, kWidth);
  const std::int64_t batches = (rows.count + kWidth - 1) / kWidth;
  std::atomic<std::int64_t> next{0};
  std::atomic<std::int64_t> poor{0};
  if constexpr (std::is_same_v<Id, std::int32_t>) {
    const int size = static_cast<int>(std::min<std::int64_t>(threads, batches));
    run_team(size, monitor, [&](Team::Worker& worker) {
      // untestable (> to >=, > to <=): any width of buckets is right
      LaneSearch<Value> search(problem, rows.predecessors != nullptr, mean > 0 ? mean : 1);
      const auto lanes_do_not_pay = [&] {
        const std::int64_t bad = poor.load(std::memory_order_relaxed);
        // untestable: when single searches take over
        return bad >= kPoorBatches && 4 * bad > next.load(std::memory_order_relaxed);
      };
      while (!lanes_do_not_pay()) {  // untestable: single searches take over
        const std::int64_t first = kWidth * next.fetch_add(1, std::memory_order_relaxed);
        if (first >= rows.count) return;  // untestable (>= to >): a batch of no sources
        const std::int64_t count = std::min(kWidth, rows.count - first);
        Id sources[kWidth];
        ResultRow<Id, Value> own[kWidth];
        for (std::int64_t k = 0; k < count; ++k) {
          const std::int64_t position = positions[first + k];
          sources[k] = rows.sources[position];
          own[k] = rows.at(position, problem.outgoing.n);
          rows.horizons[position] = problem.stop.limit;
        }
        search.search(sources, static_cast<int>(count), own, CancelCheck(monitor, worker.thread()));
        // untestable: when single searches take over
        if (!search.shared_work()) poor.fetch_add(1, std::memory_order_relaxed);
        monitor.advance(static_cast<std::uint64_t>(count));
        if (worker.is_leader()) monitor.poll();  // untestable: the searches poll, too
      }
    });
  }
  const std::int64_t done = std::min(rows.count, kWidth * next.load());
  return {positions.begin() + done, positions.end()};
}

}  // namespace kleene::sssp
