// Bellman-Ford: arcs are relaxed in rounds, until nothing changes.
//
//   bellman_ford_rounds   relaxes the arcs of the vertices that changed in the round before
//   bellman_ford_sweeps   relaxes all arcs in each round
//   bellman_ford_chains   goes twice as far back along predecessors
//   bellman_ford_circles  tells a vertex that predecessors lead back to
//
// After round k every distance is at most the length of the best path of up to k arcs. A launch
// runs many rounds, with a barrier of the whole grid after each.
//
// A vertex enters the next queue once: whoever first stamps it with the round puts it there.
//
// Negative cycles. Where lengths may be negative, whoever lowers a distance notes its vertex as the
// predecessor. Two that lower the same one at once may leave the wrong note; it is a true arc all
// the same, so a circle of notes is a cycle of the graph, and the host adds it up. Integers must
// not wrap before that: distances hold every path twice over, so one below half the range of its
// type has gone round a cycle, and nothing is relaxed from there.
//
// R. Bellman, "On a routing problem", 1958.
// A. Davidson et al., "Work-efficient parallel GPU methods for single-source shortest paths", 2014.
#include "arcs.cuh"
#include "distances.cuh"

// Words of `state`: three sizes that take turns, then these.
constexpr int kRound = 3, kWork = 4, kTooLow = 5;

template <class T>
__device__ __forceinline__ bool too_low(T distance) {
  if constexpr (kl_is_integer<T>) {
    return distance < -(KlLimits<T>::none() / 2);
  } else {
    return distance < static_cast<T>(sizeof(T) == 4 ? -1.7014117e38 : -8.988465674311579e307);
  }
}

// Relaxes the arc from u to v; true if that lowered the distance of v.
__device__ __forceinline__ bool relax(int u, KL_TYPE from, int v, KL_TYPE length, KL_TYPE limit,
                                      KL_TYPE rise, KL_TYPE* distances, int* parents) {
  const KL_TYPE through = kl_summand(from, rise) + kl_summand(length, rise);
  if (through > limit || !(through < kl_load(distances + v))) return false;
  if (!(through < kl_atomic_min(distances + v, through))) return false;
  if (parents != nullptr) kl_store(parents + v, u);
  return true;
}

__device__ __forceinline__ bool is_first() { return blockIdx.x == 0 && threadIdx.x == 0; }

// Round `round` takes its vertices from even or odd; state[round % 3] is their number, the next
// round's is being counted, and the one after that is set to zero. Ends early when `most` entries
// were taken.
KL_KERNEL_BOUNDS(256, 4, bellman_ford_rounds, const long long* offsets, const int* neighbors,
                 const KL_TYPE* lengths, KL_TYPE* distances, int* parents, int* stamps,
                 KL_TYPE limit, KL_TYPE rise, long long* even, long long* odd,
                 unsigned long long* state, long long round, int rounds, long long most,
                 unsigned* barrier) {
  const KL_TYPE none = KlLimits<KL_TYPE>::none();
  long long work = 0;
  for (const long long end = round + rounds; round < end && work < most; ++round) {
    const long long size = static_cast<long long>(kl_load(state + round % 3));
    if (size == 0) break;
    if (is_first()) kl_store(state + (round + 2) % 3, 0ull);
    work += size;
    const int stamp = static_cast<int>(round + 1);
    long long* const next = round % 2 == 0 ? odd : even;
    kl_expand(
        round % 2 == 0 ? even : odd, size, offsets,
        [&](int u) {
          const KL_TYPE from = kl_load(distances + u);
          if (!too_low(from)) return from;
          kl_store(state + kTooLow, 1ull);
          return none;
        },
        [&](bool active, int u, KL_TYPE from, long long arc) {
          int v = 0;
          bool enters = false;
          if (active && from != none) {
            v = neighbors[arc];
            enters = relax(u, from, v, lengths[arc], limit, rise, distances, parents) &&
                     atomicExch(stamps + v, stamp) != stamp;
          }
          kl_enqueue(enters, v, offsets, next, state + (round + 1) % 3);
        });
    kl_grid_sync(barrier);
  }
  if (is_first()) {
    kl_store(state + kRound, static_cast<unsigned long long>(round));
    kl_store(state + kWork, static_cast<unsigned long long>(work));
  }
}

// A thread for an arc; state[round % 3] tells whether the round before changed anything.
KL_KERNEL_BOUNDS(256, 4, bellman_ford_sweeps, const int* tails, const int* neighbors,
                 const KL_TYPE* lengths, long long m, KL_TYPE* distances, int* parents,
                 KL_TYPE limit, KL_TYPE rise, unsigned long long* state, long long round,
                 int rounds, unsigned* barrier) {
  const KL_TYPE none = KlLimits<KL_TYPE>::none();
  const long long begin = round, stride = gridDim.x * static_cast<long long>(blockDim.x);
  for (const long long end = round + rounds; round < end; ++round) {
    if (kl_load(state + round % 3) == 0) break;
    if (is_first()) kl_store(state + (round + 2) % 3, 0ull);
    bool changed = false;
    for (long long arc = blockIdx.x * static_cast<long long>(blockDim.x) + threadIdx.x; arc < m;
         arc += stride) {
      const KL_TYPE from = kl_load(distances + tails[arc]);
      if (from == none) continue;
      if (too_low(from)) {
        kl_store(state + kTooLow, 1ull);
        continue;
      }
      changed |=
          relax(tails[arc], from, neighbors[arc], lengths[arc], limit, rise, distances, parents);
    }
    if (changed) kl_store(state + (round + 1) % 3, 1ull);
    kl_grid_sync(barrier);
  }
  if (is_first()) {
    kl_store(state + kRound, static_cast<unsigned long long>(round));
    kl_store(state + kWork, static_cast<unsigned long long>((round - begin) * m));
  }
}

KL_KERNEL(bellman_ford_chains, const int* ancestors, int* farther, int n) {
  const int v = blockIdx.x * blockDim.x + threadIdx.x;
  if (v < n) farther[v] = ancestors[v] < 0 ? -1 : ancestors[ancestors[v]];
}

// Whatever has an ancestor n steps back has one that is on a circle.
KL_KERNEL(bellman_ford_circles, const int* ancestors, int n, int* found) {
  const int v = blockIdx.x * blockDim.x + threadIdx.x;
  if (v < n && ancestors[v] >= 0) atomicMax(found, ancestors[v]);
}
