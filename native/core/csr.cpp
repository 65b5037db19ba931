#include "csr.hpp"

#include <algorithm>
#include <atomic>
#include <cmath>
#include <limits>
#include <type_traits>
#include <utility>
#include <vector>

#include "parallel.hpp"

namespace kleene {
namespace {

constexpr std::int64_t kArcGrain = 1 << 16;     // the fewest arcs handed to a thread at a time
constexpr std::int64_t kVertexGrain = 1 << 10;  // rows handed to a thread at a time

template <class Weight>
constexpr bool kWeighted = !std::is_same_v<Weight, NoWeight>;

// A weight that no graph may hold.
template <class Weight>
bool refused([[maybe_unused]] Weight w) {
  if constexpr (std::is_floating_point_v<Weight>) {
    return std::isnan(w) || w == -std::numeric_limits<Weight>::infinity();
  } else {
    return false;
  }
}

// An infinite weight means "no arc"; a self-loop matters only when it is a negative cycle.
template <class Id, class Weight>
bool dropped(Id source, Id target, [[maybe_unused]] const Weight* weights,
             [[maybe_unused]] std::int64_t arc) {
  if constexpr (kWeighted<Weight>) {
    if constexpr (std::is_floating_point_v<Weight>) {
      if (weights[arc] == std::numeric_limits<Weight>::infinity()) return true;
    }
    return source == target && !(weights[arc] < Weight{0});
  } else {
    return source == target;
  }
}

// Keeps the earliest fault seen by any thread.
class FirstFault {
 public:
  void note(std::int64_t position) {
    std::int64_t seen = position_.load(std::memory_order_relaxed);
    while (position < seen && !position_.compare_exchange_weak(seen, position)) {
    }
  }
  bool any() const { return position() != kNone; }
  std::int64_t position() const { return position_.load(std::memory_order_relaxed); }

 private:
  static constexpr std::int64_t kNone = std::numeric_limits<std::int64_t>::max();
  std::atomic<std::int64_t> position_{kNone};
};

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

// An arc without its source: what a row is sorted by. The weight comes second, so that a sum of
// floating-point weights does not depend on the order of the input.
template <class Id, class Weight>
struct Entry {
  Id id;
  Weight weight;
  bool operator<(const Entry& other) const {
    return id < other.id || (id == other.id && weight < other.weight);
  }
};

template <class Id>
struct Entry<Id, NoWeight> {
  Id id;
  bool operator<(const Entry& other) const { return id < other.id; }
};

// Sources are dealt into at most kMostBuckets runs of 2^shift vertices, of some kBucketArcs each.
struct Buckets {
  static constexpr std::int64_t kMostBuckets = 1024;
  static constexpr std::int64_t kBucketArcs = 1 << 16;

  Buckets(std::int64_t n, std::int64_t arcs) {
    const std::int64_t wanted = std::clamp<std::int64_t>(arcs / kBucketArcs, 1, kMostBuckets);
    while ((n >> shift) + 1 > wanted) ++shift;
    count = (n >> shift) + 1;
  }

