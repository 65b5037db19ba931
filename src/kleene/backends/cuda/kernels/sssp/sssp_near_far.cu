// Near-far search from one source in one launch, for non-negative lengths.
//
// Vertices with distances below the threshold are near, the others far. Near vertices are expanded,
// again if their distance decreases, until none is left; then all distances below the threshold are
// final, the threshold is raised, and far vertices below it become near.
//
//   1. begin                        the state of the last launch, or the source
//   for each round
//     2. read_totals                of the last round: is the search done?
//     3. raise_threshold, scan_far  if no vertex is near: far vertices become near
//     4. sweep_spilled              if no entry is near: vertices that did not fit into a list
//     5. expand_queue               otherwise: relax the arcs of the queue, all blocks together
//     6. publish_totals             grid barrier; near vertices are in the queue of the next round
//   7. finish                       the state for the next launch
//
// This engine is for wide frontiers, whose arcs the lanes of a warp share; for small ones there is
// sssp_near_far_narrow.cu.
//
// An entry, near or far, holds the distance at which it was made. It is stale, and dropped, if the
// distance of its vertex has changed, so no vertex is expanded twice at one distance. Lists have a
// fixed capacity. A vertex that does not fit sets a spill bit, and all spill bits are read when no
// vertex is near.
//
// The threshold is raised by delta, from its old value or the smallest far distance. Delta is
// doubled if a bucket relaxed too few arcs to keep the device busy and there are few far vertices;
// it is halved if a bucket relaxed so many that more buckets would save work.
//
// Integers are added in 32 bits while no sum overflows; on overflow the host restarts with 64 bits.
//
// A. Davidson et al., "Work-efficient parallel GPU methods for single-source shortest paths", 2014.
// U. Meyer and P. Sanders, "Delta-stepping: a parallelizable shortest path algorithm", 2003.
#include "sssp/sssp_near_far_wide.cuh"

namespace {

// What a round begins with.
struct RoundStart {
  Totals totals;  // of the last round
  Word lowest;    // far distance
  bool empty;     // no entry is near
  bool raises;    // no vertex is near: the threshold is raised
};

struct Search : Relaxation {
  State state;
  unsigned long long launch_arcs;        // relaxed by all in this launch
  unsigned long long block_expanded;     // in this launch; in the first thread only
  unsigned long long published_nearest;  // smallest far distance published, complemented

  // ---- 1. the state of the last launch, or the source ----

  __device__ __forceinline__ void begin() {
    BlockTotals* const totals = lists.totals;
    if (threadIdx.x == 0) {
      *totals = {};
      totals->far = params.far_counts[blockIdx.x];
    }
    if (state.started == 0) {
      if (threadIdx.x == 0) totals->far = blockIdx.x == 0;
      if (threadIdx.x == 0 && blockIdx.x == 0) {
        lists.far_vertices[0] = params.source;
        lists.far_distances[0] = 0;
        kl_store(params.distances + params.source, static_cast<Word>(0));
      }
      state.delta = params.least;
    }
    threshold = static_cast<Word>(state.threshold);
    kl_grid_sync(params.barrier);  // all blocks have read the state
  }

  // ---- 2. totals of the last round ----

  __device__ __forceinline__ RoundStart read_totals() {
    RoundStart start;
    start.totals = load_totals(params.control->totals + state.round % 3);
    const Totals& totals = start.totals;
    published_nearest = kl_load(params.control->nearest + state.bucket % 3);
    state.arcs += totals.arcs;
    state.bucket_arcs += totals.arcs;
    state.near_spills += totals.near_spills;
    state.far_spills += totals.far_spills;
    launch_arcs += totals.arcs;
    if (state.checked != 0 && totals.unsettled == 0) {
      state.done = kEarlyExit;
      state.horizon = totals.farthest;
    }
    state.checked = 0;
    start.empty = static_cast<unsigned>(totals.waiting) == 0;
    start.raises = start.empty && state.near_spills == 0;
    start.lowest = state.started != 0 ? ~static_cast<Word>(published_nearest) : 0;
    if (start.raises && state.done == kRunning && start.lowest == kNoPath &&
        state.far_spills == 0) {
      state.done = kExhausted;
    }
    return start;
  }

  // ---- 3. no vertex is near ----

