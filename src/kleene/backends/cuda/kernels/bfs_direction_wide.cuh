// Levels of bfs_direction_wide: how they begin and end, and the choice of their direction.
#pragma once
#include "bfs_direction_level.cuh"

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
