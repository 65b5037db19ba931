// Betweenness from batches of sources (Brandes 2001, A Faster Algorithm for Betweenness
// Centrality), a lane of a warp to each source.
//
// The forward pass counts shortest paths level by level. Every vertex has a row of 32 counts; the
// warp of a vertex pulls: it adds the rows of the tails of incoming arcs, each in the lanes where
// the arc is on a shortest path. Only this warp writes the row, so nothing is atomic and sums have
// a fixed order. Levels are lists of rows with lane masks; a vertex is in one entry for every level
// in which any source reaches it. The backward pass goes through the same lists, last level first,
// and pulls over outgoing arcs.
//
// With hops a level is a distance, and an arc counts where it leads from one level to the next.
// With lengths, an arc (u, v) counts in lanes where it is tight, distance[u] + length ==
// distance[v], which betweenness_tight.cu finds. A row enters a level in the lanes where the tails
// of all its tight arcs are in lower levels: topological order, by counters.
//
// For each path that arrives at a vertex, `rest` is what goes on from it or ends there:
//   rest[u] = (is_target[u] + onward[u]) / paths[u]
//   onward[u] = paths[u] * sum of rest[v] over the arcs (u, v) that count
// So a pass reads one row of 256 bytes for an arc, not two.
//
//   betweenness_init                               the sources are level 0
//   betweenness_forward_hops, _forward_tight       each level, until one is empty:
//     1. list_ready      the rows of the next level; grid barrier
//     2. sum_segments    the sums of segments of hubs; grid barrier
//     3. settle          numbers of paths; grid barrier
//   betweenness_backward_hops, _backward_tight     each level, down to the sources:
//     1. finish_entries  all rows but hubs; grid barrier
//     2. sum_segments, finish_hubs    those of hubs; a grid barrier after each
#include "betweenness/betweenness_backward.cuh"
#include "betweenness/betweenness_forward.cuh"

namespace {

__device__ __forceinline__ bool first_thread() { return blockIdx.x == 0 && threadIdx.x == 0; }

// The entries of a level, and those of the level before it. Threads keep them from level to level:
// to load them again, all warps would wait for the same address.
struct Entries {
  unsigned long long before, begin, end;
};

// Runs one level of the forward pass and moves on to the next one; returns whether that is empty.
template <class Paths>
__device__ __forceinline__ bool run_forward(const BetweennessParams& params, int level,
                                            Entries& entries) {
  const Forward<Paths> forward(params, level);
  const unsigned long long end = entries.end;
  if (level > 0) forward.clear_frontier(level - 1, entries.before, entries.begin);
  forward.list_ready(entries.begin, end);
  kl_grid_sync(params.barrier);
  const unsigned long long next_end = params.state->entries;  // until the next list_ready
  if (next_end == end) return true;
  if (first_thread()) params.level_begin[level + 2] = next_end;
  if (params.in_hub_count != 0) {
    forward.sum_segments();
    kl_grid_sync(params.barrier);
  }
  forward.settle(end, next_end);
  kl_grid_sync(params.barrier);
  entries = {entries.begin, end, next_end};
  return false;
}

template <class Paths>
__device__ __forceinline__ void forward_pass(const BetweennessParams& params) {
  if (params.state->finished != 0) return;
  int level = params.state->level;
  const unsigned long long* const begin = params.level_begin + level;
  Entries entries{level > 0 ? begin[-1] : 0, begin[0], begin[1]};
  bool finished = level >= params.limit;
  for (int i = 0; i < params.levels && !finished; ++i) {
    finished = run_forward<Paths>(params, level, entries);
    if (!finished) ++level;
    finished |= level >= params.limit;
  }
  kl_grid_sync(params.barrier);  // all have read the state
  if (first_thread()) {
    params.state->level = level;
    params.state->finished = finished;
  }
}

template <class Paths>
__device__ __forceinline__ void run_backward(const BetweennessParams& params, int level, int last) {
  const Backward<Paths> backward(params, level);
  const unsigned long long* const begin = params.level_begin + level;
  if (level + 2 <= last) backward.clear_frontier(level + 2, begin[2], begin[3]);
  backward.finish_entries(begin[0], begin[1]);
  kl_grid_sync(params.barrier);
  if (params.hub_count == 0) return;
  backward.sum_segments();
  kl_grid_sync(params.barrier);
  backward.finish_hubs();
  kl_grid_sync(params.barrier);
}

// From the level of the state down to 0; `last` is the last level of the forward pass.
template <class Paths>
__device__ __forceinline__ void backward_pass(const BetweennessParams& params, int last) {
  int level = params.state->level;
  for (int i = 0; i < params.levels && level >= 0; ++i, --level) {
    run_backward<Paths>(params, level, last);
  }
  kl_grid_sync(params.barrier);  // all have read the state
  if (first_thread()) params.state->level = level;
}

}  // namespace

// One thread per source. The state, all masks and the numbers of reached targets are zero. A source
// with a tight incoming arc lies on a cycle of arcs that add nothing, and is left out: the host
// finds what is missing.
KL_KERNEL(betweenness_init, const BetweennessParams params, const int* sources, int count) {
  const int source = blockIdx.x * blockDim.x + threadIdx.x;
  if (source >= count) return;
  const int row = source / 32 * params.n + sources[source];
  const long long place = row * 32ll + source % 32;
  if (params.missing != nullptr && params.missing[place] != 0) return;
  const unsigned lanes = 1u << source % 32;
  params.paths[place] = 1;
  if (params.paths_exponents != nullptr) params.paths_exponents[place] = 0;
  params.seen[row] = lanes;
  params.frontier[row] = lanes;
  const unsigned long long entry = atomicAdd(&params.state->entries, 1ull);
  params.entry_row[entry] = row;
  params.entry_lanes[entry] = lanes;
  atomicAdd(params.level_begin + 1, 1ull);
}

KL_KERNEL_BOUNDS(kThreads, kBetweennessBlocks, betweenness_forward_hops,
                 const BetweennessParams params) {
  forward_pass<HopPaths>(params);
}

KL_KERNEL_BOUNDS(kThreads, kBetweennessBlocks, betweenness_forward_tight,
                 const BetweennessParams params) {
  forward_pass<TightPaths>(params);
}

KL_KERNEL_BOUNDS(kThreads, kBetweennessBlocks, betweenness_backward_hops,
                 const BetweennessParams params, int last) {
  backward_pass<HopPaths>(params, last);
}

KL_KERNEL_BOUNDS(kThreads, kBetweennessBlocks, betweenness_backward_tight,
                 const BetweennessParams params, int last) {
  backward_pass<TightPaths>(params, last);
}
