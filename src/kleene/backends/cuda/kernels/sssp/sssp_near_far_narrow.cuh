// The near-far search for small frontiers: parameters, state, lists and the relaxation of arcs.
#pragma once
#include "sssp/sssp_near_far.cuh"

// ---- shared with the host -----------------------------------------------------------------------

// State between launches.
struct State {
  unsigned long long barrier_value, other_barrier_value;  // of the two alternating words
  unsigned long long threshold;
  unsigned long long horizon;   // largest final distance, at an early exit
  unsigned long long expanded;  // entries
  unsigned long long overflow;  // whether a sum overflowed
  double delta;
  long long entries;  // near entries of the current bucket
  long long rounds;   // hops of the current bucket
  int near;           // entries of the queue
  int spilled;        // whether there are spill bits
  int done;           // kRunning, kExhausted or kEarlyExit
  int hop;
  int bucket;         // number of the bucket
  int barrier_index;  // of the barrier word to use next
  int sweeps;         // buckets with spill bits
};

// Totals at a change of the threshold; three alternate.
struct ThresholdTotals {
  unsigned long long nearest;   // far distance, complemented
  unsigned long long farthest;  // settled target
  unsigned unsettled;           // targets
};

struct Control {
  State state;
  ThresholdTotals threshold_totals[3];
};

struct NarrowParams {
  const long long* offsets;  // outgoing arcs
  const int* neighbors;
  const KL_TYPE* lengths;
  Word* distances;
  int4* entries;  // two queues of all blocks
  int* counts;    // entries of each block, in each queue
  int* far_vertices;
  Word* far_distances;
  int* far_counts;    // of each block
  unsigned* spilled;  // a bit for each vertex
  const int* targets;
  Control* control;
  unsigned long long* barrier_words;  // two, which alternate
  int n;
  int blocks;        // of the search
  int capacity;      // of the queue of a block
  int far_capacity;  // of the far list of a block
  int target_count;
  int hops;          // of a launch, at most
  int local_hops;    // of a block alone between two grid barriers
  int few_per_hop;   // near vertices per hop below which delta is doubled
  int many_per_hop;  // above which it is halved
  int source;
  unsigned long long limit;  // the largest distance
  double least;              // delta
};

// ---- lists of a block ---------------------------------------------------------------------------

// A block's own part of the search, in shared memory.
struct BlockState {
  int4 local[2][kLocalEntries];
  int local_tails[3];  // hop s reads s + 2, writes s, clears s + 1, all modulo 3
  int tail;            // entries of the queue
  int far_tail;        // entries of the far list
  int kept;            // far entries that stay far
  unsigned spills;     // whether a vertex has set its spill bit
  unsigned long long barrier_value;
  unsigned long long nearest;  // far distance, complemented
};

// Whole warps append. A vertex that does not fit sets its spill bit.
struct NarrowLists {
  const NarrowParams& params;
  BlockState* const block;
  int* const far_vertices;  // of this block
  Word* const far_distances;
  int4* queue;    // of all blocks: entry k of the list of block b is at k * blocks + b
  int local_hop;  // the local hop to append near vertices to; -1 for the queue of all blocks

  __device__ __forceinline__ void spill(int v) const {
    atomicOr(params.spilled + (v >> 5), 1u << (v & 31));
    block->spills = 1;
  }

  __device__ __forceinline__ void append_far(bool active, int v, Word distance) const {
    const unsigned some = __ballot_sync(kAllLanes, active);
    if (some == 0) return;
    int first = 0;
    if (kl_lane() == 0) first = atomicAdd(&block->far_tail, __popc(some));
    first = __shfl_sync(kAllLanes, first, 0) + kl_rank(some);
    if (!active) return;
    if (first < params.far_capacity) {
      far_vertices[first] = v;
      far_distances[first] = distance;
    } else {
      spill(v);
    }
  }

  // Appends near vertices to the local list or the queue; large ones are split into ranges.
  __device__ __forceinline__ void append_near(int v, Word distance, long long begin,
                                              int degree) const {
    unsigned some = __ballot_sync(kAllLanes, degree > 0);
    if (some == 0) return;
    const unsigned large = __ballot_sync(kAllLanes, degree > kRangeArcs);
    const bool small = degree > 0 && degree <= kRangeArcs;
    if (local_hop >= 0 && some != large) {
      const int k = reserve(block->local_tails + local_hop % 3, some & ~large);
      if (small && k < kLocalEntries) {
        block->local[local_hop & 1][k] = pack(v, distance, begin, degree);
        degree = 0;
      }
      some = __ballot_sync(kAllLanes, degree > 0);
      if (some == 0) return;
    }
    const int k = reserve(&block->tail, some & ~large);
    if (degree > 0 && degree <= kRangeArcs) {
      if (k < params.capacity) {
        put(k, v, distance, begin, degree);
      } else {
        spill(v);
      }
    }
    if (large != 0) append_ranges(large, v, distance, begin, degree);
  }

 private:
  // Places at the end of a list for some lanes.
  __device__ __forceinline__ static int reserve(int* tail, unsigned lanes) {
    int first = 0;
    if (kl_lane() == 0 && lanes != 0) first = atomicAdd(tail, __popc(lanes));
    return __shfl_sync(kAllLanes, first, 0) + kl_rank(lanes);
  }

  __device__ __forceinline__ void put(int k, int v, Word distance, long long begin,
                                      int degree) const {
    queue[static_cast<unsigned>(k) * gridDim.x + blockIdx.x] = pack(v, distance, begin, degree);
  }

  // All lanes write the ranges of each large vertex.
  __device__ __forceinline__ void append_ranges(unsigned large, int v, Word distance,
                                                long long begin, int degree) const {
    for (; large != 0; large &= large - 1) {
      const int source_lane = __ffs(large) - 1;
      const int of = __shfl_sync(kAllLanes, v, source_lane),
                arcs = __shfl_sync(kAllLanes, degree, source_lane);
      const Word reached = __shfl_sync(kAllLanes, distance, source_lane);
      const long long start = __shfl_sync(kAllLanes, begin, source_lane);
      // So that all ranges fit into a list.
      const int each = max(kRangeArcs, (arcs - 1) / params.capacity + 1);
      const int ranges = (arcs - 1) / each + 1;
      int first = 0;
      if (kl_lane() == 0) first = atomicAdd(&block->tail, ranges);
      first = __shfl_sync(kAllLanes, first, 0);
      for (int i = kl_lane(); i < ranges && first + i < params.capacity; i += 32) {
        const int skipped = i * each;
        put(first + i, of, reached, start + skipped, min(each, arcs - skipped));
      }
      if (kl_lane() == 0 && first + ranges > params.capacity) spill(of);
    }
  }
};

// ---- relaxation: four lanes share an entry ------------------------------------------------------

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
