// What the kernels of bfs_direction.cu share: parameters and state, as the host knows them, and the
// frontier queue.
#pragma once
#include "common/warp.cuh"
#include "tuning/bfs.cuh"

// ---- shared with the host -----------------------------------------------------------------------

const int kRunning = 0;
const int kExhausted = 1;  // every reachable vertex is visited
const int kEarlyExit = 2;  // stopped at the limit or the targets

// State between launches.
struct State {
  unsigned long long arcs;          // of the frontier; an estimate unless it is queued
  unsigned long long visited_arcs;  // of all visited vertices; an estimate
  int level;                        // of the frontier
  int done;
  int queued;        // whether the frontier is in the queue
  int writers;       // lists of the queue
  int longest;       // longest list
  int large;         // whether entries are to be split into ranges
  int seen_index;    // index of the current bitmap
  int targets_left;  // targets not yet visited
};

// The barrier of bfs_direction_narrow: two words alternate (kl_grid_barrier_add).
struct NarrowBarrier {
  unsigned long long words[2];
  unsigned long long values[2];  // of the words after their last use
  int index;                     // of the word to use next
};

// Totals of a level. Three alternate: one is read, one is added to, one is cleared.
struct Totals {
  unsigned long long arcs;  // outgoing arcs of the new frontier
  int found;                // vertices of the new frontier
  int longest;              // list of a block
  int large;                // vertices to split into ranges
  int ranges;               // of this level
  int targets;
};

// Parameters of a search; source and limit change from one to the next.
struct DirectionParams {
  const long long* offsets;  // outgoing arcs
  const int* neighbors;
  const long long* in_offsets;  // incoming arcs; null if no level can pull
  const int* in_neighbors;
  const unsigned* unreachable;  // a bit per vertex without incoming arcs
  const unsigned* target_bits;  // a bit per target; null without targets
  int* distances;
  int* predecessors;  // or null
  unsigned* bits;     // two bitmaps of visited vertices
  int4* entries;      // two queues of queue_capacity entries
  int* counts;        // lengths of the lists of each queue, max_lists
  int4* ranges;       // of vertices with many arcs, queue_capacity
  int* visited;       // number of visited vertices with arcs
  Totals* totals;     // three
  State* state;
  unsigned* barrier;  // of bfs_direction_wide
  NarrowBarrier* narrow_barrier;
  long long arcs;  // of the graph
  int n;
  int reachable;  // vertices with incoming arcs
  int mean_degree;
  int targets;  // how many there are
  int source;
  int limit;            // level at which the search ends
  int levels;           // of a launch at most
  int narrow_arcs;      // frontiers with fewer arcs suit bfs_direction_narrow
  int max_narrow_arcs;  // it returns when a frontier has more
  int pull_cost;        // of an arc, in sixteenths of that of a pushed arc
  int max_lists;
  int queue_capacity;
};

__device__ __forceinline__ int kl_words(const DirectionParams& params) {
  return (params.n + 31) / 32;
}

__device__ __forceinline__ bool kl_has(const unsigned* bits, int v) {
  return (bits[v >> 5] >> (v & 31)) & 1;
}

// Whether the search ends, and why.
__device__ __forceinline__ int kl_outcome(const DirectionParams& params, const State& state) {
  const bool all_targets = params.target_bits != nullptr && state.targets_left == 0;
  return state.level >= params.limit || all_targets ? kEarlyExit
         : state.arcs == 0                          ? kExhausted
                                                    : kRunning;
}

// ---- the frontier queue -------------------------------------------------------------------------
// Vertices with their arcs, shared evenly by all warps.
//
// Every block appends to a list of its own, so there is no contention: entry k of list b is at
// k * lists + b. All warps read the lists together, in rounds of one entry each. Vertices with many
// arcs are split into ranges when they are processed; ranges are in one list, so that those of a
// single hub are shared by all warps too.

const int kDegreeOverflow = 0xffff;  // the degree of an entry that is this or more

// One entry: a vertex, its predecessor, and a range of its arcs. As int4: vertex, predecessor, and
// a 64-bit word with the first arc in the low 48 bits and the number of arcs above.
struct KlArcRange {
  int vertex;
  int predecessor;
  int degree;
  long long begin;
};

__device__ __forceinline__ int4 kl_pack(int vertex, int predecessor, int degree, long long begin) {
  const unsigned arcs = min(degree, kDegreeOverflow);
  return make_int4(vertex, predecessor, static_cast<int>(begin),
                   static_cast<int>(arcs << 16 | static_cast<unsigned>(begin >> 32)));
}

__device__ __forceinline__ KlArcRange kl_unpack(int4 entry) {
  const unsigned low = static_cast<unsigned>(entry.z), high = static_cast<unsigned>(entry.w);
  return {entry.x, entry.y, static_cast<int>(high >> 16),
          static_cast<long long>(high & 0xffff) << 32 | low};
}

// The lists of all writing blocks.
struct KlQueue {
  int4* entries;
  int* counts;   // of each list
  int lists;     // how many there are
  int capacity;  // entries of a list

