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
#include "common/distances.cuh"
#include "common/load_balance.cuh"

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
__device__ __forceinline__ bool relax(int u, KL_TYPE tail_distance, int v, KL_TYPE length,
                                      KL_TYPE limit, KL_TYPE bias, KL_TYPE* distances,
                                      int* predecessors) {
  const KL_TYPE through = kl_biased_term(tail_distance, bias) + kl_biased_term(length, bias);
  if (through > limit || !(through < kl_load(distances + v))) return false;
  if (!(through < kl_atomic_min(distances + v, through))) return false;
  if (predecessors != nullptr) kl_store(predecessors + v, u);
  return true;
}

__device__ __forceinline__ bool is_first() { return blockIdx.x == 0 && threadIdx.x == 0; }

// Round `round` takes its vertices from even or odd; state[round % 3] is their number, the next
// round's is being counted, and the one after that is set to zero. Ends early when `most` entries
// were taken.
KL_KERNEL_BOUNDS(256, 4, sssp_bellman_ford_rounds, const long long* offsets, const int* neighbors,
                 const KL_TYPE* lengths, KL_TYPE* distances, int* predecessors, int* enqueued_round,
                 KL_TYPE limit, KL_TYPE bias, long long* even, long long* odd,
                 unsigned long long* state, long long round, int rounds, long long most,
                 unsigned* barrier) {
  const KL_TYPE none = KlLimits<KL_TYPE>::none();
  long long work = 0;
  for (const long long end = round + rounds; round < end && work < most; ++round) {
    const long long size = static_cast<long long>(kl_load(state + round % 3));
    if (size == 0) break;
    if (is_first()) kl_store(state + (round + 2) % 3, 0ull);
    work += size;
    const int next_round = static_cast<int>(round + 1);
    long long* const next = round % 2 == 0 ? odd : even;
    kl_expand(
        round % 2 == 0 ? even : odd, size, offsets,
        [&](int u) {
          const KL_TYPE tail_distance = kl_load(distances + u);
          if (!too_low(tail_distance)) return tail_distance;
          kl_store(state + kTooLow, 1ull);
          return none;
        },
        [&](bool active, int u, KL_TYPE tail_distance, long long arc) {
          int v = 0;
          bool enqueues = false;
          if (active && tail_distance != none) {
            v = neighbors[arc];
            enqueues =
                relax(u, tail_distance, v, lengths[arc], limit, bias, distances, predecessors) &&
                atomicExch(enqueued_round + v, next_round) != next_round;
          }
          kl_enqueue(enqueues, v, offsets, next, state + (round + 1) % 3);
        });
    kl_grid_sync(barrier);
  }
  if (is_first()) {
    kl_store(state + kRound, static_cast<unsigned long long>(round));
    kl_store(state + kWork, static_cast<unsigned long long>(work));
  }
}

// A thread for an arc; state[round % 3] tells whether the round before changed anything.
KL_KERNEL_BOUNDS(256, 4, sssp_bellman_ford_plain_rounds, const int* tails, const int* neighbors,
                 const KL_TYPE* lengths, long long m, KL_TYPE* distances, int* predecessors,
                 KL_TYPE limit, KL_TYPE bias, unsigned long long* state, long long round,
                 int rounds, unsigned* barrier) {
  const KL_TYPE none = KlLimits<KL_TYPE>::none();
  const long long begin = round, stride = gridDim.x * static_cast<long long>(blockDim.x);
  for (const long long end = round + rounds; round < end; ++round) {
    if (kl_load(state + round % 3) == 0) break;
    if (is_first()) kl_store(state + (round + 2) % 3, 0ull);
    bool changed = false;
    for (long long arc = blockIdx.x * static_cast<long long>(blockDim.x) + threadIdx.x; arc < m;
         arc += stride) {
      const KL_TYPE tail_distance = kl_load(distances + tails[arc]);
      if (tail_distance == none) continue;
      if (too_low(tail_distance)) {
        kl_store(state + kTooLow, 1ull);
        continue;
      }
      changed |= relax(tails[arc], tail_distance, neighbors[arc], lengths[arc], limit, bias,
                       distances, predecessors);
    }
    if (changed) kl_store(state + (round + 1) % 3, 1ull);
    kl_grid_sync(barrier);
  }
  if (is_first()) {
    kl_store(state + kRound, static_cast<unsigned long long>(round));
    kl_store(state + kWork, static_cast<unsigned long long>((round - begin) * m));
  }
}

KL_KERNEL(sssp_bellman_ford_double_ancestors, const int* ancestors, int* doubled, int n) {
  const int v = blockIdx.x * blockDim.x + threadIdx.x;
  if (v < n) doubled[v] = ancestors[v] < 0 ? -1 : ancestors[ancestors[v]];
}

// Whatever has an ancestor n steps back has one that is on a circle.
KL_KERNEL(sssp_bellman_ford_find_cycle, const int* ancestors, int n, int* on_cycle) {
  const int v = blockIdx.x * blockDim.x + threadIdx.x;
  if (v < n && ancestors[v] >= 0) atomicMax(on_cycle, ancestors[v]);
}
