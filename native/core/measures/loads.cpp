#include "measures/loads.hpp"

#include <algorithm>
#include <cstdint>
#include <memory>
#include <type_traits>
#include <vector>

#include "graph/arcs.hpp"
#include "graph/no_path.hpp"
#include "measures/shortest_path_arcs.hpp"
#include "parallel/monitor.hpp"
#include "parallel/team.hpp"
#include "sssp/heap.hpp"

namespace kleene::measures {
namespace {

using graph::kNoPath;
using parallel::CancelCheck;
using parallel::parallel_for;

// ---- one thread's searches for trees of shortest paths, one after the other ---------------------
//
// A search may stop early, once all vertices that were wanted are settled, and then costs what it
// reaches: the next one resets only the entries that it touched.

template <class Id, class Value>
class TreeSearch {
 public:
  // Lengths must not be negative; null means one for every arc.
  TreeSearch(const Arcs<Id>& arcs, const Value* lengths)
      : arcs_(arcs),
        lengths_(lengths),
        distances_(static_cast<std::size_t>(arcs.n), kNoPath<Value>),
        tree_arcs_(static_cast<std::size_t>(arcs.n)),
        tails_(static_cast<std::size_t>(arcs.n)),
        wanted_(static_cast<std::size_t>(arcs.n), 0) {}

  // Searches from a root as far as the limit, until the `count` vertices are settled. With `ties`,
  // vertices that are as far away as the last of them are settled as well.
  void search(Id root, const Id* wanted, std::int64_t count, Value limit, bool ties,
              CancelCheck check_cancelled) {
    reset();
    for (std::int64_t i = 0; i < count; ++i) {
      pending_ += wanted_[wanted[i]] == 0;
      wanted_[wanted[i]] = 1;
    }
    enter(root, 0, -1, root);
    if (lengths_) {
      settle_by_distance(limit, ties, check_cancelled);
    } else {
      settle_by_level(limit, ties, check_cancelled);
    }
    for (std::int64_t i = 0; i < count; ++i) wanted_[wanted[i]] = 0;
    if (!ties) return;
    for (const Id v : touched_) {
      if (distances_[v] > farthest_) distances_[v] = kNoPath<Value>;  // not settled
    }
  }

  // Of a vertex that was wanted, or with `ties` of any: kNoPath if it is not settled.
  Value distance(Id v) const { return distances_[v]; }
  // By distance; the root comes first.
  const std::vector<Id>& settled() const { return settled_; }
  // The arc by which a vertex was reached, and its tail; not of the root.
  std::int64_t tree_arc(Id v) const { return tree_arcs_[v]; }
  Id tail(Id v) const { return tails_[v]; }

 private:
  // Floats that differ at all differ in many bits, which a radix heap sorts one by one.
  using Queue = std::conditional_t<std::is_integral_v<Value>, sssp::RadixHeap<Id, Value>,
                                   sssp::QuadHeap<Id, Value>>;

  void reset() {
    for (const Id v : touched_) distances_[v] = kNoPath<Value>;
    touched_.clear();
    settled_.clear();
    queue_.clear();
    pending_ = 0;
    farthest_ = 0;
  }

  void enter(Id v, Value distance, std::int64_t arc, Id tail) {
    if (distances_[v] == kNoPath<Value>) touched_.push_back(v);
    distances_[v] = distance;
    tree_arcs_[v] = arc;
    tails_[v] = tail;
    if (lengths_) queue_.push({distance, v});
  }

  void settle(Id v, CancelCheck& check_cancelled) {
    settled_.push_back(v);
    farthest_ = distances_[v];
    pending_ -= wanted_[v];
    wanted_[v] = 0;
    if (++steps_ % kCheckEvery == 0) check_cancelled();
  }

  void settle_by_distance(Value limit, bool ties, CancelCheck& check_cancelled) {
    while (!queue_.empty()) {
      const auto [distance, u] = queue_.pop();
      if (distance != distances_[u]) continue;  // it got nearer after it was pushed
      if (pending_ == 0 && (!ties || distance > farthest_)) return;
      settle(u, check_cancelled);
      for (std::int64_t i = arcs_.offsets[u]; i < arcs_.offsets[u + 1]; ++i) {
        const Id v = arcs_.neighbors[i];
        const Value through = distance + lengths_[i];
        if (through < distances_[v] && !(through > limit)) enter(v, through, i, u);
      }
    }
  }

