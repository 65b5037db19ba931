// What lies within a limit of some sources, in an eliminated graph: the same rows as those of
// sssp/bounded_search.cpp.
//
// A source climbs. Then its component is swept from the root down: a vertex takes the best of its
// upward neighbors, which are its ancestors, so that values are kept by place, as in a climb. All
// paths into a subtree lead over the upward neighbors of its root: where all of them are beyond the
// limit, and the source is not inside, the whole subtree is skipped.
//
// The predecessor of a vertex is, of those that give it its distance, the nearest to the source,
// and of several the first: that is the one that a search settles first, where no arc has length
// zero.
#include <algorithm>
#include <bit>
#include <memory>
#include <utility>
#include <vector>

#include "prepared/near/near.hpp"

namespace kleene::prepared {
namespace {

using graph::ReachedRow;
using parallel::Buffer;
using parallel::CancelCheck;

// A set of vertices that is read in ascending order.
class SortedSet {
 public:
  explicit SortedSet(std::int64_t n) : words_(static_cast<std::size_t>((n + 63) / 64), 0) {}

  void insert(std::int32_t v) {
    members_.push_back(v);
    words_[static_cast<std::size_t>(v) / 64] |= std::uint64_t{1} << (v % 64);
  }

  // Sorts what members() returns: few by comparisons, many off the words.
  void sort() {
    if (members_.size() < words_.size() / kFew) {
      std::sort(members_.begin(), members_.end());
      return;
    }
    members_.clear();
    for (std::size_t i = 0; i < words_.size(); ++i) {
      for (std::uint64_t left = words_[i]; left != 0; left &= left - 1) {
        members_.push_back(static_cast<std::int32_t>(64 * i) + std::countr_zero(left));
      }
    }
  }
  const std::vector<std::int32_t>& members() const { return members_; }

  void clear() {
    for (const std::int32_t v : members_) words_[static_cast<std::size_t>(v) / 64] = 0;
    members_.clear();
  }

 private:
  static constexpr std::size_t kFew = 16;  // to sort a member costs as much as so many words

  std::vector<std::int32_t> members_;
  std::vector<std::uint64_t> words_;
};

// One thread's sources, one after the other.
template <class Value>
class WithinSearch {
 public:
  using Algebra = MinPlus<Value, false>;

  WithinSearch(const SweptTree& swept, const PairValues<Value>& values,
               const graph::Arcs<std::int32_t>* incoming, const Value* lengths)
      : swept_(swept),
        rows_(swept.tree.rows()),
        down_(values.down),
        incoming_(incoming),
        lengths_(lengths),
        kernel_(climb_kernel<Value, KindOf<Algebra>::kKind>(false)),
        climb_(swept.tree.places(), values.up, false),
        by_place_(swept.tree.places()),
        by_vertex_(static_cast<std::size_t>(rows_.n), Algebra::zero()),
        reached_(rows_.n) {}

  ReachedRow<std::int32_t, Value> search(std::int32_t source, Value limit,
                                         CancelCheck check_cancelled) {
    climb_.start(rows_.rows[source].place);
    kernel_.climb(rows_, climb_.climb(), source, swept_.tree.n(), Algebra::zero());
    sweep(source, limit, check_cancelled);
    return take_row();
  }

 private:
  static constexpr std::int32_t kCheckEvery = 1024;  // vertices

  struct Offer {
    Value value;    // of the best path over an upward neighbor
    Value nearest;  // of the upward neighbors
  };

  void sweep(std::int32_t source, Value limit, CancelCheck& check_cancelled) {
    std::int32_t root = source;
    while (rows_.rows[root].parent < rows_.n) root = rows_.rows[root].parent;
    const std::int32_t end = root - swept_.sizes[root];
    std::int32_t steps = 0;
    for (std::int32_t v = root; v > end;) {
      if (++steps % kCheckEvery == 0) check_cancelled();
      Offer offer = offer_from_above(v);
      const std::int32_t below = v - swept_.sizes[v];
      const std::int32_t place = rows_.rows[v].place;
      if (below < source && source <= v) {
        offer.value = std::min(offer.value, climb_.best(place));
      } else if (offer.nearest > limit) {
        v = below;
        continue;
      }
      by_place_[place] = offer.value;
      if (offer.value <= limit) {
        const std::int32_t vertex = swept_.order[v];
        by_vertex_[static_cast<std::size_t>(vertex)] = offer.value;
        reached_.insert(vertex);
      }
      --v;
    }
  }

