// Near-far search for small frontiers and long paths: road networks and grids. The algorithm of
// sssp_near_far.cu, made for low latency. A hop is one barrier of few blocks, which also sums the
// number of near vertices; four lanes share a vertex; loads are issued as early as possible.
// Between two barriers a block runs some hops alone, on the vertices it found itself.
//
// Vertices with distances below the threshold are near. An entry, near or far, holds the distance
// at which it was made, and is stale if the distance of its vertex has changed. Each block keeps
// the far vertices it found. When no vertex is near, the blocks find the smallest far distance, the
// threshold becomes delta above it, and every block scans its far vertices. Delta is doubled if
// there were few near vertices per hop, and halved if there were so many that most of them were
// improved later. A vertex that does not fit into a list sets a spill bit; all spill bits are read
// when the threshold is raised.
//
//   sssp_near_far_narrow_init      distances and lists before a search
//   sssp_near_far_narrow_hops      the search
//     1. begin                     the state of the last launch
//     for each hop
//       2. expand_queue, expand_local                if vertices are near
//       3. raise_threshold, scan_far, sweep_spilled  otherwise
//       4. end_hop                 grid barrier; near vertices are in the queue of the next hop
//     5. finish                    the state for the next launch
#include "sssp/sssp_near_far_narrow.cuh"

namespace {

struct Search : NarrowRelaxation {
  State state;

  // ---- 1. the state of the last launch ----

  __device__ __forceinline__ void begin() {
    threshold = static_cast<Word>(state.threshold);
    if (state.delta == 0) state.delta = params.least;
    if (threadIdx.x == 0) {
      block->tail = block->local_tails[0] = block->local_tails[1] = block->local_tails[2] = 0;
      block->spills = state.spilled != 0 && blockIdx.x == 0;
      block->far_tail = params.far_counts[blockIdx.x];
    }
    __syncthreads();
  }

  // ---- 2. expand_queue and expand_local, of NarrowRelaxation ----

  // ---- 3. no vertex is near ----

  // Raises the threshold above the smallest far distance. Ends the search if there is none, or if
  // all targets are settled.
  __device__ __forceinline__ void raise_threshold(int far) {
    ThresholdTotals* const totals = params.control->threshold_totals + state.bucket % 3;
    find_nearest(far, totals);
    const unsigned long long nearest = kl_load(&totals->nearest);
    const Word lowest = ~static_cast<Word>(nearest);
    if (params.target_count > 0 && kl_load(&totals->unsettled) == 0) {
      state.done = kEarlyExit;
      state.horizon = kl_load(&totals->farthest);
    }
    if (nearest == 0) state.done = kExhausted;
    if (state.done != kRunning) return;
    if (blockIdx.x == 0 && threadIdx.x == 0) {
      params.control->threshold_totals[(state.bucket + 2) % 3] = {0, 0, 0};
    }
    if (state.entries < params.few_per_hop * state.rounds) state.delta *= 2;
    if (state.entries > params.many_per_hop * state.rounds) {
      state.delta = fmax(state.delta / 2, params.least);
    }
    state.entries = state.rounds = 0;
    state.sweeps += state.spilled;
    threshold = max(sum(lowest, Type::from_double(state.delta)), static_cast<Word>(lowest + 1));
    state.bucket++;
  }

  // The smallest far distance of all blocks, and the check of the targets; grid barrier.
  __device__ __forceinline__ void find_nearest(int far, ThresholdTotals* totals) {
    if (threadIdx.x == 0) block->nearest = 0, block->kept = 0;
    __syncthreads();
    Word nearest = kNoPath;
    for (int i = threadIdx.x; i < far; i += blockDim.x) {
      const Word distance = far_distances[i];
      if (distance == kl_load(params.distances + far_vertices[i])) {
        nearest = min(nearest, distance);
      }
    }
    if (state.spilled) nearest = min(nearest, nearest_spilled());
    nearest = warp_min(nearest);
    if (kl_lane() == 0 && nearest != kNoPath) {
      atomicMax(&block->nearest, static_cast<unsigned long long>(static_cast<Word>(~nearest)));
    }
    if (blockIdx.x == 0) check_targets(totals);
    __syncthreads();
    if (threadIdx.x == 0 && block->nearest != 0) atomicMax(&totals->nearest, block->nearest);
    grid_barrier(0);
  }

