// Bellman-Ford: arcs are relaxed in rounds until nothing changes.
//
//   sssp_bellman_ford_rounds            relaxes the arcs of vertices that changed in the last round
//   sssp_bellman_ford_plain_rounds      relaxes all arcs in each round
//   sssp_bellman_ford_double_ancestors  doubles the number of steps back along predecessors
//   sssp_bellman_ford_find_cycle        returns a vertex on a cycle of predecessors
//
// After round k every distance is at most that of the best path of up to k arcs. A launch runs many
// rounds, with a grid barrier after each.
//
// A vertex enters the next queue once: the first thread to set its enqueued_round to the next round
// enqueues it.
//
// Negative cycles. If lengths may be negative, a thread that lowers a distance writes the
// predecessor. Two threads that lower the same distance at once may leave the predecessor of the
// larger one; it is an arc of the graph all the same, so a cycle of predecessors is a cycle of the
// graph, and the host sums it. Integers must not wrap before that: the type holds every path twice
// over, so a distance below half its range comes from a cycle, and is not relaxed further.
//
// R. Bellman, "On a routing problem", 1958.
// A. Davidson et al., "Work-efficient parallel GPU methods for single-source shortest paths", 2014.
#include "common/distances.cuh"
#include "common/load_balance.cuh"

// Words of `state`: three alternating sizes, then these.
constexpr int kRound = 3, kWork = 4, kTooLow = 5;

template <class T>
__device__ __forceinline__ bool too_low(T distance) {
  if constexpr (kl_is_integer<T>) {
    return distance < -(KlLimits<T>::none() / 2);
  } else {
    return distance < static_cast<T>(sizeof(T) == 4 ? -1.7014117e38 : -8.988465674311579e307);
  }
}

// Relaxes the arc from u to v; returns whether the distance of v decreased.
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

// Round `round` reads the queue even or odd, of size state[round % 3]; the size of the next round
// is being counted, and the one after that is cleared. Returns early after `most` entries.
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

// A thread per arc; state[round % 3] is nonzero if the previous round changed a distance.
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

// A vertex that is n predecessors back from another is on a cycle.
KL_KERNEL(sssp_bellman_ford_find_cycle, const int* ancestors, int n, int* on_cycle) {
  const int v = blockIdx.x * blockDim.x + threadIdx.x;
  if (v < n && ancestors[v] >= 0) atomicMax(on_cycle, ancestors[v]);
}
