// Direction-optimizing BFS with few launches for all levels (Beamer, Asanovic and Patterson 2012).
//
// bfs_direction_wide runs levels with work for the whole GPU (bfs_direction_wide.cuh). All blocks
// choose from the same totals how to run a level:
//   push   the frontier is in the queue (bfs_direction.cuh); its vertices visit their neighbours.
//          Vertices with many arcs are split into ranges, which all warps share after a grid
//          barrier;
//   sweep  the same for a frontier that did not fit the queue: all vertices are tested for the
//          distance of this level;
//   pull   every unvisited vertex looks for a visited one among the tails of its incoming arcs.
//
// bfs_direction_narrow runs levels with little work, which are bound by the latency of memory and
// of the barrier (bfs_direction_narrow.cuh). Each kernel returns when the frontier suits the other.
#include "bfs/bfs_direction_narrow.cuh"
#include "bfs/bfs_direction_wide.cuh"

// ---- once per graph -----------------------------------------------------------------------------

// Marks the vertices without incoming arcs, which a pull skips, and counts the others.
KL_KERNEL(bfs_direction_mark_unreachable, const long long* in_offsets, int n, unsigned* unreachable,
          int* reachable) {
  int count = 0;
  for (long long w = kl_global_warp(); w < (n + 31ll) / 32; w += kl_total_warps()) {
    const long long v = w * 32 + kl_lane();
    const bool none = v >= n || in_offsets[v] == in_offsets[v + 1];
    const unsigned word = __ballot_sync(kAllLanes, none);
    if (kl_lane() == 0) unreachable[w] = word;
    count += __popc(~word);
  }
  if (kl_lane() == 0 && count != 0) atomicAdd(reachable, count);
}

// ---- once per source ----------------------------------------------------------------------------

// Initialises bitmaps, queue and state.
KL_KERNEL(bfs_direction_init, const DirectionParams params) {
  const long long stride = static_cast<long long>(gridDim.x) * blockDim.x;
  const long long thread = static_cast<long long>(blockIdx.x) * blockDim.x + threadIdx.x;
  const int source = params.source;
  for (long long i = thread; i < 2ll * kl_words(params); i += stride) {
    params.bits[i] = i == source >> 5 ? 1u << (source & 31) : 0;
  }
  if (thread != 0) return;
  const long long begin = params.offsets[source];
  const int degree = static_cast<int>(params.offsets[source + 1] - begin);
  const unsigned long long arcs = degree;
  const bool is_target = params.target_bits != nullptr && kl_has(params.target_bits, source);
  params.entries[0] = kl_pack(source, -1, degree, begin);
  params.counts[0] = degree > 0;
  params.distances[source] = 0;
  *params.narrow_barrier = {{0, 0}, {0, 0}, 0};
  params.totals[0] = params.totals[1] = params.totals[2] = {0, 0, 0, 0, 0, 0};
  *params.visited = 1;
  *params.state = {arcs,       arcs,
                   0,          kRunning,
                   1,          1,
                   degree > 0, degree > kRangeArcs,
                   0,          params.targets - is_target};
}

// ---- levels with little work --------------------------------------------------------------------

// Phases of a level: 1. the frontier; 2. totals and barrier.
KL_KERNEL_BOUNDS(kNarrowThreads, 1, bfs_direction_narrow, const DirectionParams params) {
  __shared__ NarrowBlock block;
  State state = *params.state;
  NarrowBarrier* const barrier = params.narrow_barrier;
  unsigned long long values[2] = {barrier->values[0], barrier->values[1]};
  int index = barrier->index;
  const int capacity = params.queue_capacity / static_cast<int>(gridDim.x);
  const NarrowPlace place = narrow_place(gridDim.x);
  unsigned* const seen = params.bits + static_cast<long long>(state.seen_index) * kl_words(params);
  if (threadIdx.x == 0) block = {0, 0, 0, 0, 0, 0};
  if (threadIdx.x == 0 && blockIdx.x == 0) {
    kl_store(&params.totals[(state.level + 2) % 3].targets, 0);
  }
  __syncthreads();
  for (int budget = params.levels;; budget--) {
    state.done = kl_outcome(params, state);
    const bool leaves = state.done != kRunning || budget == 0 || state.large != 0 ||
                        state.queued == 0 ||
                        state.arcs > static_cast<unsigned>(params.max_narrow_arcs);
    const long long next_half = ~state.level & 1;
    const KlQueue queue = {params.entries + next_half * params.queue_capacity,
                           params.counts + next_half * params.max_lists,
                           static_cast<int>(gridDim.x), capacity};
    NarrowLevel level = {params, block, seen, queue, state.level, leaves, 0};
    narrow_frontier(level, state, place);
    if (leaves && budget < params.levels) break;  // else other blocks may not have read the state
    narrow_meet(level, state, barrier->words + index, values[0]);
    const unsigned long long arcs = kl_grid_barrier_sum(block.barrier_value, values[0]);
    values[0] = values[1];
    values[1] = block.barrier_value;
    index ^= 1;
    if (leaves) break;
    state.arcs = arcs;
    state.visited_arcs += min(arcs, static_cast<unsigned long long>(kLargeArcs));
    state.queued = arcs < kQueueOverflow;
    if (params.target_bits != nullptr) state.targets_left -= block.all_targets;
    state.writers = gridDim.x;
    state.level++;
  }
  narrow_save(params, block, state, values, index);
}

// ---- levels with work for the whole GPU ---------------------------------------------------------

// Phases of a level: 1. choose the direction; 2. push the queue, or sweep; 3. push ranges; or
// 2. pull; 4. totals and barrier.
KL_KERNEL_BOUNDS(kWideThreads, 2, bfs_direction_wide, const DirectionParams params) {
  __shared__ BlockCounters block;
  __shared__ unsigned found_words[kWideThreads];
  State state = *params.state;
  WideRun run(params, block, state);
  for (int budget = params.levels; run.begin_level(state, budget); budget--) {
    const bool pulls = run.pulls(state);
    WideLevel level(params, state, block, run.enqueues(state));
    Totals* const next = params.totals + (state.level + 1) % 3;
    if (pulls) {
      pull(level, found_words);
    } else {
      if (state.queued) {
        push_queue(level, state, &next->ranges);
      } else {
        push_sweep(level, state, &next->ranges);
      }
      if (state.large != 0 || !state.queued) {
        kl_grid_sync(params.barrier);
        push_ranges(level, &next->ranges);
      }
    }
    run.end_level(level, state, next, pulls);
  }
  run.save(state);
}
