// The lists of a block in the near-far search for wide frontiers.
//
// Near entries go into the queue of the next round, far entries into the list of the block. Lists
// have a fixed capacity: a vertex that does not fit sets its spill bit.
#pragma once
#include "sssp_near_far.cuh"

// Totals of a block in a round, in shared memory.
struct BlockTotals {
  unsigned long long arcs;
  unsigned long long expanded;
  unsigned long long nearest;  // complemented
  unsigned long long farthest;
  int listed;  // near entries
  int far;     // far entries
  unsigned unsettled;
  unsigned near_spills;
  unsigned far_spills;
};

// Whole warps append.
struct BlockLists {
  BlockTotals* totals;
  int4* queue;  // of all blocks: entry k of the list of block b is at k * blocks + b
  int capacity;
  int* far_vertices;
  Word* far_distances;
  int far_capacity;
  unsigned* spilled;
  Word nearest;  // far distance appended by this thread

  __device__ __forceinline__ void spill(int v, unsigned* count) const {
    atomicOr(spilled + (v >> 5), 1u << (v & 31));
    atomicAdd(count, 1u);
  }

  __device__ __forceinline__ void append_far(bool active, int v, Word distance) {
    const unsigned appending = __ballot_sync(kAllLanes, active);
    if (appending == 0) return;
    int first = 0;
    if (kl_lane() == 0) first = atomicAdd(&totals->far, __popc(appending));
    const int place = __shfl_sync(kAllLanes, first, 0) + kl_rank(appending);
    if (active) {
      nearest = min(nearest, distance);
      if (place < far_capacity) {
        far_vertices[place] = v;
        far_distances[place] = distance;
      } else {
        spill(v, &totals->far_spills);
      }
    }
  }

  // Appends to the queue; a vertex with many arcs is split into several entries.
  __device__ __forceinline__ void append_near(int v, Word distance, long long begin,
                                              int degree) const {
    if (!__any_sync(kAllLanes, degree > 0)) return;
    const int arcs_each =
        degree <= kRangeArcs ? kRangeArcs : max(kRangeArcs, (degree - 1) / capacity + 1);
    const int ranges = degree <= kRangeArcs ? degree > 0 : (degree - 1) / arcs_each + 1;
    const unsigned split = __ballot_sync(kAllLanes, ranges > 1);
    const unsigned appending = __ballot_sync(kAllLanes, ranges > 0);
    int first = kl_rank(appending), total = __popc(appending);
    if (split != 0) {
      const int sum = kl_warp_scan(ranges);
      total = __shfl_sync(kAllLanes, sum, 31);
      first = sum - ranges;
    }
    int base = 0;
    if (kl_lane() == 0) base = atomicAdd(&totals->listed, total);
    first += __shfl_sync(kAllLanes, base, 0);
    if (ranges == 1 && first < capacity) put(first, v, distance, begin, degree);
    if (first + ranges > capacity && ranges > 0) spill(v, &totals->near_spills);
    if (split != 0) put_ranges(split, first, arcs_each, v, distance, begin, degree);
  }

 private:
  __device__ __forceinline__ void put(int place, int v, Word distance, long long begin,
                                      int degree) const {
    queue[static_cast<unsigned>(place) * gridDim.x + blockIdx.x] = pack(v, distance, begin, degree);
  }

  // All lanes write the ranges of each vertex that was split, from place `first` of its lane on.
  __device__ __forceinline__ void put_ranges(unsigned split, int first, int arcs_each, int v,
                                             Word distance, long long begin, int degree) const {
    for (; split != 0; split &= split - 1) {
      const int source_lane = __ffs(split) - 1;
      const int of = __shfl_sync(kAllLanes, v, source_lane),
                place = __shfl_sync(kAllLanes, first, source_lane);
      const int all = __shfl_sync(kAllLanes, degree, source_lane);
      const int each = __shfl_sync(kAllLanes, arcs_each, source_lane);
      const Word reached = __shfl_sync(kAllLanes, distance, source_lane);
      const long long start = __shfl_sync(kAllLanes, begin, source_lane);
      const int ranges = (all - 1) / each + 1;
      for (int i = kl_lane(); i < ranges && place + i < capacity; i += 32) {
        const int skipped = i * each;
        put(place + i, of, reached, start + skipped, min(each, all - skipped));
      }
    }
  }
};
