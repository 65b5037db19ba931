// Shortest paths from batches of sources, for non-negative weights.
//
// Sources form groups, and a row is the distances of one vertex from all sources of a group:
// distances[group][vertex][source]. A round pulls: the warp of a vertex reads the rows of
// neighbours that fired and keeps the smallest sums. Only this warp writes the row, so nothing is
// atomic; a concurrent reader sees old or new distances, and the vertex fires again in the next
// round if they changed.
//
//   sssp_batched_clear, sssp_batched_init    no_path everywhere, 0 at the sources
//   sssp_batched_rounds                      each round, until no row fires or waits:
//     1. relax_segments    the best distances of the segments of hubs; grid barrier
//     2. relax_vertices    the rows of all other vertices, hubs from their segments (join_segments)
//     3. mark              rows with new distances below the threshold fire in the next round
//     4. end_round         grid barrier; if no row fires, the threshold is raised
//   sssp_batched_path_rounds                 the same, with predecessors
//   sssp_batched_write_distances, sssp_batched_write_predecessors    rows of the result
//
// A vertex whose row has changed fires only when the smallest of its new distances is below a
// threshold, so that distances that will still improve are not propagated far. The threshold is
// raised when no vertex fires (near-far sets, Davidson et al. 2014).
//
// The vertex that last improved a distance is its predecessor, and predecessors form no cycle: let
// u be the predecessor of v. If the distance of u is not smaller than that of v, both are equal and
// final, and u had its distance before v; so along predecessors the distances decrease, or the
// times at which they were set.
#include "sssp/sssp_batched.cuh"

namespace {

// ---- rounds -------------------------------------------------------------------------------------

// 4. The end of a round. Returns whether no row fires or waits.
template <bool kPaths>
__device__ __forceinline__ bool end_round(int own_events, Round<kPaths>& round, Rounds& rounds,
                                          double& increment) {
  const int fires = __syncthreads_or(own_events & kFires);
  const int waits = __syncthreads_or(own_events & kWaits);
  if (threadIdx.x == 0 && (fires || waits)) {
    rounds.signal((fires ? kFires : 0) | (waits ? kWaits : 0));
  }
  const int events = rounds.end();
  if ((events & kFires) != 0) {
    increment = round.params.increment;
  } else {
    round.threshold += increment;
    increment *= 2;  // the next distance may be far away
  }
  return events == 0;
}

template <bool kPaths>
__device__ __forceinline__ void run_rounds(const BatchedParams& params, FiredArc* arcs) {
  BatchedState* const state = params.state;
  if (state->finished != 0) return;
  const long long bytes = params.groups * fired_bytes(params.n);
  const Incoming in{params.offsets,     params.neighbors, params.hubs,   params.first,
                    params.segment_hub, params.hub_count, params.segment};
  Rounds rounds(&state->rounds_done, params.barrier);
  Round<kPaths> round{params, in, nullptr, nullptr, state->threshold, arcs};
  double increment = state->increment;
  bool finished = false;
  for (int i = 0; i < params.rounds && !finished; ++i) {
    rounds.begin();
    round.fired = params.fired + rounds.done() % 2 * bytes;
    round.next = params.fired + (rounds.done() + 1) % 2 * bytes;
    if (params.hub_count != 0) {
      round.relax_segments();
      rounds.grid_barrier();
    }
    finished = end_round(round.relax_vertices(), round, rounds, increment);
  }
  rounds.finish(finished);
  if (blockIdx.x == 0 && threadIdx.x == 0) {
    state->threshold = round.threshold;
    state->increment = increment;
  }
}

}  // namespace

KL_KERNEL_BOUNDS(kThreads, kBatchedBlocks, sssp_batched_rounds, const BatchedParams params) {
  __shared__ FiredArc arcs[kWarps][32];
  run_rounds<false>(params, arcs[threadIdx.x / 32]);
}

KL_KERNEL_BOUNDS(kThreads, kBatchedPathBlocks, sssp_batched_path_rounds,
                 const BatchedParams params) {
  __shared__ FiredArc arcs[kWarps][32];
  run_rounds<true>(params, arcs[threadIdx.x / 32]);
}

// ---- before and after ---------------------------------------------------------------------------

KL_KERNEL(sssp_batched_clear, const BatchedParams params) {
  const long long step = gridDim.x * static_cast<long long>(blockDim.x);
  const long long thread = blockIdx.x * static_cast<long long>(blockDim.x) + threadIdx.x;
  const long long rows = static_cast<long long>(params.groups) * params.n;
  for (long long i = thread; i < rows * kSources; i += step) {
    params.distances[i] = KlLimits<KL_TYPE>::none();
    if (params.predecessors != nullptr) params.predecessors[i] = -1;
    if (i < rows) params.keys[i] = KlLimits<KL_TYPE>::none();
    if (i < 2 * params.groups * fired_bytes(params.n)) params.fired[i] = 0;
  }
  if (thread == 0) *params.state = {0, 0, 0, {}, params.increment, params.increment};
}

// One thread per source.
KL_KERNEL(sssp_batched_init, const BatchedParams params, const int* sources, int count) {
  const int source = blockIdx.x * blockDim.x + threadIdx.x;
  if (source >= count) return;
  const long long group = source / kSources;
  const int v = sources[source];
  params.distances[(group * params.n + v) * kSources + source % kSources] = 0;
  unsigned char* const fired = params.fired + group * fired_bytes(params.n);
  atomicOr(reinterpret_cast<unsigned*>(fired) + v / 32, 1u << v % 32);
}

// Transposes groups into rows of the result, 32 x 32 numbers at a time; kThreads threads.
namespace {

template <class T>
__device__ __forceinline__ void transpose(const T* in, T* out, T (*tile)[33], int n, int count) {
  const int lane = kl_lane(), warp = threadIdx.x / 32;
  const long long chunks = (n + 31) / 32, tiles = chunks * ((count + 31) / 32);
  for (long long at = blockIdx.x; at < tiles; at += gridDim.x) {
    const int source = static_cast<int>(at / chunks) * 32, v = static_cast<int>(at % chunks) * 32;
    const T* const rows = in + source / kSources * static_cast<long long>(n) * kSources;
    for (int i = warp; i < 32 && v + i < n; i += kWarps) {
      tile[i][lane] = rows[static_cast<long long>(v + i) * kSources + source % kSources + lane];
    }
    __syncthreads();
    for (int i = warp; i < 32 && source + i < count && v + lane < n; i += kWarps) {
      out[static_cast<long long>(source + i) * n + v + lane] = tile[lane][i];
    }
    __syncthreads();
  }
}

}  // namespace

KL_KERNEL(sssp_batched_write_distances, const KL_TYPE* in, KL_TYPE* out, int n, int count) {
  __shared__ KL_TYPE tile[32][33];
  transpose(in, out, tile, n, count);
}

KL_KERNEL(sssp_batched_write_predecessors, const int* in, int* out, int n, int count) {
  __shared__ int tile[32][33];
  transpose(in, out, tile, n, count);
}
