// Shortest paths from batches of sources, for non-negative weights.
//
// Sources form groups of 32, one per lane: distances[group][vertex][lane]. A round pulls: the warp
// of a vertex reads the rows of neighbours that fired, 32 distances at a time, and keeps the
// smallest sums. Only this warp writes the row, so nothing is atomic; a concurrent reader sees the
// old or the new row, and the vertex fires again in the next round if it changed.
//
//   sssp_batched_clear, sssp_batched_init    no_path everywhere, 0 at the sources
//   sssp_batched_rounds                      each round, until no row fires or waits:
//     1. relax_segments    the best distances of the segments of hubs; grid barrier
//     2. relax_vertices    the rows of all other vertices, hubs from their segments (join_segments)
//     3. rows with new distances below the threshold fire in the next round; grid barrier
//     4. if no row fires, the threshold is raised
//   sssp_batched_write_distances, sssp_batched_write_predecessors    rows of the result
//
// A vertex whose row has changed fires only when the smallest of its new distances is below a
// threshold, so that distances that will still improve are not propagated far. The threshold is
// raised when no vertex fires (near-far sets, Davidson et al. 2014).
//
// Rows are loaded through the first-level cache: on a graph with hubs most of them are rows of few
// vertices. What is there may be as old as the last barrier, which only delays an improvement.
//
// The vertex that last improved a distance is its predecessor, and predecessors form no cycle: let
// u be the predecessor of v. If the distance of u is not smaller than that of v, both are equal and
// final, and u had its distance before v; so along predecessors the distances decrease, or the
// times at which they were set.
#include "sssp_batched.cuh"

constexpr int kFires = 1, kWaits = 2;  // events of a round
constexpr int kMinBlocks = sizeof(KL_TYPE) == 8 ? kLongBatchedBlocks : kBatchedBlocks;

namespace {

struct Round {
  const BatchedParams& params;
  const Incoming in;
  const unsigned char* fired;
  unsigned char* next;
  double threshold;
  FiredArc* arcs;  // of this warp, in shared memory

  // ---- 1. hubs ----

  // Every segment stores its best distances.
  __device__ __forceinline__ void relax_segments() const {
    const int lane = kl_lane();
    const long long segments = in.segments();
    for (long long item = kl_global_warp(); item < params.groups * segments;
         item += kl_total_warps()) {
      const long long group = item / segments;
      const int s = static_cast<int>(item % segments), h = in.segment_hub[s];
      const KL_TYPE* const rows = params.distances + group * params.n * kLanes + lane;
      Best best{rows[static_cast<long long>(in.hubs[h]) * kLanes], -1};
      long long begin, end;
      in.segment_arcs(s, h, &begin, &end);
      int head = 0;
      for (long long at = begin; at < end; at += 32) {
        const int count = list_fired(group, at + lane < end ? at + lane : -1, 0);
        relax_arcs(arcs, count, rows, 0, params.limit, head, best, [](int, const Best&) {});
      }
      const bool any = __any_sync(kAllLanes, best.predecessor >= 0);
      if (any) {
        params.part_values[item * kLanes + lane] = best.value;
        params.part_predecessors[item * kLanes + lane] = best.predecessor;
      }
      if (lane == 0) params.part_found[item] = any;
    }
  }

  // The best distances of a hub, from its segments.
  __device__ __forceinline__ Best join_segments(long long group, int v) const {
    const int lane = kl_lane(), h = in.hub(v);
    const long long top = group * in.segments(), end = top + in.first[h + 1];
    Best best{params.distances[(group * params.n + v) * kLanes + lane], -1};
    for (long long at = top + in.first[h]; at < end; at += 32) {
      const bool found = at + lane < end && params.part_found[at + lane] != 0;
      for (unsigned left = __ballot_sync(kAllLanes, found); left != 0; left &= left - 1) {
        const long long part = (at + __ffs(left) - 1) * kLanes + lane;
        best.take(params.part_values[part], params.part_predecessors[part]);
      }
    }
    return best;
  }

  // ---- 2. vertices ----