  __device__ __forceinline__ int4* slot(int k) const {
    return entries + (static_cast<unsigned>(k) * lists + blockIdx.x);
  }
};

// The queue with the frontier of a level, written as so many lists.
__device__ __forceinline__ KlQueue kl_queue(const DirectionParams& params, int level, int lists) {
  const long long half = level & 1;
  return {params.entries + half * params.queue_capacity, params.counts + half * params.max_lists,
          lists, params.queue_capacity / lists};
}

// The lanes of a warp append their vertices that have arcs; returns whether there was space. *tail,
// in shared memory, is the length of this block's list; it keeps counting when the list is full.
__device__ __forceinline__ bool kl_append(const KlQueue& queue, int* tail, int vertex,
                                          int predecessor, long long begin, int degree) {
  const unsigned appending = __ballot_sync(kAllLanes, degree > 0);
  if (appending == 0) return true;
  int slot = 0;
  if (kl_lane() == 0) slot = atomicAdd(tail, __popc(appending));
  slot = __shfl_sync(kAllLanes, slot, 0) + kl_rank(appending);
  if (degree > 0 && slot < queue.capacity) {
    *queue.slot(slot) = kl_pack(vertex, predecessor, degree, begin);
  }
  return slot < queue.capacity;
}

// Appends the vertices of lanes with `split` to the list of ranges, whose size is *size; all lanes
// write the ranges of each. Arcs for which there is no space stay in the range of the lane.
__device__ __forceinline__ void kl_append_ranges(int4* ranges, int capacity, int* size, bool split,
                                                 KlArcRange& range) {
  unsigned left = __ballot_sync(kAllLanes, split);
  if (left == 0) return;
  const int lane = kl_lane(), pieces = split ? (range.degree - 1) / kRangeArcs + 1 : 0;
  const int end = kl_warp_scan(pieces);
  int first = 0;
  if (lane == 31) first = atomicAdd(size, end);
  first = __shfl_sync(kAllLanes, first, 31) + end - pieces;
  const int kept = max(0, min(pieces, capacity - first));
  for (; left != 0; left &= left - 1) {
    const int source_lane = __ffs(left) - 1;
    const int vertex = __shfl_sync(kAllLanes, range.vertex, source_lane);
    const int degree = __shfl_sync(kAllLanes, range.degree, source_lane);
    const long long begin = __shfl_sync(kAllLanes, range.begin, source_lane);
    int4* const slots = ranges + __shfl_sync(kAllLanes, first, source_lane);
    const int count = __shfl_sync(kAllLanes, kept, source_lane);
    for (int i = lane; i < count; i += 32) {
      const int skipped = i * kRangeArcs;
      slots[i] = kl_pack(vertex, -1, min(kRangeArcs, degree - skipped), begin + skipped);
    }
  }
  if (split) {
    range.begin += static_cast<long long>(kept) * kRangeArcs;
    range.degree = kept == pieces ? 0 : range.degree - kept * kRangeArcs;
  }
}

// The lanes of a warp bring a range each and share all of their arcs: calls visit(vertices, arcs)
// with whole warps and kArcsPerLane arcs per lane; an arc of -1 is none.
template <class Visit>
__device__ __forceinline__ void kl_expand(const KlArcRange& range, Visit visit) {
  const int lane = kl_lane(), end = kl_warp_scan(range.degree);
  const int total = __shfl_sync(kAllLanes, end, 31);
  const long long shift = range.begin - (end - range.degree);
  for (int first = 0; first < total; first += 32 * kArcsPerLane) {
    int vertices[kArcsPerLane];
    long long arcs[kArcsPerLane];
#pragma unroll
    for (int k = 0; k < kArcsPerLane; k++) {
      const int i = first + 32 * k + lane;
      const int source_lane = kl_warp_upper_bound(end, i);
      const long long arc = __shfl_sync(kAllLanes, shift, source_lane) + i;
      vertices[k] = __shfl_sync(kAllLanes, range.vertex, source_lane);
      arcs[k] = i < total ? arc : -1;
    }
    visit(vertices, arcs);
  }
}

// All warps of the grid process all lists: calls process(range) with whole warps; lanes without an
// entry have an empty range. An entry is loaded before its list's count is known to include it, so
// that the two loads overlap.
template <class Process>
__device__ __forceinline__ void kl_drain(const KlQueue& queue, int longest, Process process) {
  const unsigned lists = queue.lists, warps = static_cast<unsigned>(kl_total_warps());
  const unsigned places = min(longest, queue.capacity) * lists;
  unsigned slot = kl_lane() * warps + static_cast<unsigned>(kl_global_warp());
  while (__any_sync(kAllLanes, slot < places)) {
    KlArcRange range = {0, 0, 0, 0};
    if (slot < places) {
      const int4 entry = kl_load_int4(queue.entries + slot);
      const int count = kl_load(queue.counts + slot % lists);
      if (static_cast<int>(slot / lists) < count) range = kl_unpack(entry);
    }
    process(range);
    slot += 32 * warps;
  }
}