  // The vertices touched are the queue.
  void settle_by_level(Value limit, bool ties, CancelCheck& check_cancelled) {
    for (std::size_t next = 0; next < touched_.size(); ++next) {
      const Id u = touched_[next];
      const Value depth = distances_[u];
      if (pending_ == 0 && (!ties || depth > farthest_)) return;
      settle(u, check_cancelled);
      if (depth >= limit) continue;
      for (std::int64_t i = arcs_.offsets[u]; i < arcs_.offsets[u + 1]; ++i) {
        const Id v = arcs_.neighbors[i];
        if (distances_[v] == kNoPath<Value>) enter(v, static_cast<Value>(depth + 1), i, u);
      }
    }
  }

  static constexpr std::uint64_t kCheckEvery = 1024;  // settled vertices

  const Arcs<Id> arcs_;
  const Value* const lengths_;
  std::vector<Value> distances_;
  std::vector<std::int64_t> tree_arcs_;
  std::vector<Id> tails_;
  std::vector<std::uint8_t> wanted_;
  std::vector<Id> touched_;  // vertices that have a distance
  std::vector<Id> settled_;
  Queue queue_;
  std::int64_t pending_ = 0;  // wanted and not settled
  Value farthest_ = 0;        // that is settled
  std::uint64_t steps_ = 0;
};

// ---- trips --------------------------------------------------------------------------------------

// What one thread has for its trips, one root after the other.
template <class Id, class Value>
class Loader {
 public:
  Loader(const Arcs<Id>& arcs, const Value* lengths)
      : search_(arcs, lengths),
        arriving_(static_cast<std::size_t>(arcs.n), 0.0),
        sums_(static_cast<std::size_t>(arcs.count()), 0.0) {}

  const std::vector<double>& sums() const { return sums_; }

 protected:
  // Searches for the ends of a root's trips, and leaves their volumes there.
  void arrive(const Trips<Id>& trips, std::int64_t root, Value limit, bool ties,
              std::uint8_t* assigned, CancelCheck check_cancelled) {
    const std::int64_t first = trips.offsets[root], end = trips.offsets[root + 1];
    search_.search(trips.root[root], trips.ends + first, end - first, limit, ties, check_cancelled);
    for (std::int64_t i = first; i < end; ++i) {
      assigned[i] = search_.distance(trips.ends[i]) != kNoPath<Value>;
      if (assigned[i]) arriving_[trips.ends[i]] += trips.volumes[i];
    }
  }

  TreeSearch<Id, Value> search_;
  std::vector<double> arriving_;  // by vertex, zero between roots
  std::vector<double> sums_;      // by arc
};

// All of a trip on one path.
template <class Id, class Value>
class TreeLoader : public Loader<Id, Value> {
 public:
  using Loader<Id, Value>::Loader;

  void load(const Trips<Id>& trips, std::int64_t root, Value limit, std::uint8_t* assigned,
            CancelCheck check_cancelled) {
    this->arrive(trips, root, limit, false, assigned, check_cancelled);
    auto& arriving = this->arriving_;
    const std::vector<Id>& settled = this->search_.settled();
    for (std::size_t k = settled.size(); --k > 0;) {  // the root is the first
      const Id v = settled[k];
      const double volume = arriving[v];
      if (volume == 0) continue;
      arriving[v] = 0;
      arriving[this->search_.tail(v)] += volume;
      this->sums_[static_cast<std::size_t>(this->search_.tree_arc(v))] += volume;
    }
    arriving[settled[0]] = 0;
  }
};

// A share of each trip on each of its shortest paths.
template <class Id, class Value>
class SplitLoader : public Loader<Id, Value> {
 public:
  SplitLoader(const Arcs<Id>& arcs, const Value* lengths)
      : Loader<Id, Value>(arcs, lengths),
        arcs_(arcs),
        lengths_(lengths),
        counter_(arcs.n),
        through_(static_cast<std::size_t>(arcs.n), 0.0) {}