  __device__ __forceinline__ void raise_threshold(const RoundStart& start) {
    steer_delta(static_cast<unsigned>(start.totals.waiting >> 32));
    const Word settled = threshold, lowest = start.lowest;
    const Word base = lowest == kNoPath ? threshold : max(threshold, lowest);
    threshold = sum(base, Type::from_double(state.delta));
    if (lowest != kNoPath) threshold = max(threshold, lowest + 1);
    state.started = 1;
    state.bucket++;
    state.bucket_arcs = 0;
    published_nearest = 0;
    if (blockIdx.x == 0 && threadIdx.x == 0) {
      params.control->nearest[(state.bucket + 1) % 3] = 0;
    }
    if (params.targets != nullptr) {
      check_targets(settled);
      state.checked = 1;
    }
  }

  __device__ __forceinline__ void steer_delta(unsigned far) {
    if (state.bucket_arcs > params.high) {
      state.delta = fmax(state.delta / 2, params.least);
    } else if (state.bucket_arcs < params.low && state.started != 0 &&
               (far < state.far ||
                static_cast<unsigned long long>(far) * params.degree_mean < params.low)) {
      state.delta = fmin(state.delta * 2, params.most);
    }
    state.far = far;
  }

  __device__ __forceinline__ void check_targets(Word settled) const {
    const int stride = gridDim.x * blockDim.x;
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < params.target_count; i += stride) {
      const Word distance = kl_load(params.distances + params.targets[i]);
      if (distance < settled) {
        atomicMax(&lists.totals->farthest, static_cast<unsigned long long>(distance));
      } else {
        atomicAdd(&lists.totals->unsettled, 1u);
      }
    }
  }

  // ---- 4. no entry is near: vertices with a spill bit go into the lists ----

  __device__ __forceinline__ void sweep_spilled() {
    if ((state.near_spills | state.far_spills) == 0) return;
    state.spills += state.near_spills + state.far_spills;
    state.near_spills = state.far_spills = 0;
    __syncthreads();  // the far list is complete
    const int words = (params.n + 31) / 32, stride = gridDim.x * blockDim.x;
    const int own = blockIdx.x * blockDim.x + (threadIdx.x & ~31);
    for (int first = own; first < words; first += stride) {
      const int w = first + kl_lane();
      unsigned left = 0;
      if (w < words && kl_load(params.spilled + w) != 0) left = atomicExch(params.spilled + w, 0u);
      while (__any_sync(kAllLanes, left != 0)) {
        const bool active = left != 0;
        const int v = active ? w * 32 + __ffs(left) - 1 : 0;
        left &= left - 1;
        const Word distance = active ? kl_load(params.distances + v) : kNoPath;
        const bool near = active && distance < threshold;
        long long begin = 0;
        int degree = 0;
        if (near) load_arcs(v, &begin, &degree);
        lists.append_near(v, distance, begin, degree);
        lists.append_far(active && !near, v, distance);
      }
    }
  }

  // ---- 5. expand_queue, of Relaxation ----

  // ---- 6. totals of this round; grid barrier ----

  __device__ __forceinline__ void publish_totals(int* next_count) {
    add_to_block();
    __syncthreads();
    if (threadIdx.x == 0) {
      add_to_grid(next_count);
      kl_grid_barrier(params.barrier, gridDim.x);
    }
    __syncthreads();
  }

  __device__ __forceinline__ void add_to_block() {
    BlockTotals* const totals = lists.totals;
    const unsigned warp_arcs = __reduce_add_sync(kAllLanes, arcs);
    const unsigned warp_expanded = __reduce_add_sync(kAllLanes, expanded);
    const Word nearest = warp_min(lists.nearest);
    if (kl_lane() == 0) {
      if (warp_arcs != 0) atomicAdd(&totals->arcs, static_cast<unsigned long long>(warp_arcs));
      if (warp_expanded != 0) {
        atomicAdd(&totals->expanded, static_cast<unsigned long long>(warp_expanded));
      }
      if (nearest != kNoPath) {
        atomicMax(&totals->nearest, static_cast<unsigned long long>(static_cast<Word>(~nearest)));
      }
    }
    arcs = expanded = 0;
    lists.nearest = kNoPath;
  }

