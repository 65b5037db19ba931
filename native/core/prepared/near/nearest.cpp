// The k nearest of some facilities for some sources, in an eliminated graph.
//
// A best path climbs from the source to one of its ancestors, and descends from there. So every
// ancestor of a facility keeps the first k labels (distance, facility) of what it descends to, in
// the order of distance and then of the list; labels climb from the lowest rank on. A source climbs
// and takes the labels of its ancestors. A label that k others keep out of an ancestor is kept out
// of the source by the same ones.
//
// An ancestor has no more labels than there are facilities below it, so all of them together take
// no more memory than the facilities have ancestors.
#include <algorithm>
#include <memory>
#include <numeric>
#include <type_traits>
#include <utility>
#include <vector>

#include "parallel/team.hpp"
#include "prepared/near/near.hpp"

namespace kleene::prepared {
namespace {

using parallel::Monitor;

template <class Value>
struct Label {
  Value distance;
  std::int32_t facility;
  bool operator<(const Label& other) const {
    return std::pair(distance, facility) < std::pair(other.distance, other.facility);
  }
};

// Labels in their order, the first of each facility only.
template <class Value>
using Labels = std::vector<Label<Value>>;

// Merges lists of at most k labels; one per thread.
template <class Value>
class LabelMerger {
 public:
  LabelMerger(std::int64_t facilities, std::size_t k, Value limit)
      : k_(k), limit_(limit), merged_in_(static_cast<std::size_t>(facilities), 0) {}

  // Adds the labels of another vertex, which is so far away. "No path" is beyond any limit, and no
  // sum with it wraps.
  void add(Labels<Value>& labels, const Labels<Value>& others, Value away) {
    const auto moved = [&](const Label<Value>& label) {
      return Label<Value>{static_cast<Value>(label.distance + away), label.facility};
    };
    auto own = labels.begin();
    auto other = others.begin();
    const auto has_other = [&] {
      return other != others.end() && !(moved(*other).distance > limit_);
    };
    if (!has_other() || (labels.size() == k_ && !(moved(*other) < labels.back()))) return;
    ++merge_;
    merged_.clear();
    while (merged_.size() < k_ && (own != labels.end() || has_other())) {
      const bool take_own = own != labels.end() && !(has_other() && moved(*other) < *own);
      const Label<Value> next = take_own ? *own++ : moved(*other++);
      auto& last = merged_in_[static_cast<std::size_t>(next.facility)];
      if (std::exchange(last, merge_) != merge_) merged_.push_back(next);
    }
    labels = merged_;
  }

 private:
  const std::size_t k_;
  const Value limit_;
  std::vector<std::int64_t> merged_in_;  // by facility: the last merge that met it
  std::int64_t merge_ = 0;
  Labels<Value> merged_;
};

// The labels of all ancestors of facilities.
template <class Value>
class LabelTree {
 public:
  LabelTree(const Elimination& elimination, const Value* down, const RankList& facilities,
            std::size_t k, Value limit, Monitor& monitor)
      : slots_(static_cast<std::size_t>(elimination.n), kNone) {
    const std::vector<std::int32_t> ancestors = ancestors_of(elimination, facilities);
    labels_.resize(ancestors.size());
    for (std::size_t i = 0; i < ancestors.size(); ++i) {
      slot(ancestors[i]) = static_cast<std::int32_t>(i);
    }
    for (std::int64_t i = 0; i < facilities.count; ++i) {
      Labels<Value>& own = at(facilities.ranks[i]);
      if (own.size() < k) own.push_back({Value{0}, static_cast<std::int32_t>(i)});
    }
    climb(elimination, down, ancestors, LabelMerger<Value>(facilities.count, k, limit), monitor);
  }

  // Null for a vertex that is not an ancestor of a facility.
  const Labels<Value>* find(std::int32_t v) const {
    const std::int32_t slot = slots_[static_cast<std::size_t>(v)];
    return slot == kNone ? nullptr : &labels_[static_cast<std::size_t>(slot)];
  }

 private:
  static constexpr std::int32_t kNone = -1;
  static constexpr std::size_t kPollEvery = 256;  // vertices

  std::int32_t& slot(std::int32_t v) { return slots_[static_cast<std::size_t>(v)]; }
  Labels<Value>& at(std::int32_t v) { return labels_[static_cast<std::size_t>(slot(v))]; }

  // Facilities and all their ancestors, ascending.
  std::vector<std::int32_t> ancestors_of(const Elimination& elimination,
                                         const RankList& facilities) {
    std::vector<std::int32_t> found;
    for (std::int64_t i = 0; i < facilities.count; ++i) {
      for (std::int32_t v = facilities.ranks[i]; v >= 0 && slot(v) == kNone;
           v = elimination.parents[v]) {
        slot(v) = 0;
        found.push_back(v);
      }
    }
    std::sort(found.begin(), found.end());
    return found;
  }