  __device__ __forceinline__ Word nearest_spilled() const {
    const int words = (params.n + 31) / 32, stride = gridDim.x * blockDim.x;
    Word nearest = kNoPath;
    for (int w = blockIdx.x * blockDim.x + threadIdx.x; w < words; w += stride) {
      for (unsigned left = kl_load(params.spilled + w); left != 0; left &= left - 1) {
        nearest = min(nearest, kl_load(params.distances + w * 32 + __ffs(left) - 1));
      }
    }
    return nearest;
  }

  // One block. While there are spill bits, distances below the threshold are not final.
  __device__ __forceinline__ void check_targets(ThresholdTotals* totals) const {
    if (state.spilled) {
      if (threadIdx.x == 0) atomicAdd(&totals->unsettled, 1u);
      return;
    }
    for (int i = threadIdx.x; i < params.target_count; i += blockDim.x) {
      const Word distance = kl_load(params.distances + params.targets[i]);
      if (distance >= threshold) {
        atomicAdd(&totals->unsettled, 1u);
      } else {
        atomicMax(&totals->farthest, static_cast<unsigned long long>(distance));
      }
    }
  }

  // Near vertices go into the queue; the far list is compacted.
  __device__ __forceinline__ void scan_far(int far) {
    if (threadIdx.x == 0) block->spills = 0;
    __syncthreads();
    for (int first = 0; first < far; first += blockDim.x) {
      const int i = first + threadIdx.x;
      int v = 0, degree = 0;
      Word distance = kNoPath;
      long long begin = 0;
      if (i < far) {
        v = far_vertices[i];
        distance = far_distances[i];
        if (distance != kl_load(params.distances + v)) distance = kNoPath;
      }
      const bool near = distance < threshold, stays = distance != kNoPath && !near;
      if (near) load_arcs(v, &begin, &degree);
      append_near(v, distance, begin, degree);
      const unsigned some = __ballot_sync(kAllLanes, stays);
      __syncthreads();  // all entries have been read
      int base = 0;
      if (kl_lane() == 0 && some != 0) base = atomicAdd(&block->kept, __popc(some));
      base = __shfl_sync(kAllLanes, base, 0) + kl_rank(some);
      if (stays) {
        far_vertices[base] = v;
        far_distances[base] = distance;
      }
      __syncthreads();
    }
    if (threadIdx.x == 0) block->far_tail = block->kept;
  }

  // Near vertices with a spill bit go into the queue; the others keep it.
  __device__ __forceinline__ void sweep_spilled() {
    const int words = (params.n + 31) / 32, stride = gridDim.x * blockDim.x;
    for (int first = blockIdx.x * blockDim.x; first < words; first += stride) {
      const int w = first + threadIdx.x;
      unsigned left = w < words ? kl_load(params.spilled + w) : 0;
      while (__any_sync(kAllLanes, left != 0)) {
        const int v = left != 0 ? w * 32 + __ffs(left) - 1 : -1;
        const Word distance = v < 0 ? kNoPath : kl_load(params.distances + v);
        long long begin = 0;
        int degree = 0;
        if (distance < threshold) {
          atomicAnd(params.spilled + w, ~(1u << (v & 31)));
          load_arcs(v, &begin, &degree);
        } else if (v >= 0) {
          block->spills = 1;
        }
        append_near(v, distance, begin, degree);
        left &= left - 1;
      }
    }
  }

  // ---- 4. the end of a hop ----

