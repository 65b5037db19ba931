// How the threads of a warp share the arcs of many vertices, so that none waits for a hub.
//
//   kl_for_arcs    all arcs of a range of positions, whichever vertices they leave
//   kl_expand      all arcs of the vertices in a queue
//
// A queue holds parts of at most kPart arcs: a part's number in the high half of an entry, its
// vertex in the low half. So a hub is many entries, for many warps; a vertex without arcs is none.
#pragma once
#include "kleene.cuh"

constexpr unsigned kAllLanes = 0xffffffffu;
constexpr int kPart = 256;    // arcs of one entry of a queue
constexpr int kChunk = 1024;  // arcs that a warp walks through in kl_for_arcs

__device__ __forceinline__ long long kl_warp() {
  return (blockIdx.x * static_cast<long long>(blockDim.x) + threadIdx.x) / 32;
}
__device__ __forceinline__ long long kl_warps() {
  return gridDim.x * static_cast<long long>(blockDim.x) / 32;
}

// How many of the rising numbers that lanes 0 to 30 hold are at most `value`.
__device__ __forceinline__ int kl_rank(int rising, int value) {
  int rank = 0;
#pragma unroll
  for (int step = 16; step > 0; step /= 2) {
    if (__shfl_sync(kAllLanes, rising, rank + step - 1) <= value) rank += step;
  }
  return rank;
}

// The sum over the lanes up to the own one.
__device__ __forceinline__ int kl_running_sum(int value) {
  const int lane = static_cast<int>(kl_lane());
#pragma unroll
  for (int step = 1; step < 32; step *= 2) {
    const int before = __shfl_up_sync(kAllLanes, value, step);
    if (lane >= step) value += before;
  }
  return value;
}

// The vertex that an arc leaves: the last whose arcs begin there or before.
__device__ __forceinline__ int kl_tail(const long long* offsets, int n, long long arc) {
  int low = 0, high = n;
  while (high - low > 1) {
    const int middle = low + (high - low) / 2;
    if (offsets[middle] <= arc) {
      low = middle;
    } else {
      high = middle;
    }
  }
  return low;
}

// Calls visit(active, u, arc) in whole warps, until each arc was visited once by an active lane.
template <class Visit>
__device__ __forceinline__ void kl_for_arcs(const long long* offsets, int n, Visit visit) {
  const int lane = static_cast<int>(kl_lane());
  const long long m = offsets[n];
  for (long long begin = kl_warp() * kChunk; begin < m; begin += kl_warps() * kChunk) {
    const long long end = min(begin + kChunk, m);
    int row = kl_tail(offsets, n, begin);
    for (long long at = begin; at < end;) {
      // Where the arcs of the next 32 vertices end, seen from `at`.
      const long long own_end = min(offsets[min(row + lane, n - 1) + 1], end) - at;
      const int stop = static_cast<int>(__shfl_sync(kAllLanes, own_end, 31));
      for (int first = 0; first < stop; first += 32) {
        const int u = row + kl_rank(static_cast<int>(own_end), first + lane);
        visit(first + lane < stop, u, at + first + lane);
      }
      at += stop;
      // After vertices without arcs there may be many more.
      row = stop > 0 ? min(row + 32, n - 1) : kl_tail(offsets, n, at);
    }
  }
}

// Calls visit(active, u, about, arc) in whole warps, until each arc of each entry was visited once
// by an active lane; `about` is what about(u) gave for its vertex, before.
template <class About, class Visit>
__device__ __forceinline__ void kl_expand(const long long* queue, long long size,
                                          const long long* offsets, About about, Visit visit) {
  const int lane = static_cast<int>(kl_lane());
  const long long share = (size + kl_warps() - 1) / kl_warps();
  const int entries = share < 32 ? static_cast<int>(share) : 32;  // that a warp takes at a time
  for (long long first = kl_warp() * entries; first < size; first += kl_warps() * entries) {
    int u = 0, count = 0;
    long long begin = 0;
    decltype(about(0)) told{};
    if (lane < entries && first + lane < size) {
      const long long entry = __ldcg(queue + first + lane);
      u = static_cast<int>(entry & 0xffffffffll);
      begin = offsets[u] + (entry >> 32) * kPart;
      count = static_cast<int>(min(offsets[u + 1] - begin, static_cast<long long>(kPart)));
      told = about(u);
    }
    const int sum = kl_running_sum(count);
    const int total = __shfl_sync(kAllLanes, sum, 31);
    const long long origin = begin - (sum - count);
    for (int i = lane; i - lane < total; i += 32) {
      const int owner = kl_rank(sum, i);
      visit(i < total, __shfl_sync(kAllLanes, u, owner), __shfl_sync(kAllLanes, told, owner),
            __shfl_sync(kAllLanes, origin, owner) + i);
    }
  }
}

// Appends a number to a list for every lane that wants it; all lanes of the warp come here.
__device__ __forceinline__ void kl_append(bool wanted, int number, int* list,
                                          unsigned long long* size) {
  const unsigned all = __ballot_sync(kAllLanes, wanted);
  if (all == 0) return;
  const int lane = static_cast<int>(kl_lane()), leader = __ffs(static_cast<int>(all)) - 1;
  unsigned long long at = 0;
  if (lane == leader) at = atomicAdd(size, static_cast<unsigned long long>(__popc(all)));
  at = __shfl_sync(kAllLanes, at, leader);
  if (wanted) list[at + __popc(all & ((1u << lane) - 1))] = number;
}

// Appends v to a queue for every lane that wants it; all lanes of the warp come here.
__device__ __forceinline__ void kl_enqueue(bool wanted, int v, const long long* offsets,
                                           long long* queue, unsigned long long* size) {
  if (!__any_sync(kAllLanes, wanted)) return;
  const int lane = static_cast<int>(kl_lane());
  const long long arcs = wanted ? offsets[v + 1] - offsets[v] : 0;
  const int parts = static_cast<int>((arcs + kPart - 1) / kPart);
  const unsigned some = __ballot_sync(kAllLanes, parts > 0);
  if (some == 0) return;
  unsigned large = __ballot_sync(kAllLanes, parts > 1);
  int before = __popc(some & ((1u << lane) - 1)), total = __popc(some);
  if (large != 0) {
    const int sum = kl_running_sum(parts);
    before = sum - parts;
    total = __shfl_sync(kAllLanes, sum, 31);
  }
  unsigned long long at = 0;
  if (lane == 0) at = atomicAdd(size, static_cast<unsigned long long>(total));
  at = __shfl_sync(kAllLanes, at, 0) + static_cast<unsigned long long>(before);
  if (parts == 1) queue[at] = v;
  for (; large != 0; large &= large - 1) {  // the parts of one vertex, by all lanes
    const int owner = __ffs(static_cast<int>(large)) - 1;
    const int of = __shfl_sync(kAllLanes, v, owner), end = __shfl_sync(kAllLanes, parts, owner);
    const unsigned long long first = __shfl_sync(kAllLanes, at, owner);
    for (int part = lane; part < end; part += 32) {
      queue[first + part] = static_cast<long long>(part) << 32 | of;
    }
  }
}
