// The generators that list arcs or edges in any order and leave the rest to build_csr.
#include <algorithm>
#include <vector>

#include "generate/generate.hpp"
#include "generate/random.hpp"
#include "generate/subset.hpp"
#include "parallel/team.hpp"

namespace kleene::generate {
namespace {

constexpr std::int64_t kArcGrain = 1 << 14;  // arcs handed to a thread at a time
constexpr std::int64_t kRowGrain = 1 << 6;   // rows handed to a thread at a time

template <class Id>
ArcList<Id> room_for(std::int64_t arcs) {
  return {Buffer<Id>(arcs), Buffer<Id>(arcs)};
}

}  // namespace

// ---- R-MAT -------------------------------------------------------------------------------------

namespace {

// A random permutation of [0, n), written down for vertices that are looked up many times.
template <class Id>
Buffer<Id> random_labels(std::int64_t n, std::uint64_t seed, int threads, Monitor& monitor) {
  const Shuffle shuffle(static_cast<std::uint64_t>(n), Stream(seed, Purpose::kRelabel));
  Buffer<Id> labels(n);
  parallel_for(n, kArcGrain, threads, monitor, [&](auto begin, auto end, int) {
    for (std::int64_t v = begin; v < end; ++v) {
      labels[v] = static_cast<Id>(shuffle[static_cast<std::uint64_t>(v)]);
    }
  });
  return labels;
}

}  // namespace

template <class Id>
ArcList<Id> rmat_arcs(std::span<const RmatStep> steps, std::int64_t n, std::int64_t first,
                      std::int64_t arcs, bool relabel, std::uint64_t seed, int threads,
                      Monitor& monitor) {
  const bool written = relabel && rmat_writes_labels(n, arcs);
  Buffer<Id> labels;
  if (written) labels = random_labels<Id>(n, seed, threads, monitor);
  const Shuffle shuffle(static_cast<std::uint64_t>(n), Stream(seed, Purpose::kRelabel));
  const auto label = [&](std::uint64_t v) {
    if (written) return labels[static_cast<std::int64_t>(v)];
    return static_cast<Id>(relabel ? shuffle[v] : v);
  };
  const Stream stream(seed, Purpose::kArcs);
  ArcList<Id> made = room_for<Id>(arcs);
  parallel_for(arcs, kArcGrain, threads, monitor, [&](auto begin, auto end, int) {
    for (std::int64_t arc = begin; arc < end; ++arc) {
      std::uint64_t tail = 0, head = 0;
      std::uint64_t draw = static_cast<std::uint64_t>(first + arc) * steps.size();
      for (const RmatStep& step : steps) {
        const unsigned outcome = step.outcome(stream[draw++]);
        tail = tail << RmatStep::kLevels | outcome >> RmatStep::kLevels;
        head = head << RmatStep::kLevels | outcome % (1 << RmatStep::kLevels);
      }
      made.tails[arc] = label(tail);
      made.heads[arc] = label(head);
    }
  });
  return made;
}

// ---- uniform -----------------------------------------------------------------------------------

// The pairs of n vertices, numbered. An odd number of vertices stands in a circle: pair
// (u, distance) is u and the vertex so many places on, up to half way round. With an even number
// the last vertex stands apart, and distance 0 means the pair of u and that one.
template <class Id>
ArcList<Id> uniform_edges(std::int64_t n, std::int64_t edges, std::uint64_t seed, int threads,
                          Monitor& monitor) {
  const auto circle = static_cast<std::uint64_t>(n % 2 == 1 ? n : n - 1);
  const auto distances = static_cast<std::uint64_t>(n / 2);
  const auto nearest = static_cast<std::uint64_t>(n % 2);
  const Shuffle shuffle(n < 2 ? 0 : circle * distances, Stream(seed, Purpose::kArcs));
  ArcList<Id> made = room_for<Id>(edges);
  parallel_for(edges, kArcGrain, threads, monitor, [&](auto begin, auto end, int) {
    for (std::int64_t edge = begin; edge < end; ++edge) {
      const std::uint64_t pair = shuffle[static_cast<std::uint64_t>(edge)];
      const std::uint64_t u = pair / distances, distance = nearest + pair % distances;
      made.tails[edge] = static_cast<Id>(u);
      made.heads[edge] = static_cast<Id>(distance == 0 ? circle : (u + distance) % circle);
    }
  });
  return made;
}

// ---- a path and more ---------------------------------------------------------------------------

template <class Id>
ArcList<Id> path_plus_arcs(std::int64_t n, std::int64_t extra, std::uint64_t seed, int threads,
                           Monitor& monitor) {
  // Row v holds the arcs into v: the one of the path, except for vertex 0, and the others.
  const std::int64_t first = std::min(extra, n - 1), others = std::min(extra + 1, n - 1);
  const Stream stream(seed, Purpose::kRows);
  ArcList<Id> made = room_for<Id>(n == 0 ? 0 : first + (n - 1) * others);
  std::vector<SubsetSampler<Id>> samplers(static_cast<std::size_t>(threads));
  parallel_for(n, kRowGrain, threads, monitor, [&](auto begin, auto end, int thread) {
    for (std::int64_t row = begin; row < end; ++row) {
      const Id v = static_cast<Id>(row), before = v - 1;
      const std::int64_t size = row == 0 ? first : others;
      const std::int64_t at = row == 0 ? 0 : first + (row - 1) * others;
      Id* out = made.tails.data() + at;
      samplers[static_cast<std::size_t>(thread)].sample(
          n - 1, size, {&before, static_cast<std::size_t>(row == 0 ? 0 : 1)},
          stream.branch(static_cast<std::uint64_t>(row)), out);
      for (std::int64_t i = 0; i < size; ++i) out[i] += out[i] >= v;
      std::fill_n(made.heads.data() + at, size, v);
    }
  });
  return made;
}

// ---- small worlds ------------------------------------------------------------------------------

// Every pair of vertices belongs to the one that reaches the other in fewer steps round the ring
// (the lower, if neither does), and only that one may choose it. So no two vertices ever choose
// the same edge, and the rows are independent. Row v holds distances, less one.
template <class Id>
ArcList<Id> small_world_edges(std::int64_t n, std::int64_t reach, std::uint64_t rewire,
                              std::uint64_t seed, int threads, Monitor& monitor) {
  const Stream drops(seed, Purpose::kDrop), stream(seed, Purpose::kRows);
  ArcList<Id> made = room_for<Id>(n * reach);
  std::vector<SubsetSampler<Id>> samplers(static_cast<std::size_t>(threads));
  parallel_for(n, kRowGrain, threads, monitor, [&](auto begin, auto end, int thread) {
    std::vector<Id> kept;
    for (std::int64_t v = begin; v < end; ++v) {
      kept.clear();
      for (std::int64_t distance = 0; distance < reach; ++distance) {
        const auto bits = drops[static_cast<std::uint64_t>(v * reach + distance)];
        // untestable (>= to >): equal once in 2^64 draws
        if (bits >= rewire) kept.push_back(static_cast<Id>(distance));
      }
      const std::int64_t owned = v < n / 2 ? n / 2 : (n - 1) / 2;
      Id* out = made.heads.data() + v * reach;
      samplers[static_cast<std::size_t>(thread)].sample(
          owned, reach, kept, stream.branch(static_cast<std::uint64_t>(v)), out);
      for (std::int64_t i = 0; i < reach; ++i) out[i] = static_cast<Id>((v + 1 + out[i]) % n);
      std::fill_n(made.tails.data() + v * reach, reach, static_cast<Id>(v));
    }
  });
  return made;
}

#define KLEENE_ID(ID)                                                                       \
  template ArcList<ID> rmat_arcs<ID>(std::span<const RmatStep>, std::int64_t, std::int64_t, \
                                     std::int64_t, bool, std::uint64_t, int, Monitor&);     \
  template ArcList<ID> uniform_edges<ID>(std::int64_t, std::int64_t, std::uint64_t, int,    \
                                         Monitor&);                                         \
  template ArcList<ID> path_plus_arcs<ID>(std::int64_t, std::int64_t, std::uint64_t, int,   \
                                          Monitor&);                                        \
  template ArcList<ID> small_world_edges<ID>(std::int64_t, std::int64_t, std::uint64_t,     \
                                             std::uint64_t, int, Monitor&);

KLEENE_ID(std::int32_t)
KLEENE_ID(std::int64_t)

}  // namespace kleene::generate