  // A vertex is complete when all below it have climbed, and passes its labels on.
  void climb(const Elimination& elimination, const Value* down,
             const std::vector<std::int32_t>& ancestors, LabelMerger<Value> merger,
             Monitor& monitor) {
    for (std::size_t k = 0; k < ancestors.size(); ++k) {
      if (k % kPollEvery == 0) monitor.poll();
      const std::int32_t v = ancestors[k];
      const Labels<Value>& own = at(v);
      for (std::int64_t i = elimination.offsets[v]; i < elimination.offsets[v + 1]; ++i) {
        merger.add(at(elimination.heads[i]), own, down[i]);
      }
    }
  }

  std::vector<std::int32_t> slots_;  // by rank
  std::vector<Labels<Value>> labels_;
};

// One thread's sources, one after the other.
template <class Value>
class SourceSearch {
 public:
  using Algebra = MinPlus<Value, false>;

  SourceSearch(const ClimbTree& tree, const Value* up, LabelMerger<Value> merger)
      : tree_(tree),
        kernel_(climb_kernel<Value, KindOf<Algebra>::kKind>(false)),
        climb_(tree.places(), up, false),
        merger_(std::move(merger)) {}

  const Labels<Value>& search(std::int32_t source, const LabelTree<Value>& labels) {
    found_.clear();
    climb_.start(tree_.row(source).place);
    kernel_.climb(tree_.rows(), climb_.climb(), source, tree_.n(), Algebra::zero());
    for (std::int32_t v = source; v < tree_.n(); v = tree_.row(v).parent) {
      const Labels<Value>* const own = labels.find(v);
      if (own) merger_.add(found_, *own, climb_.best(tree_.row(v).place));
    }
    // Rounding may have made distances equal that came in the order of their lengths.
    if constexpr (std::is_floating_point_v<Value>) std::sort(found_.begin(), found_.end());
    return found_;
  }

 private:
  const ClimbTree& tree_;
  const ClimbKernel<Value> kernel_;
  ClimbState<Algebra> climb_;
  LabelMerger<Value> merger_;
  Labels<Value> found_;
};

// The sources in the order of their ranks: what is read for one is in the cache for the next.
std::vector<std::int64_t> sorted_places(const RankList& list) {
  std::vector<std::int64_t> places(static_cast<std::size_t>(list.count));
  std::iota(places.begin(), places.end(), 0);
  std::sort(places.begin(), places.end(), [&](std::int64_t a, std::int64_t b) {
    return std::pair(list.ranks[a], a) < std::pair(list.ranks[b], b);
  });
  return places;
}

}  // namespace

template <class Value>
void nearest(const Elimination& elimination, const ClimbTree& tree, const PairValues<Value>& values,
             const RankList& sources, const RankList& facilities, Value limit,
             const NearestRows<Value>& rows, int threads, Monitor& monitor) {
  constexpr std::int64_t kGrain = 64;  // sources
  const auto k = static_cast<std::size_t>(rows.k);
  const LabelTree<Value> labels(elimination, values.down, facilities, k, limit, monitor);
  const std::vector<std::int64_t> order = sorted_places(sources);
  std::vector<std::unique_ptr<SourceSearch<Value>>> searches(static_cast<std::size_t>(threads));
  parallel::parallel_for(
      sources.count, kGrain, threads, monitor,
      [&](std::int64_t begin, std::int64_t end, int thread) {
        auto& search = searches[static_cast<std::size_t>(thread)];
        if (!search) {
          search = std::make_unique<SourceSearch<Value>>(
              tree, values.up, LabelMerger<Value>(facilities.count, k, limit));
        }
        for (std::int64_t i = begin; i < end; ++i) {
          const std::int64_t row = order[static_cast<std::size_t>(i)];
          std::int64_t at = row * rows.k;
          for (const Label<Value>& label : search->search(sources.ranks[row], labels)) {
            rows.distances[at] = label.distance;
            rows.facilities[at++] = label.facility;
          }
        }
      });
}

#define KLEENE_NEAREST(Value)                                                                    \
  template void nearest(const Elimination&, const ClimbTree&, const PairValues<Value>&,          \
                        const RankList&, const RankList&, Value, const NearestRows<Value>&, int, \
                        Monitor&);
KLEENE_NEAREST(std::int32_t)
KLEENE_NEAREST(std::int64_t)
KLEENE_NEAREST(float)
KLEENE_NEAREST(double)

}  // namespace kleene::prepared