  // A warp takes some vertices of a group at once; their arcs are shared by its lanes. Returns
  // events.
  __device__ __forceinline__ int relax_vertices() const {
    const int per_group = (params.n - 1) / params.vertices_per_warp + 1;
    const long long items = static_cast<long long>(params.groups) * per_group;
    int events = 0;
    for (long long item = kl_global_warp(); item < items; item += kl_total_warps()) {
      const long long group = item / per_group;
      events |=
          relax_some(group, static_cast<int>(item - group * per_group) * params.vertices_per_warp);
    }
    return events;
  }

  // Relaxes the vertices from first_vertex on; lane i holds the key of the i-th one.
  __device__ __forceinline__ int relax_some(long long group, int first_vertex) const {
    const int lane = kl_lane(), v = first_vertex + lane;
    const long long top = group * params.n;
    const bool active = lane < params.vertices_per_warp && v < params.n;
    const long long begin = active ? __ldg(in.offsets + v) : 0;
    const long long end = active ? __ldg(in.offsets + v + 1) : 0;
    const bool is_hub = in.is_hub(begin, end);
    const int degree = is_hub ? 0 : static_cast<int>(end - begin);
    KL_TYPE key = KlLimits<KL_TYPE>::none();  // a row that has just fired has none
    if (active && !has_fired(group, v)) key = params.keys[top + v];

    const auto finish = [&](int head, const Best& best) {
      if (head < 0) return;
      const KL_TYPE low = store_row(top + first_vertex + head, best);
      if (lane == head && low < key) key = low;
    };
    const KL_TYPE* const rows = params.distances + top * kLanes + lane;
    const int sum = kl_warp_scan(degree), total = __shfl_sync(kAllLanes, sum, 31);
    const long long origin = begin - (sum - degree);
    int head = -1;
    Best best{KlLimits<KL_TYPE>::none(), -1};
    for (int i = lane; i - lane < total; i += 32) {
      const int of = kl_warp_upper_bound(sum, i);
      const long long arc = __shfl_sync(kAllLanes, origin, of) + i;
      const int count = list_fired(group, i < total ? arc : -1, of);
      relax_arcs(arcs, count, rows, first_vertex, params.limit, head, best, finish);
    }
    finish(head, best);
    for (unsigned left = __ballot_sync(kAllLanes, is_hub); left != 0; left &= left - 1) {
      const int of = __ffs(left) - 1;
      finish(of, join_segments(group, first_vertex + of));
    }
    return mark(group, v, active, key);
  }

  // ---- steps of both ----

  __device__ __forceinline__ bool has_fired(long long group, int v) const {
    return (fired[group * fired_bytes(params.n) + v / 8] >> (v % 8) & 1) != 0;
  }

  // Lists the arcs of all lanes whose tails fired, in shared memory; -1 is no arc.
  __device__ __forceinline__ int list_fired(long long group, long long arc, int head) const {
    const int tail = arc >= 0 ? __ldg(in.neighbors + arc) : 0;
    const bool on = arc >= 0 && has_fired(group, tail);
    const unsigned lanes = __ballot_sync(kAllLanes, on);
    if (lanes == 0) return 0;
    __syncwarp();  // all lanes have read the last arcs
    if (on) arcs[kl_rank(lanes)] = {tail, head, __ldg(params.lengths + arc)};
    __syncwarp();
    return __popc(lanes);
  }

  // Stores the improved distances of a row; returns the smallest of them.
  __device__ __forceinline__ KL_TYPE store_row(long long row, const Best& best) const {
    const bool better = best.predecessor >= 0;
    if (!__any_sync(kAllLanes, better)) return KlLimits<KL_TYPE>::none();
    const long long at = row * kLanes + kl_lane();
    if (better) {
      kl_store(params.distances + at, best.value);
      if (params.predecessors != nullptr) params.predecessors[at] = best.predecessor;
    }
    return warp_lowest(better ? best.value : KlLimits<KL_TYPE>::none());
  }

