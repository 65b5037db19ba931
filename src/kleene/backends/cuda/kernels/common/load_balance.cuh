// Load balancing: the lanes of a warp share the arcs of many vertices, so that hubs stall no warp.
//
//   kl_for_arcs    visits all arcs, in chunks of consecutive arcs
//   kl_expand      visits all arcs of the vertices in a queue
//
// A queue entry is at most kArcsPerEntry arcs of a vertex: the number of the part in the high half,
// the vertex in the low half. A hub has many entries, for many warps; a vertex without arcs none.
#pragma once
#include "common/warp.cuh"
#include "tuning/load_balance.cuh"

// The tail of an arc: the last vertex whose arcs begin at it or before.
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

// Calls visit(active, tail, arc) with whole warps; exactly one active lane visits each arc.
template <class Visit>
__device__ __forceinline__ void kl_for_arcs(const long long* offsets, int n, Visit visit) {
  const int lane = static_cast<int>(kl_lane());
  const long long m = offsets[n];
  for (long long begin = kl_global_warp() * kChunk; begin < m; begin += kl_total_warps() * kChunk) {
    const long long end = min(begin + kChunk, m);
    int row = kl_tail(offsets, n, begin);
    for (long long position = begin; position < end;) {
      // Ends of the arcs of the next 32 vertices, relative to `position`.
      const long long own_end = min(offsets[min(row + lane, n - 1) + 1], end) - position;
      const int stop = static_cast<int>(__shfl_sync(kAllLanes, own_end, 31));
      for (int first = 0; first < stop; first += 32) {
        const int u = row + kl_warp_upper_bound(static_cast<int>(own_end), first + lane);
        visit(first + lane < stop, u, position + first + lane);
      }
      position += stop;
      // A run of vertices without arcs may be long.
      row = stop > 0 ? min(row + 32, n - 1) : kl_tail(offsets, n, position);
    }
  }
}

// Calls visit(active, tail, value, arc) with whole warps; exactly one active lane visits each arc
// of each entry. `value` is load(tail), read once per entry.
template <class Load, class Visit>
__device__ __forceinline__ void kl_expand(const long long* queue, long long size,
                                          const long long* offsets, Load load, Visit visit) {
  const int lane = static_cast<int>(kl_lane());
  const long long per_warp = (size + kl_total_warps() - 1) / kl_total_warps();
  const int entries = per_warp < 32 ? static_cast<int>(per_warp) : 32;  // per warp at a time
  for (long long first = kl_global_warp() * entries; first < size;
       first += kl_total_warps() * entries) {
    int u = 0, count = 0;
    long long begin = 0;
    decltype(load(0)) value{};
    if (lane < entries && first + lane < size) {
      const long long entry = __ldcg(queue + first + lane);
      u = static_cast<int>(entry & 0xffffffffll);
      begin = offsets[u] + (entry >> 32) * kArcsPerEntry;
      count = static_cast<int>(min(offsets[u + 1] - begin, static_cast<long long>(kArcsPerEntry)));
      value = load(u);
    }
    const int sum = kl_warp_scan(count);
    const int total = __shfl_sync(kAllLanes, sum, 31);
    const long long origin = begin - (sum - count);
    for (int i = lane; i - lane < total; i += 32) {
      const int source_lane = kl_warp_upper_bound(sum, i);
      visit(i < total, __shfl_sync(kAllLanes, u, source_lane),
            __shfl_sync(kAllLanes, value, source_lane),
            __shfl_sync(kAllLanes, origin, source_lane) + i);
    }
  }
}

// Appends a number to a list for every lane that wants it; called by whole warps.
__device__ __forceinline__ void kl_append(bool wanted, int number, int* list,
                                          unsigned long long* size) {
  const unsigned all = __ballot_sync(kAllLanes, wanted);
  if (all == 0) return;
  const int lane = static_cast<int>(kl_lane()), leader = __ffs(static_cast<int>(all)) - 1;
  unsigned long long position = 0;
  if (lane == leader) position = atomicAdd(size, static_cast<unsigned long long>(__popc(all)));
  position = __shfl_sync(kAllLanes, position, leader);
  if (wanted) list[position + __popc(all & ((1u << lane) - 1))] = number;
}

// Appends v to a queue for every lane that wants it; called by whole warps.
__device__ __forceinline__ void kl_enqueue(bool wanted, int v, const long long* offsets,
                                           long long* queue, unsigned long long* size) {
  if (!__any_sync(kAllLanes, wanted)) return;
  const int lane = static_cast<int>(kl_lane());
  const long long arcs = wanted ? offsets[v + 1] - offsets[v] : 0;
  const int parts = static_cast<int>((arcs + kArcsPerEntry - 1) / kArcsPerEntry);
  const unsigned some = __ballot_sync(kAllLanes, parts > 0);
  if (some == 0) return;
  unsigned large = __ballot_sync(kAllLanes, parts > 1);
  int preceding = __popc(some & ((1u << lane) - 1)), total = __popc(some);
  if (large != 0) {
    const int sum = kl_warp_scan(parts);
    preceding = sum - parts;
    total = __shfl_sync(kAllLanes, sum, 31);
  }
  unsigned long long position = 0;
  if (lane == 0) position = atomicAdd(size, static_cast<unsigned long long>(total));
  position = __shfl_sync(kAllLanes, position, 0) + static_cast<unsigned long long>(preceding);
  if (parts == 1) queue[position] = v;
  for (; large != 0; large &= large - 1) {  // all lanes write the parts of one vertex
    const int source_lane = __ffs(static_cast<int>(large)) - 1;
    const int of = __shfl_sync(kAllLanes, v, source_lane),
              end = __shfl_sync(kAllLanes, parts, source_lane);
    const unsigned long long first = __shfl_sync(kAllLanes, position, source_lane);
    for (int part = lane; part < end; part += 32) {
      queue[first + part] = static_cast<long long>(part) << 32 | of;
    }
  }
}