  // The queue of the next hop is complete; grid barrier.
  __device__ __forceinline__ void end_hop(int* next_count) {
    __syncthreads();
    unsigned long long number = 0;
    if (threadIdx.x == 0) {
      const int listed = min(block->tail, params.capacity);
      *next_count = listed;
      number = listed + (static_cast<unsigned long long>(block->spills) << 32);
      block->tail = block->local_tails[0] = block->local_tails[1] = block->local_tails[2] = 0;
    }
    const unsigned long long added = grid_barrier(number);
    state.near = static_cast<int>(added & 0xffffffff);
    state.spilled = (added >> 32) != 0;
    state.expanded += state.near;
    state.entries += state.near;
    state.rounds++;
    state.hop++;
  }

  // Barrier of all blocks; returns the sum of a number over them.
  __device__ __forceinline__ unsigned long long grid_barrier(unsigned long long number) {
    if (threadIdx.x == 0) {
      block->barrier_value = gridDim.x == 1
                                 ? state.barrier_value + (number << 16)
                                 : kl_grid_barrier_add(params.barrier_words + state.barrier_index,
                                                       state.barrier_value, number);
    }
    __syncthreads();
    const unsigned long long value = block->barrier_value;
    const unsigned long long added = kl_grid_barrier_sum(value, state.barrier_value);
    state.barrier_value = state.other_barrier_value;
    state.other_barrier_value = value;
    state.barrier_index ^= 1;
    return added;
  }

  // ---- 5. the state for the next launch ----

  __device__ __forceinline__ void finish() {
    if (threadIdx.x == 0) {
      params.far_counts[blockIdx.x] = min(block->far_tail, params.far_capacity);
    }
    __syncthreads();
    if (state.done == kRunning) grid_barrier(0);  // all blocks have read the state
    if (blockIdx.x == 0 && threadIdx.x == 0) {
      state.threshold = threshold;
      state.overflow = kl_load(&params.control->state.overflow);
      params.control->state = state;
    }
  }
};

}  // namespace

// ---- kernels ------------------------------------------------------------------------------------

KL_KERNEL(sssp_near_far_narrow_init, const NarrowParams params) {
  const long long stride = static_cast<long long>(gridDim.x) * blockDim.x;
  const long long thread = static_cast<long long>(blockIdx.x) * blockDim.x + threadIdx.x;
  for (long long v = thread; v < params.n; v += stride) {
    params.distances[v] = v == params.source ? 0 : kNoPath;
    if (v % 32 == 0) params.spilled[v / 32] = 0;
  }
  for (long long b = thread; b < params.blocks; b += stride) params.far_counts[b] = b == 0;
  if (thread != 0) return;
  params.far_vertices[0] = params.source;
  params.far_distances[0] = 0;
  params.barrier_words[0] = params.barrier_words[1] = 0;
  *params.control = {};
}

KL_KERNEL_BOUNDS(kNarrowThreads, 1, sssp_near_far_narrow_hops, const NarrowParams params) {
  __shared__ BlockState block;
  const int blocks = gridDim.x;
  const long long own_far = static_cast<long long>(blockIdx.x) * params.far_capacity;
  const long long room = static_cast<long long>(params.capacity) * blocks;
  const NarrowLists lists = {
      params,         &block, params.far_vertices + own_far, params.far_distances + own_far,
      params.entries, -1};
  Search search{{lists, static_cast<Word>(params.limit), QueuePlace::first(), 0},
                params.control->state};
  search.begin();
  for (int budget = params.hops; budget > 0; budget--) {
    const int side = search.state.hop & 1;
    search.queue = params.entries + (side ^ 1) * room;
    if (search.state.near > 0) {
      search.expand_queue(params.entries + side * room, params.counts + side * blocks);
      search.expand_local();
    } else {
      const int far = min(block.far_tail, params.far_capacity);
      search.raise_threshold(far);
      if (search.state.done != kRunning) break;
      search.scan_far(far);
      if (search.state.spilled) search.sweep_spilled();
    }
    search.end_hop(params.counts + (side ^ 1) * blocks + blockIdx.x);
  }
  search.finish();
}