  // Makes rows fire in the next round, or wait, by their keys; returns events.
  __device__ __forceinline__ int mark(long long group, int v, bool active, KL_TYPE key) const {
    const int lane = kl_lane();
    const bool waits = active && key != KlLimits<KL_TYPE>::none();
    const bool fires = waits && static_cast<double>(key) < threshold;
    if (active) params.keys[group * params.n + v] = key;
    const unsigned bits = __ballot_sync(kAllLanes, fires);
    if (active && lane % 8 == 0) {
      next[group * fired_bytes(params.n) + v / 8] = static_cast<unsigned char>(bits >> lane);
    }
    return fires ? kFires : waits ? kWaits : 0;
  }
};

}  // namespace

// ---- rounds -------------------------------------------------------------------------------------

KL_KERNEL_BOUNDS(kThreads, kMinBlocks, sssp_batched_rounds, const BatchedParams params) {
  __shared__ FiredArc arcs[kWarps][32];
  BatchedState* const state = params.state;
  if (state->finished != 0) return;
  const long long bytes = params.groups * fired_bytes(params.n);
  Rounds rounds(&state->rounds_done, params.barrier);
  Round round{params,
              {params.offsets, params.neighbors, params.hubs, params.first, params.segment_hub,
               params.hub_count, params.segment},
              nullptr,
              nullptr,
              state->threshold,
              arcs[threadIdx.x / 32]};
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
    const int events = round.relax_vertices();
    const int fires = __syncthreads_or(events & kFires), waits = __syncthreads_or(events & kWaits);
    if (threadIdx.x == 0 && (fires || waits)) {
      rounds.signal((fires ? kFires : 0) | (waits ? kWaits : 0));
    }
    const int events_all = rounds.end();
    finished = events_all == 0;
    if ((events_all & kFires) != 0) {
      increment = params.increment;
    } else {
      round.threshold += increment;
      increment *= 2;  // the next distance may be far away
    }
  }
  rounds.finish(finished);
  if (blockIdx.x == 0 && threadIdx.x == 0) {
    state->threshold = round.threshold;
    state->increment = increment;
  }
}

// ---- before and after ---------------------------------------------------------------------------

KL_KERNEL(sssp_batched_clear, const BatchedParams params) {
  const long long step = gridDim.x * static_cast<long long>(blockDim.x);
  const long long thread = blockIdx.x * static_cast<long long>(blockDim.x) + threadIdx.x;
  const long long rows = static_cast<long long>(params.groups) * params.n;
  for (long long i = thread; i < rows * kLanes; i += step) {
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
  const long long group = source / kLanes;
  const int v = sources[source];
  params.distances[(group * params.n + v) * kLanes + source % kLanes] = 0;
  unsigned char* const fired = params.fired + group * fired_bytes(params.n);
  atomicOr(reinterpret_cast<unsigned*>(fired) + v / 32, 1u << v % 32);
}

// Transposes groups of lanes into rows of the result, 32 x 32 numbers at a time; kThreads threads.
namespace {

template <class T>
__device__ __forceinline__ void transpose(const T* in, T* out, T (*tile)[kLanes + 1], int n,
                                          int count) {
  const int lane = kl_lane(), warp = threadIdx.x / 32;
  const long long chunks = (n + 31) / 32, tiles = chunks * ((count + kLanes - 1) / kLanes);
  for (long long at = blockIdx.x; at < tiles; at += gridDim.x) {
    const long long g = at / chunks;
    const int v = static_cast<int>(at % chunks) * 32;
    for (int i = warp; i < 32 && v + i < n; i += kWarps) {
      tile[i][lane] = in[(g * n + v + i) * kLanes + lane];
    }
    __syncthreads();
    for (int i = warp; i < kLanes && g * kLanes + i < count && v + lane < n; i += kWarps) {
      out[(g * kLanes + i) * n + v + lane] = tile[lane][i];
    }
    __syncthreads();
  }
}

}  // namespace

KL_KERNEL(sssp_batched_write_distances, const KL_TYPE* in, KL_TYPE* out, int n, int count) {
  __shared__ KL_TYPE tile[32][kLanes + 1];
  transpose(in, out, tile, n, count);
}

KL_KERNEL(sssp_batched_write_predecessors, const int* in, int* out, int n, int count) {
  __shared__ int tile[32][kLanes + 1];
  transpose(in, out, tile, n, count);
}
