// Parameters, state and lists of the near-far search for small frontiers.
#pragma once
#include "sssp_near_far.cuh"

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
