// Levels of bfs_direction_wide: what a thread counts, pulls and pushes, how levels begin and end,
// and the choice of their direction.
#pragma once
#include "bfs/bfs_direction.cuh"

// ---- one level ----------------------------------------------------------------------------------
// What the threads of a level read, what they count, what they do with a vertex.

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

// ---- levels that pull ---------------------------------------------------------------------------
// Every unvisited vertex looks for a visited one among the tails of its incoming arcs, and stops at
// the first.
//
// A tail visited before this level is in the frontier: an earlier one would have found the vertex
// already. So one bit per vertex is enough, and the bits of the next level go to a second bitmap. A
// warp takes 32 words of the bitmap, 1024 vertices, and packs the unvisited ones into full warps,
// which scan their arcs.

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

// ---- levels that push ---------------------------------------------------------------------------
// The vertices of the frontier visit their neighbours.

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

// ---- from level to level ------------------------------------------------------------------------

// What a thread carries from level to level; all threads have the same.
struct WideRun {
  const DirectionParams& params;
  BlockCounters& block;
  Totals totals;  // of the frontier
  int visited;    // vertices
  int small_levels;

  __device__ __forceinline__ WideRun(const DirectionParams& params_, BlockCounters& block_,
                                     const State& state)
      : params(params_),
        block(block_),
        totals{state.arcs, 0, state.longest, state.large, 0, 0},
        visited(*params.visited),
        small_levels(0) {
    if (first_thread()) {
      params.totals[0] = params.totals[1] = params.totals[2] = {0, 0, 0, 0, 0, 0};
    }
    kl_grid_sync(params.barrier);
  }

  // Takes over the totals; returns whether there is a level to run.
  __device__ __forceinline__ bool begin_level(State& state, int budget) {
    state.arcs = totals.arcs;
    state.longest = totals.longest;
    state.large = totals.large;
    state.targets_left -= totals.targets;
    state.done = kl_outcome(params, state);
    state.queued = state.queued != 0 && totals.longest <= params.queue_capacity / state.writers;
    const bool small = state.queued && totals.arcs < static_cast<unsigned>(params.narrow_arcs);
    small_levels = small ? small_levels + 1 : 0;
    if (state.done != kRunning || budget == 0 || small_levels == kSmallLevels) return false;
    if (first_thread()) params.totals[(state.level + 2) % 3] = {0, 0, 0, 0, 0, 0};
    if (threadIdx.x == 0) block = {0, 0, 0, 0, 0};
    __syncthreads();
    return true;
  }

  // Whether to pull: by the arcs that each direction looks at. A pulled vertex tests tails until it
  // meets a visited one; a random arc has a visited tail as often as visited vertices have arcs, so
  // that it tests arcs / visited_arcs of them, or all. Both sides are multiplied by visited_arcs.
  __device__ __forceinline__ bool pulls(const State& state) const {
    if (params.in_neighbors == nullptr) return false;
    const float visited_arcs = static_cast<float>(state.visited_arcs);
    const float tested = min(params.mean_degree * visited_arcs, static_cast<float>(params.arcs));
    const float pulled = kl_words(params) * visited_arcs + unvisited() * (visited_arcs + tested);
    const float pushed = static_cast<float>(state.arcs) + (state.queued ? 0 : params.n);
    return 16 * pushed * visited_arcs > params.pull_cost * pulled;
  }

  // Whether a pull fills the queue: not if it would overflow.
  __device__ __forceinline__ bool enqueues(const State& state) const {
    const unsigned long long most = min(state.arcs, static_cast<unsigned long long>(unvisited()));
    return most <= static_cast<unsigned>(params.queue_capacity / 2);
  }

  __device__ __forceinline__ void end_level(WideLevel& level, State& state, Totals* next,
                                            bool pulled) {
    level.finish(next);
    state.queued = !pulled || level.enqueues;
    state.seen_index ^= static_cast<int>(pulled);
    state.writers = gridDim.x;
    state.level++;
    kl_grid_sync(params.barrier);
    totals = *next;
    visited += totals.found;
    state.visited_arcs += totals.arcs;
  }

  __device__ __forceinline__ void save(const State& state) const {
    if (!first_thread()) return;
    *params.state = state;
    *params.visited = visited;
  }

 private:
  static __device__ __forceinline__ bool first_thread() {
    return threadIdx.x == 0 && blockIdx.x == 0;
  }
  __device__ __forceinline__ int unvisited() const { return max(0, params.reachable - visited); }
};
