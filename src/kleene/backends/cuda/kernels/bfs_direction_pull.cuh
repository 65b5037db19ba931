// Levels of bfs_direction_wide that pull: every unvisited vertex looks for a visited one among the
// tails of its incoming arcs, and stops at the first.
//
// A tail visited before this level is in the frontier: an earlier one would have found the vertex
// already. So one bit per vertex is enough, and the bits of the next level go to a second bitmap. A
// warp takes 32 words of the bitmap, 1024 vertices, and packs the unvisited ones into full warps,
// which scan their arcs.
#pragma once
#include "bfs_direction_level.cuh"

// Counts and writes the vertices that lanes found (predecessor >= 0); called by whole warps.
__device__ __forceinline__ void pull_found(WideLevel& level, int v, int predecessor) {
  const DirectionParams& params = level.params;
  if (!level.enqueues) {  // no one needs its arcs: an estimate of their number will do
    if (predecessor >= 0) level.settle(v, predecessor, params.mean_degree);
    return;
  }
  long long begin = 0;
  int degree = 0;
  if (predecessor >= 0) {
    begin = __ldg(params.offsets + v);
    degree = static_cast<int>(__ldg(params.offsets + v + 1) - begin);
    level.settle(v, predecessor, degree);
  }
  kl_append(level.queue, &level.block.tail, v, predecessor, begin, degree);
}

// The first visited tail among up to kSerialArcs arcs, or -1; *arc moves past those tested.
__device__ __forceinline__ int first_visited(const WideLevel& level, long long* arc,
                                             long long end) {
  const long long enough = min(end, *arc + kSerialArcs);
  while (*arc < enough) {
    const int u = __ldg(level.params.in_neighbors + (*arc)++);
    if (kl_has(level.seen, u)) return u;
  }
  return -1;
}

// All lanes scan the arcs that lanes with arc < end have left; the result is of the own lane.
__device__ __forceinline__ int visited_by_warp(const WideLevel& level, long long arc,
                                               long long end) {
  const int lane = kl_lane();
  int visited = -1;
  for (unsigned left = __ballot_sync(kAllLanes, arc < end); left != 0; left &= left - 1) {
    const int source_lane = __ffs(left) - 1;
    const long long stop = __shfl_sync(kAllLanes, end, source_lane);
    unsigned hits = 0;
    for (long long i = __shfl_sync(kAllLanes, arc, source_lane); i < stop && hits == 0; i += 32) {
      const int u = i + lane < stop ? __ldg(level.params.in_neighbors + i + lane) : -1;
      hits = __ballot_sync(kAllLanes, u >= 0 && kl_has(level.seen, u));
      const int hit = __shfl_sync(kAllLanes, u, hits == 0 ? 0 : __ffs(hits) - 1);
      if (hits != 0 && lane == source_lane) visited = hit;
    }
  }
  return visited;
}

// Returns the vertices found of the word of this lane; `open` are the unvisited ones. found_words
// are 32 words of this warp in shared memory.
__device__ __forceinline__ unsigned scan_tails(WideLevel& level, int first_word, unsigned open,
                                               unsigned* found_words) {
  const DirectionParams& params = level.params;
  const int lane = kl_lane(), count = __popc(open), end = kl_warp_scan(count);
  const int total = __shfl_sync(kAllLanes, end, 31);
  if (total == 0) return 0;
  found_words[lane] = 0;
  __syncwarp();
  for (int first = 0; first < total; first += 32) {
    const int i = first + lane, owner = kl_warp_upper_bound(end, i);
    const unsigned vertices = __shfl_sync(kAllLanes, open, owner);
    const int preceding = __shfl_sync(kAllLanes, end - count, owner);
    const int bit = kl_nth_set_bit(vertices, i - preceding);
    const int v = (first_word + owner) * 32 + bit;
    int visited = -1;
    long long arc = 0, stop = 0;
    if (i < total) {
      arc = __ldg(params.in_offsets + v);
      stop = __ldg(params.in_offsets + v + 1);
      visited = first_visited(level, &arc, stop);
    }
    const int by_warp = visited_by_warp(level, arc, visited < 0 ? stop : arc);
    visited = max(visited, by_warp);
    if (visited >= 0) atomicOr(found_words + owner, 1u << bit);
    pull_found(level, v, visited);
  }
  __syncwarp();
  return found_words[lane];
}

// found_words has 32 words for each warp of the block, in shared memory.
__device__ __forceinline__ void pull(WideLevel& level, unsigned* found_words) {
  const DirectionParams& params = level.params;
  const int words = kl_words(params), lane = kl_lane();
  const int warps = static_cast<int>(kl_total_warps());
  const int width = min(32, (words - 1) / warps + 1);  // words of a warp: fewer in a small graph
  for (long long first = width * kl_global_warp(); first < words; first += width * warps) {
    const int w = static_cast<int>(first) + lane;
    const bool mine = lane < width && w < words;
    const unsigned old = mine ? level.seen[w] : 0;
    const unsigned open = mine ? ~(old | params.unreachable[w]) : 0;
    const unsigned found =
        scan_tails(level, static_cast<int>(first), open, found_words + threadIdx.x / 32 * 32);
    if (mine) level.next_seen[w] = old | found;
  }
}
