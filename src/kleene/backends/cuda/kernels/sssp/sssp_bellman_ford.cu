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

// ---- shared with the host -----------------------------------------------------------------------

// Words of `state`: three alternating sizes, then these.
const int kRound = 3;   // the next one
const int kWork = 4;    // entries or arcs of this launch
const int kTooLow = 5;  // whether a distance is below half the range of its type

struct FrontierParams {
  const long long* offsets;  // outgoing arcs
  const int* neighbors;
  const KL_TYPE* lengths;
  KL_TYPE* distances;
  int* predecessors;    // or null
  int* enqueued_round;  // of each vertex, the last
  long long* even;      // queues of even and odd rounds
  long long* odd;
  unsigned long long* state;
  unsigned* barrier;
  long long round;  // the first of this launch
  long long most;   // queue entries of this launch, about
  int rounds;       // of this launch, at most
  KL_TYPE limit;    // the largest distance
  KL_TYPE bias;
};

struct PlainParams {
  const int* tails;  // of all arcs
  const int* neighbors;
  const KL_TYPE* lengths;
  KL_TYPE* distances;
  int* predecessors;  // or null
  unsigned long long* state;
  unsigned* barrier;
  long long m;
  long long round;  // the first of this launch
  int rounds;       // of this launch, at most
  KL_TYPE limit;    // the largest distance
  KL_TYPE bias;
};

// ---- steps --------------------------------------------------------------------------------------

template <class T>
__device__ __forceinline__ bool too_low(T distance) {
  if constexpr (kl_is_integer<T>) {
    return distance < -(KlLimits<T>::none() / 2);
  } else {
    return distance < static_cast<T>(sizeof(T) == 4 ? -1.7014117e38 : -8.988465674311579e307);
  }
}

// Relaxes the arc from u to v; returns whether the distance of v decreased.
template <class Params>
__device__ __forceinline__ bool relax(const Params& params, int u, KL_TYPE tail_distance, int v,
                                      KL_TYPE length) {
  const KL_TYPE through =
      kl_biased_term(tail_distance, params.bias) + kl_biased_term(length, params.bias);
  if (through > params.limit || !(through < kl_load(params.distances + v))) return false;
  if (!(through < kl_atomic_min(params.distances + v, through))) return false;
  if (params.predecessors != nullptr) kl_store(params.predecessors + v, u);
  return true;
}

// The distance of a tail, or no_path if it must not be relaxed further.
template <class Params>
__device__ __forceinline__ KL_TYPE load_tail(const Params& params, int u) {
  const KL_TYPE tail_distance = kl_load(params.distances + u);
  if (!too_low(tail_distance)) return tail_distance;
  kl_store(params.state + kTooLow, 1ull);
  return KlLimits<KL_TYPE>::none();
}

// Relaxes the arcs of a queue; heads whose distances decrease go into the next one.
__device__ __forceinline__ void relax_queue(const FrontierParams& params, long long round,
                                            long long size) {
  const int next_round = static_cast<int>(round + 1);
  long long* const next = round % 2 == 0 ? params.odd : params.even;
  kl_expand(
      round % 2 == 0 ? params.even : params.odd, size, params.offsets,
      [&](int u) { return load_tail(params, u); },
      [&](bool active, int u, KL_TYPE tail_distance, long long arc) {
        int v = 0;
        bool enqueues = false;
        if (active && tail_distance != KlLimits<KL_TYPE>::none()) {
          v = __ldg(params.neighbors + arc);
          enqueues = relax(params, u, tail_distance, v, __ldg(params.lengths + arc)) &&
                     atomicExch(params.enqueued_round + v, next_round) != next_round;
        }
        kl_enqueue(enqueues, v, params.offsets, next, params.state + (round + 1) % 3);
      });
}

// Relaxes all arcs, one by each thread; returns whether a distance decreased.
__device__ __forceinline__ bool relax_all(const PlainParams& params) {
  const long long stride = gridDim.x * static_cast<long long>(blockDim.x);
  bool changed = false;
  for (long long arc = blockIdx.x * static_cast<long long>(blockDim.x) + threadIdx.x;
       arc < params.m; arc += stride) {
    const int u = __ldg(params.tails + arc);
    const KL_TYPE tail_distance = load_tail(params, u);
    if (tail_distance == KlLimits<KL_TYPE>::none()) continue;
    changed |=
        relax(params, u, tail_distance, __ldg(params.neighbors + arc), __ldg(params.lengths + arc));
  }
  return changed;
}

__device__ __forceinline__ bool is_first() { return blockIdx.x == 0 && threadIdx.x == 0; }

// The rounds and the work of a launch.
__device__ __forceinline__ void report(unsigned long long* state, long long round, long long work) {
  if (!is_first()) return;
  kl_store(state + kRound, static_cast<unsigned long long>(round));
  kl_store(state + kWork, static_cast<unsigned long long>(work));
}

// ---- kernels ------------------------------------------------------------------------------------

// Round `round` reads the queue even or odd, of size state[round % 3]; the size of the next round
// is being counted, and the one after that is cleared. Returns early after `most` entries.
KL_KERNEL_BOUNDS(256, 4, sssp_bellman_ford_rounds, const FrontierParams params) {
  long long work = 0, round = params.round;
  for (const long long end = round + params.rounds; round < end && work < params.most; ++round) {
    const long long size = static_cast<long long>(kl_load(params.state + round % 3));
    if (size == 0) break;
    if (is_first()) kl_store(params.state + (round + 2) % 3, 0ull);
    work += size;
    relax_queue(params, round, size);
    kl_grid_sync(params.barrier);
  }
  report(params.state, round, work);
}

// state[round % 3] is nonzero if the previous round changed a distance.
KL_KERNEL_BOUNDS(256, 4, sssp_bellman_ford_plain_rounds, const PlainParams params) {
  long long round = params.round;
  for (const long long end = round + params.rounds; round < end; ++round) {
    if (kl_load(params.state + round % 3) == 0) break;
    if (is_first()) kl_store(params.state + (round + 2) % 3, 0ull);
    if (relax_all(params)) kl_store(params.state + (round + 1) % 3, 1ull);
    kl_grid_sync(params.barrier);
  }
  report(params.state, round, (round - params.round) * params.m);
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
