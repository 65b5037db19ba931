// The k nearest of some facilities for every vertex of an eliminated graph.
//
// As in sssp/k_nearest.cpp, a vertex keeps its first k labels (distance, facility), in the order of
// distance and then of the list. Labels climb: each vertex, from the lowest rank on, takes those of
// its lower neighbors. Then they sweep down: each vertex, from the highest rank on, takes those of
// its upward neighbors, which are final. A best path climbs to one vertex and descends from there;
// a label that k others keep out of that vertex is kept out by the same ones further down. So every
// pair is passed twice, however many facilities there are.
//
// Subtrees do not depend on each other, except on the vertices above them: threads share subtrees,
// and one of them does what lies above.
#include <algorithm>
#include <vector>

#include "graph/no_path.hpp"
#include "parallel/team.hpp"
#include "prepared/near/near.hpp"

namespace kleene::prepared {
namespace {

// Subtrees for each thread, so that all end at about the same time.
constexpr std::int64_t kSubtreesPerThread = 16;

// Ranks between two looks at the monitor.
constexpr std::int64_t kPollEvery = 1 << 12;

template <class Value>
class Sweep {
 public:
  Sweep(const Elimination& elimination, const LowerNeighbors& lower, const PairValues<Value>& pairs,
        Value limit, const NearestLabels<Value>& labels)
      : elimination_(elimination), lower_(lower), pairs_(pairs), labels_(labels) {
    // Shortest paths are below "no path"; what is not, is not shortest, and could wrap.
    farthest_ = std::min(limit, static_cast<Value>(graph::kAddableNoPath<Value> - 1));
  }

  void start_at(std::int32_t rank, std::int32_t facility) { insert(rank, 0, facility); }

  // Takes the labels of the lower neighbors of a rank.
  void climb_to(std::int64_t rank) {
    for (std::int64_t i = lower_.offsets[rank]; i < lower_.offsets[rank + 1]; ++i) {
      take(lower_.tails[i], pairs_.up[lower_.places[i]], rank);
    }
  }

  // Takes the labels of the upward neighbors of a rank.
  void sweep_to(std::int64_t rank) {
    for (std::int64_t i = elimination_.offsets[rank]; i < elimination_.offsets[rank + 1]; ++i) {
      take(elimination_.heads[i], pairs_.down[i], rank);
    }
  }

 private:
  void take(std::int64_t from, Value length, std::int64_t to) {
    if (length > farthest_) return;
    const Value* distances = labels_.distances + from * labels_.k;
    const std::int32_t* facilities = labels_.facilities + from * labels_.k;
    for (std::int64_t i = 0; i < labels_.k && facilities[i] >= 0; ++i) {
      // No sum wraps: both are at most half the largest value.
      const auto sum = static_cast<Value>(distances[i] + length);
      if (sum > farthest_ || !insert(to, sum, facilities[i])) return;
    }
  }

  // Returns whether labels that come after this one may still enter.
  bool insert(std::int64_t rank, Value distance, std::int32_t facility) {
    const std::int64_t k = labels_.k;
    Value* distances = labels_.distances + rank * k;
    std::int32_t* facilities = labels_.facilities + rank * k;
    const auto after = [&](std::int64_t i) {
      return distances[i] > distance || (distances[i] == distance && facilities[i] > facility);
    };
    if (facilities[k - 1] >= 0 && !after(k - 1)) return false;
    std::int64_t place =
        0;  // of the label of the same facility, or the first free one, or the last
    while (place < k - 1 && facilities[place] >= 0 && facilities[place] != facility) ++place;
    if (facilities[place] == facility && !after(place)) return true;
    for (; place > 0 && after(place - 1); --place) {
      distances[place] = distances[place - 1];
      facilities[place] = facilities[place - 1];
    }
    distances[place] = distance;
    facilities[place] = facility;
    return true;
  }

  const Elimination& elimination_;
  const LowerNeighbors& lower_;
  const PairValues<Value>& pairs_;
  const NearestLabels<Value>& labels_;
  Value farthest_;
};

struct Range {
  std::int64_t begin, end;  // ranks
};

// The largest subtrees of at most so many vertices, and the ranks above them, ascending.
struct Pieces {
  std::vector<Range> subtrees;
  std::vector<std::int64_t> above;
};

Pieces pieces(const Elimination& elimination, const std::int32_t* sizes, std::int64_t most) {
  Pieces found;
  for (std::int64_t rank = 0; rank < elimination.n; ++rank) {
    const std::int32_t parent = elimination.parents[rank];
    if (sizes[rank] > most) {
      found.above.push_back(rank);
    } else if (parent < 0 || sizes[parent] > most) {
      found.subtrees.push_back({rank + 1 - sizes[rank], rank + 1});
    }
  }
  return found;
}

}  // namespace

template <class Value>
void nearest_labels(const Elimination& elimination, const LowerNeighbors& lower,
                    const std::int32_t* sizes, const PairValues<Value>& pairs,
                    const std::int32_t* facilities, std::int64_t count, Value limit,
                    const NearestLabels<Value>& labels, int threads, Monitor& monitor) {
  const std::int64_t n = elimination.n;
  const Pieces parts =
      pieces(elimination, sizes, std::max<std::int64_t>(1, n / (threads * kSubtreesPerThread)));
  Sweep<Value> sweep(elimination, lower, pairs, limit, labels);
  const auto done = [](std::int64_t ranks, Monitor& own) {
    own.advance(static_cast<std::uint64_t>(ranks));
    own.poll();
  };

  // 1. A label at every facility; the order of the list breaks ties.
  std::fill_n(labels.facilities, n * labels.k, -1);
  for (std::int64_t i = 0; i < count; ++i) {
    sweep.start_at(facilities[i], static_cast<std::int32_t>(i));
  }

  // 2. Climb: subtrees, then what lies above.
  const auto subtrees = static_cast<std::int64_t>(parts.subtrees.size());
  parallel_each(subtrees, threads, monitor, [&](std::int64_t i, Monitor& own) {
    const auto [begin, end] = parts.subtrees[i];
    for (std::int64_t rank = begin; rank < end; ++rank) {
      sweep.climb_to(rank);
      if ((rank + 1) % kPollEvery == 0) own.poll();
    }
    done(end - begin, own);
  });
  for (const std::int64_t rank : parts.above) {
    sweep.climb_to(rank);
    done(1, monitor);
  }

  // 3. Sweep down: what lies above, then subtrees.
  for (auto rank = parts.above.rbegin(); rank != parts.above.rend(); ++rank) {
    sweep.sweep_to(*rank);
    done(1, monitor);
  }
  parallel_each(subtrees, threads, monitor, [&](std::int64_t i, Monitor& own) {
    const auto [begin, end] = parts.subtrees[i];
    for (std::int64_t rank = end - 1; rank >= begin; --rank) {
      sweep.sweep_to(rank);
      if (rank % kPollEvery == 0) own.poll();
    }
    done(end - begin, own);
  });
}

#define KLEENE_INSTANTIATE(Value)                                                                  \
  template void nearest_labels(const Elimination&, const LowerNeighbors&, const std::int32_t*,     \
                               const PairValues<Value>&, const std::int32_t*, std::int64_t, Value, \
                               const NearestLabels<Value>&, int, Monitor&);
KLEENE_INSTANTIATE(std::int32_t)
KLEENE_INSTANTIATE(std::int64_t)
#undef KLEENE_INSTANTIATE

}  // namespace kleene::prepared