  int shift = 0;
  std::int64_t count = 0;
};

// The arcs dealt into buckets, as three parallel arrays. A source is kept relative to its bucket.
template <class Id, class Weight>
struct Dealt {
  std::vector<std::int64_t> starts;  // of each bucket, and the end of the last
  Buffer<std::uint32_t> sources;
  Buffer<Id> targets;
  Buffer<Weight> weights;
};

// Each piece of the input counts its arcs per bucket, so that in a second pass it knows where to
// put them without asking the other pieces.
template <class InId, class Id, class Weight>
Dealt<Id, Weight> deal(std::int64_t n, std::int64_t arcs, const InId* sources, const InId* targets,
                       const Weight* weights, bool symmetric, const Buckets& buckets, int threads,
                       Monitor& monitor) {
  const std::int64_t grain = std::max(kArcGrain, arcs / 256);
  const std::int64_t pieces = (arcs + grain - 1) / grain;
  std::vector<std::int64_t> cursors(static_cast<std::size_t>(pieces * buckets.count));
  FirstFault fault;
  const auto in_range = [n](InId v) { return v >= 0 && static_cast<std::int64_t>(v) < n; };

  // Calls put(from, to, arc) for every direction of every arc of the piece that is kept.
  const auto each = [&](std::int64_t begin, std::int64_t end, auto&& put) {
    for (std::int64_t i = begin; i < end; ++i) {
      if (dropped(sources[i], targets[i], weights, i)) continue;
      put(sources[i], targets[i], i);
      if (symmetric && sources[i] != targets[i]) put(targets[i], sources[i], i);
    }
  };

  parallel_for(arcs, grain, threads, monitor, [&](auto begin, auto end, int) {
    for (std::int64_t i = begin; i < end; ++i) {
      bool bad = !in_range(sources[i]) || !in_range(targets[i]);
      if constexpr (kWeighted<Weight>) bad = bad || refused(weights[i]);
      if (bad) return fault.note(i);
    }
    std::int64_t* counts = cursors.data() + begin / grain * buckets.count;
    each(begin, end, [&](InId from, InId, std::int64_t) { ++counts[from >> buckets.shift]; });
  });
  if (fault.any()) {
    const std::int64_t i = fault.position();
    using Fault = BadArc::Fault;
    throw BadArc{!in_range(sources[i])   ? Fault::kSource
                 : !in_range(targets[i]) ? Fault::kTarget
                                         : Fault::kWeight,
                 i};
  }

  Dealt<Id, Weight> dealt;
  std::int64_t total = 0;
  for (std::int64_t bucket = 0; bucket < buckets.count; ++bucket) {
    dealt.starts.push_back(total);
    for (std::int64_t piece = 0; piece < pieces; ++piece) {
      total += std::exchange(cursors[piece * buckets.count + bucket], total);
    }
  }
  dealt.starts.push_back(total);
  dealt.sources = Buffer<std::uint32_t>(total);
  dealt.targets = Buffer<Id>(total);
  if constexpr (kWeighted<Weight>) dealt.weights = Buffer<Weight>(total);

  const auto within = (std::uint64_t{1} << buckets.shift) - 1;
  parallel_for(arcs, grain, threads, monitor, [&](auto begin, auto end, int) {
    std::int64_t* cursor = cursors.data() + begin / grain * buckets.count;
    each(begin, end, [&](InId from, InId to, std::int64_t arc) {
      const std::int64_t at = cursor[from >> buckets.shift]++;
      dealt.sources[at] = static_cast<std::uint32_t>(static_cast<std::uint64_t>(from) & within);
      dealt.targets[at] = static_cast<Id>(to);
      if constexpr (kWeighted<Weight>) dealt.weights[at] = weights[arc];
    });
  });
  return dealt;
}

// Sorts one bucket into rows, settles each row, and writes them one after another over the start
// of the bucket. lengths[v] is set for its vertices [first, first + vertices).
template <class Id, class Weight>
void settle_bucket(Dealt<Id, Weight>& dealt, std::int64_t bucket, std::int64_t first,
                   std::int64_t vertices, Combine rule, std::int64_t* lengths) {
  const std::int64_t begin = dealt.starts[bucket], end = dealt.starts[bucket + 1];
  std::vector<std::int64_t> rows(static_cast<std::size_t>(vertices + 1));
  for (std::int64_t i = begin; i < end; ++i) ++rows[dealt.sources[i]];
  std::int64_t sum = 0;
  for (std::int64_t& row : rows) sum += std::exchange(row, sum);

  std::vector<Entry<Id, Weight>> entries(static_cast<std::size_t>(end - begin));
  for (std::int64_t i = begin; i < end; ++i) {  // moves rows[v] from the start to the end of row v
    auto& entry = entries[rows[dealt.sources[i]]++];
    entry.id = dealt.targets[i];
    if constexpr (kWeighted<Weight>) entry.weight = dealt.weights[i];
  }

  std::int64_t out = begin;
  for (std::int64_t v = 0; v < vertices; ++v) {
    const auto row = entries.begin() + (v == 0 ? 0 : rows[v - 1]);
    const auto row_end = entries.begin() + rows[v];
    if (!std::is_sorted(row, row_end)) std::sort(row, row_end);
    const std::int64_t row_out = out;
    for (auto entry = row; entry != row_end; ++entry) {
      if (out > row_out && dealt.targets[out - 1] == entry->id) {
        if constexpr (kWeighted<Weight>) {
          dealt.weights[out - 1] = combined(dealt.weights[out - 1], entry->weight, rule);
        }
        continue;
      }
      dealt.targets[out] = entry->id;
      if constexpr (kWeighted<Weight>) dealt.weights[out] = entry->weight;
      ++out;
    }
    lengths[first + v] = out - row_out;
  }
}

}  // namespace

template <class InId, class Id, class Weight>
Csr<Id, Weight> build_csr(std::int64_t n, std::int64_t arcs, const InId* sources,
                          const InId* targets, const Weight* weights, bool symmetric,
                          Combine combine, int threads, Monitor& monitor) {
  const Buckets buckets(n, symmetric ? 2 * arcs : arcs);
  Dealt<Id, Weight> dealt = deal<InId, Id, Weight>(n, arcs, sources, targets, weights, symmetric,
                                                   buckets, threads, monitor);

  Csr<Id, Weight> csr{Buffer<std::int64_t>(n + 1), {}, {}};
  const auto first = [&](std::int64_t bucket) { return std::min(bucket << buckets.shift, n); };
  parallel_for(buckets.count, 1, threads, monitor, [&](auto bucket, auto, int) {
    settle_bucket(dealt, bucket, first(bucket), first(bucket + 1) - first(bucket), combine,
                  csr.offsets.data());
  });
  csr.offsets[n] = 0;
  std::int64_t sum = 0;
  for (std::int64_t v = 0; v <= n; ++v) sum += std::exchange(csr.offsets[v], sum);
  dealt.sources = {};

  if (sum == dealt.targets.size()) {  // nothing was combined: the buckets are the rows already
    csr.neighbors = std::move(dealt.targets);
    csr.weights = std::move(dealt.weights);
    return csr;
  }
  csr.neighbors = Buffer<Id>(sum);
  if constexpr (kWeighted<Weight>) csr.weights = Buffer<Weight>(sum);
  parallel_for(buckets.count, 1, threads, monitor, [&](auto bucket, auto, int) {
    const std::int64_t from = dealt.starts[bucket], to = csr.offsets[first(bucket)];
    const std::int64_t length = csr.offsets[first(bucket + 1)] - to;
    std::copy_n(dealt.targets.data() + from, length, csr.neighbors.data() + to);
    if constexpr (kWeighted<Weight>) {
      std::copy_n(dealt.weights.data() + from, length, csr.weights.data() + to);
    }
  });
  return csr;
}

template <class Id, class Weight>
bool is_canonical(std::int64_t n, const std::int64_t* offsets, const Id* neighbors,
                  const Weight* weights, int threads, Monitor& monitor) {
  FirstFault fault;
  std::atomic<bool> canonical{true};
  parallel_for(n, kVertexGrain, threads, monitor, [&](auto begin, auto end, int) {
    for (std::int64_t v = begin; v < end; ++v) {
      for (std::int64_t i = offsets[v]; i < offsets[v + 1]; ++i) {
        const Id u = neighbors[i];
        bool bad = u < 0 || static_cast<std::int64_t>(u) >= n;
        if constexpr (kWeighted<Weight>) bad = bad || refused(weights[i]);
        if (bad) return fault.note(i);
        const bool in_order = i == offsets[v] || neighbors[i - 1] < u;
        if (!in_order || dropped(static_cast<Id>(v), u, weights, i)) canonical = false;
      }
    }
  });
  if (fault.any()) {
    const Id u = neighbors[fault.position()];
    const bool in_range = u >= 0 && static_cast<std::int64_t>(u) < n;
    throw BadArc{in_range ? BadArc::Fault::kWeight : BadArc::Fault::kTarget, fault.position()};
  }
  return canonical;
}

template <class Id>
Sweep bfs_sweep(std::int64_t n, const std::int64_t* offsets, const Id* neighbors,
                std::int64_t source, Monitor& monitor) {
  std::vector<bool> seen(static_cast<std::size_t>(n));
  std::vector<Id> queue{static_cast<Id>(source)};
  seen[static_cast<std::size_t>(source)] = true;
  std::int64_t depth = 0;
  for (std::size_t at = 0, level_end = 1; at < queue.size(); ++at) {
    if (at == level_end) {
      ++depth;
      level_end = queue.size();
    }
    if (at % 65536 == 0) monitor.poll();
    for (std::int64_t i = offsets[queue[at]]; i < offsets[queue[at] + 1]; ++i) {
      const Id u = neighbors[i];
      if (seen[static_cast<std::size_t>(u)]) continue;
      seen[static_cast<std::size_t>(u)] = true;
      queue.push_back(u);
    }
  }
  return {depth, static_cast<std::int64_t>(queue.back()), static_cast<std::int64_t>(queue.size())};
}

#define KLEENE_WEIGHT(ID, W)                                                                     \
  template Csr<ID, W> build_csr<ID, ID, W>(std::int64_t, std::int64_t, const ID*, const ID*,     \
                                           const W*, bool, Combine, int, Monitor&);              \
  template bool is_canonical<ID, W>(std::int64_t, const std::int64_t*, const ID*, const W*, int, \
                                    Monitor&);
#define KLEENE_NARROWING(W)                                                                 \
  template Csr<std::int32_t, W> build_csr<std::int64_t, std::int32_t, W>(                   \
      std::int64_t, std::int64_t, const std::int64_t*, const std::int64_t*, const W*, bool, \
      Combine, int, Monitor&);
#define KLEENE_ID(ID)                                                                      \
  KLEENE_WEIGHT(ID, NoWeight)                                                              \
  KLEENE_WEIGHT(ID, float)                                                                 \
  KLEENE_WEIGHT(ID, double)                                                                \
  KLEENE_WEIGHT(ID, std::int32_t)                                                          \
  KLEENE_WEIGHT(ID, std::int64_t)                                                          \
  template Sweep bfs_sweep<ID>(std::int64_t, const std::int64_t*, const ID*, std::int64_t, \
                               Monitor&);

KLEENE_ID(std::int32_t)
KLEENE_ID(std::int64_t)
KLEENE_NARROWING(NoWeight)
KLEENE_NARROWING(float)
KLEENE_NARROWING(double)
KLEENE_NARROWING(std::int32_t)
KLEENE_NARROWING(std::int64_t)

}  // namespace kleene
