// Levels of bfs_direction_wide that push: the vertices of the frontier visit their neighbours.
#pragma once
#include "bfs_direction_level.cuh"

// Visits the heads of kArcsPerLane arcs per lane; loads that do not depend on each other overlap.
__device__ __forceinline__ void visit_heads(WideLevel& level, const int (&tails)[kArcsPerLane],
                                            const long long (&arcs)[kArcsPerLane]) {
  const DirectionParams& params = level.params;
  int heads[kArcsPerLane];
  unsigned words[kArcsPerLane];
  long long begins[kArcsPerLane];
  int degrees[kArcsPerLane];
#pragma unroll
  for (int k = 0; k < kArcsPerLane; k++) {
    heads[k] = arcs[k] >= 0 ? __ldg(params.neighbors + arcs[k]) : -1;
  }
#pragma unroll
  for (int k = 0; k < kArcsPerLane; k++) {
    words[k] = heads[k] >= 0 ? kl_load(level.seen + (heads[k] >> 5)) : kAllLanes;
  }
#pragma unroll
  for (int k = 0; k < kArcsPerLane; k++) {
    const unsigned bit = 1u << (heads[k] & 31);
    if ((words[k] & bit) == 0) words[k] = atomicOr(level.seen + (heads[k] >> 5), bit);
  }
#pragma unroll
  for (int k = 0; k < kArcsPerLane; k++) {
    begins[k] = 0;
    degrees[k] = -1;
    if ((words[k] >> (heads[k] & 31) & 1) == 0) {
      begins[k] = __ldg(params.offsets + heads[k]);
      degrees[k] = static_cast<int>(__ldg(params.offsets + heads[k] + 1) - begins[k]);
    }
  }
#pragma unroll
  for (int k = 0; k < kArcsPerLane; k++) {
    if (degrees[k] >= 0) level.settle(heads[k], tails[k], degrees[k]);
    kl_append(level.queue, &level.block.tail, heads[k], tails[k], begins[k], degrees[k]);
  }
}

// Visits the neighbours of the vertices of a warp; those with many arcs go to the list of ranges.
__device__ __forceinline__ void push_vertices(WideLevel& level, int* ranges, KlArcRange range) {
  const DirectionParams& params = level.params;
  const bool split = range.degree > kRangeArcs;
  if (split && range.degree == kDegreeOverflow) {
    range.degree = static_cast<int>(__ldg(params.offsets + range.vertex + 1) - range.begin);
  }
  kl_append_ranges(params.ranges, params.queue_capacity, ranges, split, range);
  kl_expand(range, [&](const auto& tails, const auto& arcs) { visit_heads(level, tails, arcs); });
}

// The frontier is in the queue.
__device__ __forceinline__ void push_queue(WideLevel& level, const State& state, int* ranges) {
  kl_drain(kl_queue(level.params, state.level, state.writers), state.longest,
           [&](const KlArcRange& range) { push_vertices(level, ranges, range); });
}

// The frontier did not fit the queue: all vertices are tested for the distance of this level.
__device__ __forceinline__ void push_sweep(WideLevel& level, const State& state, int* ranges) {
  const DirectionParams& params = level.params;
  for (long long w = kl_global_warp(); w < kl_words(params); w += kl_total_warps()) {
    const int v = static_cast<int>(w) * 32 + static_cast<int>(kl_lane());
    KlArcRange range = {v, 0, 0, 0};
    // Concurrent writes are of the next level, never equal to this one.
    if (v < params.n && kl_load(params.distances + v) == state.level) {
      range.begin = __ldg(params.offsets + v);
      range.degree = static_cast<int>(
          min(__ldg(params.offsets + v + 1) - range.begin, static_cast<long long>(0x7fffffff)));
    }
    if (__any_sync(kAllLanes, range.degree > 0)) push_vertices(level, ranges, range);
  }
}

// The ranges of vertices with many arcs, a warp each; after a grid barrier.
__device__ __forceinline__ void push_ranges(WideLevel& level, const int* ranges) {
  const DirectionParams& params = level.params;
  const int count = min(kl_load(ranges), params.queue_capacity);
  for (long long i = kl_global_warp(); i < count; i += kl_total_warps()) {
    KlArcRange range = kl_unpack(kl_load_int4(params.ranges + i));
    if (kl_lane() != 0) range.degree = 0;
    kl_expand(range, [&](const auto& tails, const auto& arcs) { visit_heads(level, tails, arcs); });
  }
}
