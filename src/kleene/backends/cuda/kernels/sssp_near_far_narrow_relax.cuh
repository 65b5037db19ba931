// The relaxation of arcs in the near-far search for small frontiers: four lanes share an entry.
#pragma once
#include "sssp_near_far_narrow.cuh"

// Where the lanes of a warp read the queue of all blocks; four share an entry.
struct QueuePlace {
  unsigned slot;  // of the first entry
  int k;          // its position in the list of a block
  int list;       // that block

  __device__ __forceinline__ static QueuePlace first() {
    const unsigned warps = gridDim.x * (blockDim.x / 32);
    const unsigned slot = kl_lane() / 4 * warps + blockIdx.x * (blockDim.x / 32) + threadIdx.x / 32;
    return {slot, static_cast<int>(slot / gridDim.x), static_cast<int>(slot % gridDim.x)};
  }
};

struct NarrowRelaxation : NarrowLists {
  const Word limit;
  const QueuePlace place;
  Word threshold;

  // Entries of all blocks: eight for each warp at a time, the next one loaded early.
  __device__ __forceinline__ void expand_queue(const int4* current, const int* counts) {
    const unsigned warps = gridDim.x * (blockDim.x / 32);
    unsigned slot = place.slot;
    int k = place.k, length = 0;
    int4 entry = make_int4(0, 0, 0, 0);
    if (k < params.capacity) {
      entry = kl_load_int4(current + slot);
      length = kl_load(counts + place.list);
    }
    local_hop = params.local_hops > 0 ? 0 : -1;
    while (__any_sync(kAllLanes, k < length)) {
      expand(k < length ? unpack(entry) : ArcRange{0, 0, 0, 0});
      k += blockDim.x / 4;
      slot += 8 * warps;
      if (k < length) entry = kl_load_int4(current + slot);
    }
  }

  // Some hops of this block alone, on the vertices it found itself.
  __device__ __forceinline__ void expand_local() {
    for (int hop = 1; hop <= params.local_hops; hop++) {
      __syncthreads();
      const int size = min(block->local_tails[(hop + 2) % 3], kLocalEntries);
      if (size == 0) break;
      local_hop = hop < params.local_hops ? hop : -1;
      if (threadIdx.x == 0) block->local_tails[(hop + 1) % 3] = 0;
      const int first = (threadIdx.x & ~31) / 4;  // eight entries per warp
      for (int i = first; i < size; i += blockDim.x / 4) {
        const int own = i + kl_lane() / 4;
        expand(own < size ? unpack(block->local[(hop + 1) & 1][own]) : ArcRange{0, 0, 0, 0});
      }
    }
    local_hop = -1;
  }

  // Four lanes relax the arcs of an entry.
  __device__ __forceinline__ void expand(const ArcRange& range) {
    Word tail_distance = 0;
    if (range.degree > 0) tail_distance = kl_load(params.distances + range.vertex);
    for (int i = kl_lane() & 3; __any_sync(kAllLanes, i < range.degree); i += 4) {
      int v = 0, degree = 0;
      long long begin = 0;
      Word through = kNoPath, old = 0;
      if (i < range.degree) {
        v = __ldg(params.neighbors + range.begin + i);
        const KL_TYPE length = __ldg(params.lengths + range.begin + i);
        const bool fresh = tag_of(tail_distance) == range.tag;
        if (fresh) through = sum(tail_distance, length);
        if (through == kNoPath && fresh && limit == kNoPath - 1) {
          kl_store(&params.control->state.overflow, 1ull);
        }
        if (through <= limit) {
          old = atomicMin(params.distances + v, through);
          load_arcs(v, &begin, &degree);
        }
      }
      const bool lower = through < old, near = lower && through < threshold;
      if (near) prefetch(v, begin);
      append_near(v, through, begin, near ? degree : 0);
      append_far(lower && !near, v, through);
    }
  }

  __device__ __forceinline__ void load_arcs(int v, long long* begin, int* degree) const {
    *begin = __ldg(params.offsets + v);
    *degree = static_cast<int>(__ldg(params.offsets + v + 1) - *begin);
  }

  // The arcs of a near vertex, and the offsets of vertices near it.
  __device__ __forceinline__ void prefetch(int v, long long begin) const {
    kl_prefetch(params.neighbors + begin);
    kl_prefetch(params.lengths + begin);
    if (v > kPrefetchVertices) kl_prefetch(params.offsets + v - kPrefetchVertices);
    if (v < params.n - kPrefetchVertices) kl_prefetch(params.offsets + v + kPrefetchVertices);
  }
};
