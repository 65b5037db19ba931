#include <algorithm>
#include <atomic>
#include <cmath>
#include <functional>
#include <limits>
#include <numeric>
#include <type_traits>
#include <utility>
#include <vector>

#include "graph/csr.hpp"
#include "parallel/first_fault.hpp"
#include "parallel/team.hpp"

namespace kleene::graph {
namespace {

constexpr std::int64_t kArcGrain = 1 << 16;     // the fewest arcs handed to a thread at a time
constexpr std::int64_t kVertexGrain = 1 << 10;  // rows handed to a thread at a time

// A weight that no graph may hold.
template <class Weight>
bool refused([[maybe_unused]] Weight w) {
  if constexpr (std::is_floating_point_v<Weight>) {
    return std::isnan(w) || w == -std::numeric_limits<Weight>::infinity();
  } else {
    return false;
  }
}

// An infinite weight means "no arc".
template <class Weight>
bool absent([[maybe_unused]] Weight weight) {
  if constexpr (std::is_floating_point_v<Weight>) {
    return weight == std::numeric_limits<Weight>::infinity();
  } else {
    return false;
  }
}

// A self-loop matters only if it is a negative cycle, and whether it is one shows only when
// parallel loops have been combined.
template <class Id, class Weight>
bool idle_loop(Id tail, Id head, [[maybe_unused]] Weight weight) {
  if constexpr (kWeighted<Weight>) {
    return tail == head && !(weight < Weight{0});
  } else {
    return tail == head;
  }
}

// Entry i of the caller's array, read once: another thread may be writing to it.
template <class T>
T read_once([[maybe_unused]] const T* values, [[maybe_unused]] std::int64_t i) {
  if constexpr (kWeighted<T>) {
    return std::atomic_ref<T>(const_cast<T&>(values[i])).load(std::memory_order_relaxed);
  } else {
    return {};
  }
}

template <class Weight>
Weight combined(Weight a, Weight b, Combine rule) {
  switch (rule) {
    case Combine::kMax:
      return std::max(a, b);
    case Combine::kSum:
      return static_cast<Weight>(a + b);
    default:
      return std::min(a, b);
  }
}

// An arc without its tail: what a row is sorted by. The weight comes second, so that a sum of
// floating-point weights does not depend on the order of the input.
template <class Id, class Weight>
struct RowEntry {
  Id id;
  Weight weight;
  bool operator<(const RowEntry& other) const {
    return id < other.id || (id == other.id && weight < other.weight);
  }
};

template <class Id>
struct RowEntry<Id, NoWeight> {
  Id id;
  bool operator<(const RowEntry& other) const { return id < other.id; }
};

// Tails are partitioned into at most kMostBuckets ranges of 2^shift vertices, of some kBucketArcs
// arcs each.
struct TailBuckets {
  static constexpr std::int64_t kMostBuckets = 1024;
  static constexpr std::int64_t kBucketArcs = 1 << 16;

  TailBuckets(std::int64_t n, std::int64_t arcs) {
    const std::int64_t wanted = std::clamp<std::int64_t>(arcs / kBucketArcs, 1, kMostBuckets);
    // untestable (+ 1 to + 0): a bucket more than wanted
    // untestable (< to <=): differs for more than 2^32 vertices
    while ((n >> shift) + 1 > wanted && shift < 32) ++shift;  // a tail in a bucket has 32 bits
    count = (n >> shift) + 1;
  }

