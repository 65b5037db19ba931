// One level of bfs_direction_wide: what its threads read, what they count, what they do with a
// vertex.
#pragma once
#include "bfs_direction_queue.cuh"

// Counters of a block, in shared memory.
struct BlockCounters {
  int tail;  // length of this block's list of the queue
  int found, large, targets;
  unsigned long long arcs;
};

struct WideLevel {
  const DirectionParams& params;
  BlockCounters& block;
  unsigned* const seen;       // vertices visited before this level, and in it if it pushes
  unsigned* const next_seen;  // those visited after a level that pulls
  const KlQueue queue;        // of the next frontier
  const int next_distance;
  const bool enqueues;  // whether a pull fills the queue
  // Of the vertices that this thread found:
  unsigned long long arcs;
  int found, large;

  __device__ __forceinline__ WideLevel(const DirectionParams& params_, const State& state,
                                       BlockCounters& block_, bool enqueues_)
      : params(params_),
        block(block_),
        seen(params.bits + static_cast<long long>(state.seen_index) * kl_words(params)),
        next_seen(params.bits + static_cast<long long>(state.seen_index ^ 1) * kl_words(params)),
        queue(kl_queue(params, state.level + 1, gridDim.x)),
        next_distance(state.level + 1),
        enqueues(enqueues_),
        arcs(0),
        found(0),
        large(0) {}

  // A vertex was found, with so many outgoing arcs.
  __device__ __forceinline__ void settle(int v, int predecessor, int degree) {
    kl_store(params.distances + v, next_distance);  // a sweep may read it
    if (params.predecessors != nullptr) params.predecessors[v] = predecessor;
    if (params.target_bits != nullptr && kl_has(params.target_bits, v)) {
      atomicAdd(&block.targets, 1);
    }
    arcs += degree;
    found += 1;
    large += degree > kRangeArcs;
  }

  // Adds what the threads of this block counted to the totals of the next level.
  __device__ __forceinline__ void finish(Totals* next) {
    const unsigned low = __reduce_add_sync(kAllLanes, static_cast<unsigned>(arcs & 0xffffff));
    const unsigned high = __reduce_add_sync(kAllLanes, static_cast<unsigned>(arcs >> 24));
    found = __reduce_add_sync(kAllLanes, found);
    large = __reduce_add_sync(kAllLanes, large);
    if (kl_lane() == 0 && found != 0) {
      atomicAdd(&block.found, found);
      atomicAdd(&block.arcs, (static_cast<unsigned long long>(high) << 24) + low);
      if (large != 0) atomicAdd(&block.large, large);
    }
    __syncthreads();
    if (threadIdx.x != 0) return;
    queue.counts[blockIdx.x] = min(block.tail, queue.capacity);
    if (block.found == 0) return;
    atomicAdd(&next->found, block.found);
    atomicAdd(&next->arcs, block.arcs);
    atomicMax(&next->longest, block.tail);
    if (block.large != 0) atomicAdd(&next->large, block.large);
    if (block.targets != 0) atomicAdd(&next->targets, block.targets);
  }
};
