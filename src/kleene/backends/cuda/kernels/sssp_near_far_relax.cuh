// The relaxation of arcs in the near-far search for wide frontiers: whole warps expand entries of
// the queue, and append the heads whose distances decrease.
#pragma once
#include "sssp_near_far_lists.cuh"
#include "sssp_near_far_state.cuh"

struct Relaxation {
  const NearFarParams& params;
  const Word limit;
  BlockLists lists;
  Word threshold;
  unsigned arcs, expanded;  // of this thread in a round

  __device__ __forceinline__ void expand_queue(const int4* queue, const int* sizes,
                                               unsigned longest) {
    const unsigned blocks = gridDim.x, warps = blockDim.x / 32, warp = threadIdx.x / 32;
    const unsigned places = longest * blocks, threads = blocks * blockDim.x;
    // Few entries are spread over all warps; many are read in order.
    const unsigned own_place = places <= threads ? (kl_lane() * warps + warp) * blocks + blockIdx.x
                                                 : blockIdx.x * blockDim.x + threadIdx.x;
    for (unsigned first = 0; first < places; first += threads) {
      const unsigned place = first + own_place;
      int4 entry = make_int4(0, 0, 0, 0);
      bool active = false;
      if (place < places) {
        const unsigned k = place / blocks;
        entry = kl_load_int4(queue + place);
        active = static_cast<int>(k) < kl_load(sizes + (place - k * blocks));
      }
      if (__any_sync(kAllLanes, active)) expand_entries(active, entry);
    }
  }

  // One entry for each lane; stale ones are dropped.
  __device__ __forceinline__ void expand_entries(bool active, int4 entry) {
    ArcRange range = {0, 0, 0, 0};
    if (active) range = unpack(entry);
    Word tail_distance = kNoPath;
    if (active) {
      tail_distance = kl_load(params.distances + range.vertex);
      if (tag_of(tail_distance) != range.tag) {
        range.degree = 0;  // stale
      } else {
        arcs += range.degree;
        expanded++;
      }
    }
    // The lanes share the arcs of all their ranges.
    const int end = kl_warp_scan(range.degree);
    const int total = __shfl_sync(kAllLanes, end, 31);
    const long long shift = range.begin - (end - range.degree);
    for (int first = 0; first < total; first += 32) {
      const int arc = first + kl_lane();
      const int source_lane = kl_warp_upper_bound(end, arc);
      const long long place = __shfl_sync(kAllLanes, shift, source_lane) + arc;
      const Word start = __shfl_sync(kAllLanes, tail_distance, source_lane);
      relax(arc < total, place, start);
    }
  }

  // Relaxes an arc of each lane, and appends the heads whose distances decrease.
  __device__ __forceinline__ void relax(bool active, long long arc, Word tail_distance) {
    int v = 0, degree = 0;
    long long begin = 0;
    Word through = kNoPath;
    bool lower = false;
    if (active) {
      v = __ldg(params.neighbors + arc);
      through = sum(tail_distance, __ldg(params.lengths + arc));
      if (through == kNoPath && limit == kNoPath - 1) kl_store(&params.control->overflow, 1ull);
      if (through <= limit && through < kl_load(params.distances + v)) {
        const Word old = atomicMin(params.distances + v, through);
        // Loaded early, in case the distance decreases.
        if (through < threshold) load_arcs(v, &begin, &degree);
        lower = through < old;
      }
    }
    if (!__any_sync(kAllLanes, lower)) return;
    if (!lower) degree = 0;
    lists.append_near(v, through, begin, degree);
    lists.append_far(lower && through >= threshold, v, through);
  }

  __device__ __forceinline__ void load_arcs(int v, long long* begin, int* degree) const {
    *begin = __ldg(params.offsets + v);
    *degree = static_cast<int>(__ldg(params.offsets + v + 1) - *begin);
  }

  // Far vertices below the threshold become near. Several entries per thread at once, to overlap
  // their latencies.
  __device__ __forceinline__ void scan_far() {
    const int size = min(lists.totals->far, params.far_capacity);
    __syncthreads();
    if (threadIdx.x == 0) lists.totals->far = 0;
    for (int first = 0; first < size; first += kScan * blockDim.x) {
      int v[kScan], degree[kScan];
      long long begin[kScan];
      Word distance[kScan], current[kScan];
#pragma unroll
      for (int i = 0; i < kScan; i++) {
        const int place = first + i * blockDim.x + threadIdx.x;
        v[i] = place < size ? lists.far_vertices[place] : -1;
        distance[i] = place < size ? lists.far_distances[place] : kNoPath;
      }
      __syncthreads();  // kept entries overwrite entries that were read
#pragma unroll
      for (int i = 0; i < kScan; i++) {
        current[i] = kNoPath;
        begin[i] = 0;
        degree[i] = 0;
        if (v[i] >= 0 && distance[i] < threshold) {
          current[i] = kl_load(params.distances + v[i]);
          load_arcs(v[i], &begin[i], &degree[i]);
        }
      }
#pragma unroll
      for (int i = 0; i < kScan; i++) {
        lists.append_far(v[i] >= 0 && distance[i] >= threshold, v[i], distance[i]);
      }
#pragma unroll
      for (int i = 0; i < kScan; i++) {
        if (current[i] != distance[i]) degree[i] = 0;
        lists.append_near(v[i], distance[i], begin[i], degree[i]);
      }
    }
  }
};
