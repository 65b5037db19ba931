// The frontier queue of bfs_direction.cu: vertices with their arcs, shared evenly by all warps.
//
// Every block appends to a list of its own, so there is no contention: entry k of list b is at
// k * lists + b. All warps read the lists together, in rounds of one entry each. Vertices with many
// arcs are split into ranges when they are processed.
#pragma once

#include "common/kleene.cuh"

const unsigned kAllLanes = 0xffffffffu;
const int kRangeArcs = 128;          // arcs of a range at most
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

// The lanes of a warp append their vertices that have arcs; returns whether there was space. *tail,
// in shared memory, is the length of this block's list; it keeps counting when the list is full.
__device__ __forceinline__ bool kl_append(const KlQueue& queue, int* tail, int vertex,
                                          int predecessor, long long begin, int degree) {
  const unsigned appending = __ballot_sync(kAllLanes, degree > 0);
  if (appending == 0) return true;
  int slot = 0;
  if (kl_lane() == 0) slot = atomicAdd(tail, __popc(appending));
  slot = __shfl_sync(kAllLanes, slot, 0) + __popc(appending & ((1u << kl_lane()) - 1));
  if (degree > 0 && slot < queue.capacity) {
    *queue.slot(slot) = kl_pack(vertex, predecessor, degree, begin);
  }
  return slot < queue.capacity;
}

// Appends the vertices of lanes with `split` as ranges of kRangeArcs arcs; all lanes write each of
// them. Arcs for which there is no space stay in the range of the lane.
__device__ __forceinline__ void kl_append_ranges(const KlQueue& queue, int* tail, bool split,
                                                 KlArcRange& range) {
  for (unsigned left = __ballot_sync(kAllLanes, split); left != 0; left &= left - 1) {
    const int source_lane = __ffs(left) - 1, lane = kl_lane();
    const int vertex = __shfl_sync(kAllLanes, range.vertex, source_lane);
    const int predecessor = __shfl_sync(kAllLanes, range.predecessor, source_lane);
    const int degree = __shfl_sync(kAllLanes, range.degree, source_lane);
    const long long begin = __shfl_sync(kAllLanes, range.begin, source_lane);
    const int ranges = (degree - 1) / kRangeArcs + 1;
    int first = 0;
    if (lane == 0) first = atomicAdd(tail, ranges);
    first = __shfl_sync(kAllLanes, first, 0);
    const int kept = max(0, min(ranges, queue.capacity - first));
    for (int i = lane; i < kept; i += 32) {
      const int skipped = i * kRangeArcs;
      *queue.slot(first + i) =
          kl_pack(vertex, predecessor, min(kRangeArcs, degree - skipped), begin + skipped);
    }
    if (lane == source_lane) {
      range.begin += static_cast<long long>(kept) * kRangeArcs;
      range.degree = kept == ranges ? 0 : degree - kept * kRangeArcs;
    }
  }
}

// The lanes of a warp bring a range each and share all of their arcs: calls visit(active, vertex,
// arc) with whole warps.
template <class Visit>
__device__ __forceinline__ void kl_expand(const KlArcRange& range, Visit visit) {
  const int lane = kl_lane();
  int end = range.degree;
  for (int step = 1; step < 32; step *= 2) {
    const int preceding = __shfl_up_sync(kAllLanes, end, step);
    if (lane >= step) end += preceding;
  }
  const int total = __shfl_sync(kAllLanes, end, 31);
  const long long shift = range.begin - (end - range.degree);
  for (int first = 0; first < total; first += 32) {
    const int arc = first + lane;
    int source_lane = 0;  // the first lane whose arcs end after this one
    for (int step = 16; step > 0; step /= 2) {
      if (__shfl_sync(kAllLanes, end, source_lane + step - 1) <= arc) source_lane += step;
    }
    const long long position = __shfl_sync(kAllLanes, shift, source_lane) + arc;
    const int vertex = __shfl_sync(kAllLanes, range.vertex, source_lane);
    visit(arc < total, vertex, position);
  }
}

// All warps of the grid process all lists: calls process(range) with whole warps; lanes without an
// entry have an empty range. An entry is loaded before its list's count is known to include it, so
// that the two loads overlap.
template <class Process>
__device__ __forceinline__ void kl_drain(const KlQueue& queue, int longest, Process process) {
  const unsigned lists = queue.lists, warps = gridDim.x * (blockDim.x / 32);
  const unsigned places = min(longest, queue.capacity) * lists;
  unsigned slot = kl_lane() * warps + blockIdx.x * (blockDim.x / 32) + threadIdx.x / 32;
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
