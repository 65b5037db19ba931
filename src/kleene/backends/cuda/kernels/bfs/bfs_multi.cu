// Multi-source BFS with one bit per search (Then et al. 2014, The More the Merrier: Efficient
// Multi-Source Graph Traversal), on a GPU.
//
// Every vertex has a row of words, one bit per search: seen, and two alternating frontiers. A level
// pulls: a warp scans the incoming arcs of a vertex, one word of the row per lane; bits that are in
// the frontier of a neighbour and not in seen are new. Rows of fewer than 32 words are read several
// at a time.
//
// `active` has a bit per vertex that is in the frontier of any search; a frontier row is valid only
// if this bit is set, so rows need no clearing. `full` has a bit per vertex that all searches have
// seen. A block processes chunks of 32 vertices, whose bits are one word. It first tests several
// chunks for vertices with an active neighbour, one lane per vertex. In the chunks with hits it
// collects the new bits and writes the distances of 32 adjacent vertices, one search after the
// other: the result has a row per search.
//
// All levels run in one cooperative launch, or a few, with one grid barrier per level, and a second
// one if there are hubs, whose arcs are split among warps first.
#include "bfs/bfs_multi.cuh"

// One thread per search. All other words are zero, all other distances no_path.
KL_KERNEL(bfs_multi_init, const MultiParams params) {
  const int search = blockIdx.x * blockDim.x + threadIdx.x;
  if (search == 0) params.control[kTargetsLeft] = params.targets;
  if (search >= params.count) return;
  const int s = params.sources[search];
  const long long word = static_cast<long long>(s) * params.words + search / 32;
  atomicOr(params.seen + word, 1u << (search % 32));
  atomicOr(params.frontier + word, 1u << (search % 32));
  atomicOr(params.active + s / 32, 1u << (s % 32));
  params.distances[search * static_cast<long long>(params.n) + s] = 0;
}

// no_path for every search and vertex.
KL_KERNEL(bfs_multi_clear, int* distances, long long size, int none) {
  const long long step = gridDim.x * static_cast<long long>(blockDim.x);
  for (long long i = blockIdx.x * static_cast<long long>(blockDim.x) + threadIdx.x; i < size;
       i += step) {
    distances[i] = none;
  }
}

// Phases of a level: 1. expand hubs; 2. test and pull chunks of vertices; 3. barrier.
KL_KERNEL_BOUNDS(kThreads, kMultiBlocks, bfs_multi_levels, const MultiParams params) {
  __shared__ MultiBlock block;
  if (params.control[kFinished] != 0) return;
  const Incoming in{params.offsets,     params.neighbors, params.hubs,   params.first,
                    params.segment_hub, params.hub_count, params.segment};
  const Lane lane(params.words);
  Rounds levels(params.control, params.barrier);
  bool finished = false;
  for (int i = 0; i < params.most && !finished; ++i) {
    levels.begin();
    const Level level(params, in, lane, block, levels.done() + 1);
    if (params.hub_count != 0) {
      level.expand_hubs();
      levels.grid_barrier();
    }
    if (pull_chunks(level, levels) && threadIdx.x == 0) levels.signal(kFound);
    finished = levels.end() != kFound || level.distance == params.limit;
  }
  levels.finish(finished);
}
