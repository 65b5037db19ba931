// The near-far search for wide frontiers: lists, parameters, state and the relaxation of arcs.
#pragma once
#include "sssp/sssp_near_far.cuh"

// ---- lists of a block ---------------------------------------------------------------------------
// Near entries go into the queue of the next round, far entries into the list of the block. Lists
// have a fixed capacity: a vertex that does not fit sets its spill bit.

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

// ---- shared with the host -----------------------------------------------------------------------

// Totals of a round. Three alternate: one is read, one is added to, one is cleared.
struct Totals {
  unsigned long long arcs;      // relaxed
  unsigned long long waiting;   // near entries + far entries * 2^32
  unsigned long long farthest;  // settled target
  unsigned unsettled;           // targets
  unsigned longest;             // list of a block
  unsigned near_spills;         // near vertices with a spill bit only
  unsigned far_spills;
};

// State of the search, kept in memory between launches.
struct State {
  unsigned long long threshold;
  unsigned long long horizon;      // largest final distance, at an early exit
  unsigned long long arcs;         // relaxed
  unsigned long long bucket_arcs;  // of the current bucket
  double delta;
  unsigned started;
  unsigned done;  // kRunning, kExhausted or kEarlyExit
  unsigned round;
  unsigned bucket;  // number of the bucket
  unsigned near_spills;
  unsigned far_spills;
  unsigned far;      // vertices at the start of the bucket
  unsigned checked;  // whether the last round checked the targets
  unsigned spills;   // in total
};

struct Control {
  State state;
  Totals totals[3];
  unsigned long long nearest[3];  // far distance, complemented; alternate as the totals do
  unsigned long long expanded;    // entries
  unsigned long long overflow;    // whether a sum overflowed
};

struct NearFarParams {
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
  unsigned* barrier;
  int n;
  int capacity;      // of the queue of a block
  int far_capacity;  // of the far list of a block
  int target_count;
  int degree_mean;
  int rounds;  // of a launch, at most
  int source;
  unsigned long long limit;        // the largest distance
  unsigned long long low;          // delta is doubled if a bucket relaxes fewer arcs
  unsigned long long high;         // delta is halved if it relaxes more
  unsigned long long launch_arcs;  // after which a launch returns
  double least;                    // delta
  double most;
};

__device__ __forceinline__ Totals load_totals(const Totals* totals) {
  return {kl_load(&totals->arcs),      kl_load(&totals->waiting), kl_load(&totals->farthest),
          kl_load(&totals->unsettled), kl_load(&totals->longest), kl_load(&totals->near_spills),
          kl_load(&totals->far_spills)};
}

// ---- relaxation ---------------------------------------------------------------------------------
// Whole warps expand entries of the queue, and append the heads whose distances decrease.

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