  Offer offer_from_above(std::int32_t v) {
    const ClimbRow* const row = rows_.rows + v;
    const Value* values = down_ + row->values;
    Offer best{Algebra::zero(), Algebra::zero()};
    for (std::int64_t i = row->blocks; i < row[1].blocks; ++i) {
      Value* const above = by_place_.data() + rows_.blocks[i].index * std::int64_t{kBlock};
      for (std::uint32_t left = rows_.blocks[i].mask; left != 0; left &= left - 1) {
        const Value from = above[std::countr_zero(left)];
        best.nearest = std::min(best.nearest, from);
        best.value = std::min(best.value, static_cast<Value>(from + *values++));
      }
    }
    return best;
  }

  ReachedRow<std::int32_t, Value> take_row() {
    const std::int64_t size = static_cast<std::int64_t>(reached_.members().size());
    ReachedRow<std::int32_t, Value> row{Buffer<std::int32_t>(size), Buffer<Value>(size),
                                        Buffer<std::int32_t>(incoming_ ? size : 0)};
    std::int64_t at = 0;
    reached_.sort();
    for (const std::int32_t v : reached_.members()) {
      row.vertices[at] = v;
      row.distances[at] = distance(v);
      if (incoming_) row.predecessors[at] = predecessor(v);
      ++at;
    }
    for (const std::int32_t v : reached_.members()) {
      by_vertex_[static_cast<std::size_t>(v)] = Algebra::zero();
    }
    reached_.clear();
    return row;
  }

  Value distance(std::int32_t v) const { return by_vertex_[static_cast<std::size_t>(v)]; }

  // The nearest vertex to the source that gives v its distance, the first of several; -1 for the
  // source, to which no arc is short enough.
  std::int32_t predecessor(std::int32_t v) const {
    std::pair found{distance(v), graph::kNoPredecessor<std::int32_t>};
    for (std::int64_t i = incoming_->offsets[v]; i < incoming_->offsets[v + 1]; ++i) {
      const std::int32_t u = incoming_->neighbors[i];
      const Value length = lengths_ ? lengths_[i] : Value{1};
      const std::pair offered{distance(u), u};
      if (static_cast<Value>(offered.first + length) == distance(v) && offered < found) {
        found = offered;
      }
    }
    return found.second;
  }

  const SweptTree swept_;
  const ClimbRows rows_;
  const Value* const down_;
  const graph::Arcs<std::int32_t>* const incoming_;
  const Value* const lengths_;
  const ClimbKernel<Value> kernel_;
  ClimbState<Algebra> climb_;
  parallel::AlignedBuffer<Value> by_place_;  // of the ancestors of the vertex that is swept
  std::vector<Value> by_vertex_;             // "no path" for what is not reached
  SortedSet reached_;
};

}  // namespace

template <class Value>
graph::Reached<std::int32_t, Value> within(const SweptTree& swept, const PairValues<Value>& values,
                                           const std::int32_t* sources, std::int64_t count,
                                           Value limit, const graph::Arcs<std::int32_t>* incoming,
                                           const Value* lengths, std::int64_t available,
                                           int threads, parallel::Monitor& monitor) {
  using Search = WithinSearch<Value>;
  std::vector<ReachedRow<std::int32_t, Value>> rows(static_cast<std::size_t>(count));
  std::vector<std::unique_ptr<Search>> searches(static_cast<std::size_t>(threads));
  graph::MemoryBudget budget(available, count);
  parallel::parallel_for(count, 1, threads, monitor, [&](std::int64_t i, std::int64_t, int thread) {
    auto& search = searches[static_cast<std::size_t>(thread)];
    if (!search) search = std::make_unique<Search>(swept, values, incoming, lengths);
    auto& row = rows[static_cast<std::size_t>(i)];
    row = search->search(sources[i], limit, CancelCheck(monitor, thread));
    budget.take(row.bytes());
  });
  searches.clear();
  return graph::joined_rows(rows, incoming != nullptr, threads, monitor);
}

#define KLEENE_WITHIN(Value)                                                                \
  template graph::Reached<std::int32_t, Value> within(                                      \
      const SweptTree&, const PairValues<Value>&, const std::int32_t*, std::int64_t, Value, \
      const graph::Arcs<std::int32_t>*, const Value*, std::int64_t, int, parallel::Monitor&);
KLEENE_WITHIN(std::int32_t)
KLEENE_WITHIN(std::int64_t)

}  // namespace kleene::prepared
