#include "measures/loads.hpp"

#include <algorithm>
#include <memory>
#include <vector>

#include "measures/shortest_path_arcs.hpp"
#include "measures/tree_search.hpp"
#include "parallel/team.hpp"

namespace kleene::measures {
namespace {

using parallel::parallel_for;

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