  void load(const Trips<Id>& trips, std::int64_t root, Value limit, std::uint8_t* assigned,
            CancelCheck check_cancelled) {
    this->arrive(trips, root, limit, true, assigned, check_cancelled);
    Value farthest = 0;  // what lies beyond the ends makes no difference
    for (std::int64_t i = trips.offsets[root]; i < trips.offsets[root + 1]; ++i) {
      if (assigned[i]) farthest = std::max(farthest, this->search_.distance(trips.ends[i]));
    }
    tight_.clear();
    for (const Id u : this->search_.settled()) {
      for (std::int64_t i = arcs_.offsets[u]; i < arcs_.offsets[u + 1]; ++i) {
        const Value length = lengths_ ? lengths_[i] : Value{1};
        const Value head = this->search_.distance(arcs_.neighbors[i]);
        if (head <= farthest && this->search_.distance(u) + length == head) {
          tight_.add(u, arcs_.neighbors[i], i);
        }
      }
    }
    counter_.count(trips.root[root], tight_, check_cancelled);
    counter_.add_to({through_.data(), this->sums_.data(), nullptr, false, this->arriving_.data()},
                    check_cancelled);
    for (const Id v : this->search_.settled()) this->arriving_[v] = 0;
  }

 private:
  const Arcs<Id> arcs_;
  const Value* const lengths_;
  TightArcs<Id> tight_{true};
  ShortestPathArcs<Id> counter_;
  std::vector<double> through_;  // vertices, which follow from the arcs
};

// Loads the trips of all roots, each by one thread, and adds up the sums.
template <class Own, class Id, class Value>
void load_all(const Arcs<Id>& arcs, const Value* lengths, const Trips<Id>& trips, Value limit,
              const Loads& loads, int threads, Monitor& monitor) {
  std::vector<std::unique_ptr<Own>> loaders(static_cast<std::size_t>(threads));
  parallel_for(trips.roots, 1, threads, monitor, [&](std::int64_t root, std::int64_t, int thread) {
    auto& loader = loaders[static_cast<std::size_t>(thread)];
    if (!loader) loader = std::make_unique<Own>(arcs, lengths);
    loader->load(trips, root, limit, loads.assigned, CancelCheck(monitor, thread));
  });
  for (const auto& loader : loaders) {
    if (!loader) continue;
    const double* const sums = loader->sums().data();
    for (std::int64_t i = 0; i < arcs.count(); ++i) loads.arcs[i] += sums[i];
  }
}

}  // namespace

template <class Id, class Value>
void tree_loads(const Arcs<Id>& arcs, const Value* lengths, const Trips<Id>& trips, Value limit,
                const Loads& loads, int threads, Monitor& monitor) {
  load_all<TreeLoader<Id, Value>>(arcs, lengths, trips, limit, loads, threads, monitor);
}

template <class Id, class Value>
void split_loads(const Arcs<Id>& arcs, const Value* lengths, const Trips<Id>& trips, Value limit,
                 const Loads& loads, int threads, Monitor& monitor) {
  load_all<SplitLoader<Id, Value>>(arcs, lengths, trips, limit, loads, threads, monitor);
}

#define KLEENE_LOADS(Id, Value)                                                                   \
  template void tree_loads(const Arcs<Id>&, const Value*, const Trips<Id>&, Value, const Loads&,  \
                           int, Monitor&);                                                        \
  template void split_loads(const Arcs<Id>&, const Value*, const Trips<Id>&, Value, const Loads&, \
                            int, Monitor&);
KLEENE_LOADS(std::int32_t, std::int32_t)
KLEENE_LOADS(std::int32_t, std::int64_t)
KLEENE_LOADS(std::int32_t, double)
KLEENE_LOADS(std::int64_t, std::int32_t)
KLEENE_LOADS(std::int64_t, std::int64_t)
KLEENE_LOADS(std::int64_t, double)

}  // namespace kleene::measures