  int shift = 0;
  std::int64_t count = 0;
};

// The arcs by bucket, as three parallel arrays. A tail is kept relative to its bucket.
template <class Id, class Weight>
struct BucketedArcs {
  std::vector<std::int64_t> starts;  // of each bucket, and the end of the last
  Buffer<std::uint32_t> tails;
  Buffer<Id> heads;
  Buffer<Weight> weights;
};

// The most bytes that build_csr holds at once beside its input, given the arcs of every bucket:
// while `threads` buckets are sorted, or while combined rows are copied.
template <class Id, class Weight>
std::int64_t peak_bytes(std::int64_t n, std::vector<std::int64_t> arcs_of_bucket, int threads,
                        std::int64_t cursors) {
  constexpr std::int64_t arc = sizeof(Id) + (kWeighted<Weight> ? sizeof(Weight) : 0);
  const auto busy = std::min<std::size_t>(static_cast<std::size_t>(threads), arcs_of_bucket.size());
  std::partial_sort(arcs_of_bucket.begin(), arcs_of_bucket.begin() + busy, arcs_of_bucket.end(),
                    std::greater<>{});
  const auto sum = [&](std::size_t count) {
    return std::accumulate(arcs_of_bucket.begin(), arcs_of_bucket.begin() + count, std::int64_t{0});
  };
  const std::int64_t total = sum(arcs_of_bucket.size());
  const std::int64_t sorting = (4 + arc) * total + sum(busy) * sizeof(RowEntry<Id, Weight>);
  return 8 * (n + 1) + 8 * cursors + std::max(sorting, 2 * arc * total);
}

// Each piece of the input counts its arcs per bucket; a second pass then places them without
// synchronisation. Both passes check every arc, and the second stays within what the first counted:
// the caller's arrays may change meanwhile.
template <class InId, class Id, class Weight>
BucketedArcs<Id, Weight> partition_arcs(std::int64_t n, std::int64_t arcs, const InId* tails,
                                        const InId* heads, const Weight* weights, bool symmetric,
                                        const TailBuckets& buckets, std::int64_t available,
                                        int threads, Monitor& monitor) {
  using Fault = BadArc::Fault;
  const std::int64_t grain = std::max(kArcGrain, arcs / 256);
  const std::int64_t pieces = (arcs + grain - 1) / grain;
  std::vector<std::int64_t> cursors(static_cast<std::size_t>(pieces * buckets.count));
  FirstFault fault;
  const auto in_range = [n](InId v) { return v >= 0 && static_cast<std::int64_t>(v) < n; };

  // Calls put(from, to, weight) for every direction of every arc of the piece that is kept.
  const auto each = [&](std::int64_t begin, std::int64_t end, auto&& put) {
    for (std::int64_t i = begin; i < end; ++i) {
      const InId tail = read_once(tails, i), head = read_once(heads, i);
      const Weight weight = read_once(weights, i);
      bool bad = !in_range(tail) || !in_range(head);
      if constexpr (kWeighted<Weight>) bad = bad || refused(weight);
      if (bad) return fault.note(i);
      if (absent(weight)) continue;
      put(tail, head, weight);
      if (symmetric && tail != head) put(head, tail, weight);
    }
  };

  parallel_for(arcs, grain, threads, monitor, [&](auto begin, auto end, int) {
    std::int64_t* counts = cursors.data() + begin / grain * buckets.count;
    each(begin, end, [&](InId from, InId, Weight) { ++counts[from >> buckets.shift]; });
  });
  if (fault.any()) {
    const std::int64_t i = fault.position();
    if (!in_range(read_once(tails, i))) throw BadArc{Fault::kTail, i};
    if (!in_range(read_once(heads, i))) throw BadArc{Fault::kHead, i};
    if constexpr (kWeighted<Weight>) {
      if (refused(read_once(weights, i))) throw BadArc{Fault::kWeight, i};
    }
    throw BadArc{Fault::kChanged, i};
  }

  BucketedArcs<Id, Weight> bucketed;
  std::vector<std::int64_t> ends(cursors.size()), arcs_of_bucket;
  std::int64_t total = 0;
  for (std::int64_t bucket = 0; bucket < buckets.count; ++bucket) {
    bucketed.starts.push_back(total);
    for (std::int64_t piece = 0; piece < pieces; ++piece) {
      const auto at = static_cast<std::size_t>(piece * buckets.count + bucket);
      total += std::exchange(cursors[at], total);
      ends[at] = total;
    }
    arcs_of_bucket.push_back(total - bucketed.starts.back());
  }
  bucketed.starts.push_back(total);
  const std::int64_t needed = peak_bytes<Id, Weight>(n, std::move(arcs_of_bucket), threads,
                                                     static_cast<std::int64_t>(2 * cursors.size()));
  if (needed > available) throw MemoryNeeded{needed};

  bucketed.tails = Buffer<std::uint32_t>(total);
  bucketed.heads = Buffer<Id>(total);
  if constexpr (kWeighted<Weight>) bucketed.weights = Buffer<Weight>(total);
  std::atomic<bool> changed{false};
  const auto within = (std::uint64_t{1} << buckets.shift) - 1;
  parallel_for(arcs, grain, threads, monitor, [&](auto begin, auto end, int) {
    const std::int64_t first = begin / grain * buckets.count;
    std::int64_t* const cursor = cursors.data() + first;
    const std::int64_t* const cursor_end = ends.data() + first;
    each(begin, end, [&](InId from, InId to, [[maybe_unused]] Weight weight) {
      const auto bucket = from >> buckets.shift;
      if (cursor[bucket] == cursor_end[bucket]) return changed.store(true);
      const std::int64_t at = cursor[bucket]++;
      bucketed.tails[at] = static_cast<std::uint32_t>(static_cast<std::uint64_t>(from) & within);
      bucketed.heads[at] = static_cast<Id>(to);
      if constexpr (kWeighted<Weight>) bucketed.weights[at] = weight;
    });
  });
  // untestable (|| to &&): another thread must change the arrays between two passes
  if (changed || fault.any() || cursors != ends) throw BadArc{Fault::kChanged, 0};
  return bucketed;
}

// Sorts one bucket into rows, sorts and combines each row, drops idle loops, and writes the rows
// one after another over the start of the bucket. lengths[v] is set for its vertices [first, first
// + vertices); until then it holds the end of row v.
template <class Id, class Weight>
void sort_bucket(BucketedArcs<Id, Weight>& bucketed, std::int64_t bucket, std::int64_t first,
                 std::int64_t vertices, Combine rule, std::int64_t* lengths) {
  const std::int64_t begin = bucketed.starts[bucket], end = bucketed.starts[bucket + 1];
  std::int64_t* const rows = lengths + first;
  std::fill_n(rows, vertices, 0);
  for (std::int64_t i = begin; i < end; ++i) ++rows[bucketed.tails[i]];
  std::int64_t sum = 0;
  for (std::int64_t v = 0; v < vertices; ++v) sum += std::exchange(rows[v], sum);

  std::vector<RowEntry<Id, Weight>> entries(static_cast<std::size_t>(end - begin));
  for (std::int64_t i = begin; i < end; ++i) {  // moves rows[v] from the start to the end of row v
    auto& entry = entries[rows[bucketed.tails[i]]++];
    entry.id = bucketed.heads[i];
    if constexpr (kWeighted<Weight>) entry.weight = bucketed.weights[i];
  }

  std::int64_t out = begin;
  auto row_end = entries.begin();
  for (std::int64_t v = 0; v < vertices; ++v) {
    const auto row = std::exchange(row_end, entries.begin() + rows[v]);
    if (!std::is_sorted(row, row_end)) std::sort(row, row_end);
    const std::int64_t row_out = out;
    for (auto entry = row; entry != row_end;) {
      const Id head = entry->id;
      Weight weight{};
      if constexpr (kWeighted<Weight>) weight = entry->weight;
      while (++entry != row_end && entry->id == head) {
        if constexpr (kWeighted<Weight>) weight = combined(weight, entry->weight, rule);
      }
      if (idle_loop(static_cast<Id>(first + v), head, weight)) continue;
      bucketed.heads[out] = head;
      if constexpr (kWeighted<Weight>) bucketed.weights[out] = weight;
      ++out;
    }
    rows[v] = out - row_out;
  }
}

}  // namespace

template <class InId, class Id, class Weight>
Csr<Id, Weight> build_csr(std::int64_t n, std::int64_t arcs, const InId* tails, const InId* heads,
                          const Weight* weights, bool symmetric, Combine combine,
                          std::int64_t available, int threads, Monitor& monitor) {
  const TailBuckets buckets(n, symmetric ? 2 * arcs : arcs);
  BucketedArcs<Id, Weight> bucketed = partition_arcs<InId, Id, Weight>(
      n, arcs, tails, heads, weights, symmetric, buckets, available, threads, monitor);

  Csr<Id, Weight> csr{Buffer<std::int64_t>(n + 1), {}, {}};
  const auto first = [&](std::int64_t bucket) { return std::min(bucket << buckets.shift, n); };
  parallel_for(buckets.count, 1, threads, monitor, [&](auto bucket, auto, int) {
    sort_bucket(bucketed, bucket, first(bucket), first(bucket + 1) - first(bucket), combine,
                csr.offsets.data());
  });
  csr.offsets[n] = 0;
  std::int64_t sum = 0;
  for (std::int64_t v = 0; v <= n; ++v) sum += std::exchange(csr.offsets[v], sum);
  bucketed.tails = {};

  if (sum == bucketed.heads.size()) {  // nothing was combined or dropped: the buckets are the rows
    csr.neighbors = std::move(bucketed.heads);
    csr.weights = std::move(bucketed.weights);
    return csr;
  }
  csr.neighbors = Buffer<Id>(sum);
  if constexpr (kWeighted<Weight>) csr.weights = Buffer<Weight>(sum);
  parallel_for(buckets.count, 1, threads, monitor, [&](auto bucket, auto, int) {
    const std::int64_t from = bucketed.starts[bucket], to = csr.offsets[first(bucket)];
    const std::int64_t length = csr.offsets[first(bucket + 1)] - to;
    std::copy_n(bucketed.heads.data() + from, length, csr.neighbors.data() + to);
    if constexpr (kWeighted<Weight>) {
      std::copy_n(bucketed.weights.data() + from, length, csr.weights.data() + to);
    }
  });
  return csr;
}

template <class Id, class Weight>
bool is_canonical(const Arcs<Id, Weight>& arcs, int threads, Monitor& monitor) {
  const std::int64_t n = arcs.n;
  const std::int64_t* const offsets = arcs.offsets;
  const Id* const neighbors = arcs.neighbors;
  const Weight* const weights = arcs.weights;
  FirstFault fault;
  std::atomic<bool> canonical{true};
  parallel_for(n, kVertexGrain, threads, monitor, [&](auto begin, auto end, int) {
    for (std::int64_t v = begin; v < end; ++v) {
      for (std::int64_t i = offsets[v]; i < offsets[v + 1]; ++i) {
        const Id u = neighbors[i];
        bool bad = u < 0 || static_cast<std::int64_t>(u) >= n;
        if constexpr (kWeighted<Weight>) bad = bad || refused(weights[i]);
        if (bad) return fault.note(i);
        // untestable (|| to &&): rows that are in order are sorted again
        const bool in_order = i == offsets[v] || neighbors[i - 1] < u;
        Weight weight{};
        if constexpr (kWeighted<Weight>) weight = weights[i];
        const bool dropped = absent(weight) || idle_loop(static_cast<Id>(v), u, weight);
        if (!in_order || dropped) canonical = false;
      }
    }
  });
  if (fault.any()) {
    const Id u = neighbors[fault.position()];
    const bool in_range = u >= 0 && static_cast<std::int64_t>(u) < n;
    throw BadArc{in_range ? BadArc::Fault::kWeight : BadArc::Fault::kHead, fault.position()};
  }
  return canonical;
}

#define KLEENE_WEIGHT(ID, W)                                                                      \
  template Csr<ID, W> build_csr<ID, ID, W>(std::int64_t, std::int64_t, const ID*, const ID*,      \
                                           const W*, bool, Combine, std::int64_t, int, Monitor&); \
  template bool is_canonical<ID, W>(const Arcs<ID, W>&, int, Monitor&);
#define KLEENE_NARROWING(W)                                                                 \
  template Csr<std::int32_t, W> build_csr<std::int64_t, std::int32_t, W>(                   \
      std::int64_t, std::int64_t, const std::int64_t*, const std::int64_t*, const W*, bool, \
      Combine, std::int64_t, int, Monitor&);
#define KLEENE_ID(ID)             \
  KLEENE_WEIGHT(ID, NoWeight)     \
  KLEENE_WEIGHT(ID, float)        \
  KLEENE_WEIGHT(ID, double)       \
  KLEENE_WEIGHT(ID, std::int32_t) \
  KLEENE_WEIGHT(ID, std::int64_t)

KLEENE_ID(std::int32_t)
KLEENE_ID(std::int64_t)
KLEENE_NARROWING(NoWeight)
KLEENE_NARROWING(float)
KLEENE_NARROWING(double)
KLEENE_NARROWING(std::int32_t)
KLEENE_NARROWING(std::int64_t)

}  // namespace kleene::graph
