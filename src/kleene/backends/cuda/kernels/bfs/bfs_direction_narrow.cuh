// Levels of bfs_direction_narrow: few vertices, so that a level takes as long as its chain of
// dependent accesses. There are no choices, loads that may be needed are issued together, the data
// of the next levels is prefetched, the barrier sums the arcs of the level, and distances are
// written one level late to keep them off the chain.
#pragma once
#include "bfs/bfs_direction.cuh"

const int kEntryLanes = 4;       // lanes that share an entry
const int kLargeArcs = 1 << 18;  // arcs added for a vertex too large for bfs_direction_narrow
const unsigned long long kQueueOverflow = 1ull << 36;  // arcs added when the queue overflows

struct NarrowBlock {
  int tail, targets, all_targets, found;
  unsigned arcs;
  unsigned long long barrier_value;
};

struct NarrowLevel {
  const DirectionParams& params;
  NarrowBlock& block;
  unsigned* const seen;
  const KlQueue queue;
  const int distance;
  const bool leaves;
  unsigned arcs;

  __device__ __forceinline__ void visit(bool active, int predecessor, long long arc) {
    int v = 0, degree = 0;
    long long begin = 0;
    bool unvisited = false;
    if (active) {
      v = __ldg(params.neighbors + arc);
      const unsigned bit = 1u << (v & 31);
      const unsigned old = atomicOr(seen + (v >> 5), bit);
      begin = __ldg(params.offsets + v);
      degree = static_cast<int>(__ldg(params.offsets + v + 1) - begin);
      unvisited = (old & bit) == 0;
    }
    if (unvisited) {
      kl_prefetch(params.neighbors + begin);
      if (v > kPrefetchVertices) kl_prefetch(params.offsets + v - kPrefetchVertices);
      if (v < params.n - kPrefetchVertices) kl_prefetch(params.offsets + v + kPrefetchVertices);
      if (params.target_bits != nullptr && kl_has(params.target_bits, v)) {
        atomicAdd(&block.targets, 1);
      }
      arcs += degree > kRangeArcs ? kLargeArcs : degree;
    }
    const bool kept = kl_append(queue, &block.tail, v, predecessor, begin, unvisited ? degree : 0);
    if (unvisited && (degree == 0 || !kept)) {
      params.distances[v] = distance + 1;
      if (params.predecessors != nullptr) params.predecessors[v] = predecessor;
    }
  }

  // kEntryLanes lanes share an entry; the distances of the previous level are written now.
  __device__ __forceinline__ void process(const KlArcRange& range) {
    const int own = kl_lane() % kEntryLanes;
    if (own == 0 && range.degree > 0) {
      params.distances[range.vertex] = distance;
      if (params.predecessors != nullptr) params.predecessors[range.vertex] = range.predecessor;
    }
    if (leaves) return;
    for (int i = own; __any_sync(kAllLanes, i < range.degree); i += kEntryLanes) {
      visit(i < range.degree, range.vertex, range.begin + i);
    }
  }
};

// Where a lane begins to read a queue with as many lists as blocks: it stays in one list.
struct NarrowPlace {
  unsigned slot, list;
  int k;
};

__device__ __forceinline__ NarrowPlace narrow_place(unsigned lists) {
  const unsigned warps = gridDim.x * (blockDim.x / 32);
  const unsigned slot =
      kl_lane() / kEntryLanes * warps + blockIdx.x * (blockDim.x / 32) + threadIdx.x / 32;
  return {slot, slot % lists, static_cast<int>(slot / lists)};
}

// Phase 1: all entries of the frontier; `own` is the place for as many lists as blocks.
__device__ __forceinline__ void narrow_frontier(NarrowLevel& level, const State& state,
                                                const NarrowPlace& own) {
  const DirectionParams& params = level.params;
  const unsigned writers = state.writers, blocks = gridDim.x;
  const unsigned step = blocks * (blockDim.x / kEntryLanes);
  const long long half = state.level & 1;
  const int4* const entries = params.entries + half * params.queue_capacity;
  const int* const counts = params.counts + half * params.max_lists;
  const bool one_list = writers == blocks;
  NarrowPlace place = own;
  int kept = level.queue.capacity, length = 0;
  if (!one_list) place = narrow_place(writers), kept = params.queue_capacity / state.writers;
  int4 entry = make_int4(0, 0, 0, 0);
  if (place.k < kept) {
    entry = kl_load_int4(entries + place.slot);
    length = kl_load(counts + place.list);
  }
  while (__any_sync(kAllLanes, one_list ? place.k < length : place.k < state.longest)) {
    level.process(place.k < length ? kl_unpack(entry) : KlArcRange{0, 0, 0, 0});
    place.slot += step;
    place.k += blockDim.x / kEntryLanes;
    if (!one_list) {
      place.k = static_cast<int>(place.slot / writers);
      length = place.k < kept ? kl_load(counts + place.slot % writers) : 0;
    }
    if (place.k < length) entry = kl_load_int4(entries + place.slot);
  }
}

// Phase 2: the totals of all blocks; the first thread of each takes part in the barrier.
__device__ __forceinline__ void narrow_meet(const NarrowLevel& level, const State& state,
                                            unsigned long long* word,
                                            unsigned long long barrier_value) {
  const DirectionParams& params = level.params;
  NarrowBlock& block = level.block;
  const unsigned arcs = __reduce_add_sync(kAllLanes, level.arcs);
  if (kl_lane() == 0 && arcs != 0) atomicAdd(&block.arcs, arcs);
  __syncthreads();
  if (threadIdx.x == 0) {
    Totals* const next = params.totals + (state.level + 1) % 3;
    const int capacity = level.queue.capacity;
    level.queue.counts[blockIdx.x] = min(block.tail, capacity);
    if (block.targets != 0) atomicAdd(&next->targets, block.targets);
    const unsigned long long sum = block.arcs + (block.tail > capacity ? kQueueOverflow : 0);
    block.barrier_value = gridDim.x == 1 ? barrier_value + (sum << 16)
                                         : kl_grid_barrier_add(word, barrier_value, sum);
    if (params.target_bits != nullptr) {
      block.all_targets = kl_load(&next->targets);
      if (blockIdx.x == 0) kl_store(&params.totals[state.level % 3].targets, 0);
    }
    block.found += block.tail;
    block.tail = block.targets = 0;
    block.arcs = 0;
  }
  __syncthreads();
}

// State for bfs_direction_wide, or for the next launch.
__device__ __forceinline__ void narrow_save(const DirectionParams& params, NarrowBlock& block,
                                            State state, const unsigned long long (&values)[2],
                                            int index) {
  if (threadIdx.x == 0 && block.found != 0) atomicAdd(params.visited, block.found);
  if (blockIdx.x != 0 || threadIdx.x >= 32) return;
  const int* const lengths = params.counts + (state.level & 1) * params.max_lists;
  int longest = 0;
  for (int i = kl_lane(); i < state.writers; i += 32) longest = max(longest, kl_load(lengths + i));
  state.longest = __reduce_max_sync(kAllLanes, longest);
  state.large |= state.arcs >= kLargeArcs;
  if (kl_lane() != 0) return;
  *params.state = state;
  params.narrow_barrier->values[0] = values[0];
  params.narrow_barrier->values[1] = values[1];
  params.narrow_barrier->index = index;
}