  // One thread of the block.
  __device__ __forceinline__ void add_to_grid(int* next_count) {
    BlockTotals* const totals = lists.totals;
    Totals* const next = params.control->totals + (state.round + 1) % 3;
    const int listed = min(totals->listed, params.capacity),
              far = min(totals->far, params.far_capacity);
    *next_count = listed;
    if ((listed | far) != 0) {
      atomicAdd(&next->waiting,
                static_cast<unsigned long long>(far) << 32 | static_cast<unsigned>(listed));
    }
    if (totals->arcs != 0) atomicAdd(&next->arcs, totals->arcs);
    if (listed != 0) atomicMax(&next->longest, static_cast<unsigned>(listed));
    if (totals->nearest > published_nearest) {
      atomicMax(params.control->nearest + state.bucket % 3, totals->nearest);
    }
    if (totals->near_spills != 0) atomicAdd(&next->near_spills, totals->near_spills);
    if (totals->far_spills != 0) atomicAdd(&next->far_spills, totals->far_spills);
    if (totals->unsettled != 0) atomicAdd(&next->unsettled, totals->unsettled);
    if (totals->farthest != 0) atomicMax(&next->farthest, totals->farthest);
    block_expanded += totals->expanded;
    totals->arcs = totals->expanded = totals->nearest = totals->farthest = 0;
    totals->unsettled = totals->near_spills = totals->far_spills = 0;
    totals->listed = 0;
  }

  // ---- 7. the state for the next launch ----

  __device__ __forceinline__ void finish() {
    if (threadIdx.x != 0) return;
    params.far_counts[blockIdx.x] = min(lists.totals->far, params.far_capacity);
    atomicAdd(&params.control->expanded, block_expanded);
    if (blockIdx.x == 0) {
      state.threshold = threshold;
      params.control->state = state;
    }
  }
};

}  // namespace

// ---- kernels ------------------------------------------------------------------------------------

KL_KERNEL_BOUNDS(kWideThreads, kWideBlocks, sssp_near_far_rounds, const NearFarParams params) {
  __shared__ BlockTotals block_totals;
  const long long own_far = static_cast<long long>(blockIdx.x) * params.far_capacity;
  const long long room = static_cast<long long>(params.capacity) * gridDim.x;
  const BlockLists lists = {&block_totals,
                            nullptr,
                            params.capacity,
                            params.far_vertices + own_far,
                            params.far_distances + own_far,
                            params.far_capacity,
                            params.spilled,
                            kNoPath};
  Search search{
      {params, static_cast<Word>(params.limit), lists, 0, 0, 0}, params.control->state, 0, 0, 0};
  search.begin();
  for (int budget = params.rounds; budget > 0; search.state.round++) {
    const RoundStart start = search.read_totals();
    if (search.state.done != kRunning) break;
    budget = search.launch_arcs > params.launch_arcs ? 0 : budget - 1;
    const unsigned round = search.state.round, side = round & 1;
    if (blockIdx.x == 0 && threadIdx.x == 0) params.control->totals[(round + 2) % 3] = {};
    search.lists.queue = params.entries + (side ^ 1) * room;
    if (start.raises) {
      search.raise_threshold(start);
      search.scan_far();
    }
    if (start.empty) {
      search.sweep_spilled();
    } else if (start.totals.longest > 0) {
      search.expand_queue(params.entries + side * room, params.counts + side * gridDim.x,
                          start.totals.longest);
    }
    search.publish_totals(params.counts + (side ^ 1) * gridDim.x + blockIdx.x);
  }
  search.finish();
}

// Converts words to the distances of the result; integers may be widened.
KL_KERNEL(sssp_near_far_write_distances, const Word* distances, int n, void* out, int bytes) {
  const int v = blockIdx.x * blockDim.x + threadIdx.x;
  if (v >= n) return;
  const Word word = distances[v];
  const KL_TYPE value = Type::value(word);
  if (static_cast<KL_TYPE>(0.5) != 0) {
    static_cast<KL_TYPE*>(out)[v] = word == kNoPath ? KlLimits<float>::none() : value;
  } else if (bytes == 8) {
    static_cast<long long*>(out)[v] = word == kNoPath ? KlLimits<long long>::none() : value;
  } else {
    static_cast<int*>(out)[v] = word == kNoPath ? KlLimits<int>::none() : value;
  }
}
