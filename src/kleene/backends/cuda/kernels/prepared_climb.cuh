// The climb of one source: the best paths to its ancestors in the elimination tree, by upward pairs
// alone. A warp walks from the source to the root; when a vertex has its turn, its value is final,
// and the lanes relax its pairs. The values of a source are stored by depth, so that the row of a
// source is as long as the tree is deep.
#pragma once
#include "prepared.cuh"

struct ClimbParams {
  const long long* offsets;  // pairs by rank
  const int* heads;          // upward neighbors
  const int* depths;         // by rank
  const KL_TYPE* up;         // values of the pairs
  const int* last;           // the vertex before the head, on the path of each pair; or null
  const int* ranks;          // by vertex of the graph
  const int* sources;        // vertices of the graph
  int count;                 // of sources
  int lanes;                 // count, rounded up to whole groups
  int levels;                // of the elimination tree: numbers in a row
  int* source_ranks;         // [lane]; -1 for lanes without a source
  KL_TYPE* climbed;          // [lane][depth]
  int* climbed_last;         // [lane][depth]: predecessors, or null
};

// The row of one source.
struct ClimbRow {
  KL_TYPE* values;
  int* last;  // or null

  __device__ __forceinline__ void set(int depth, Value value, int predecessor) {
    values[depth] = value;
    if (last != nullptr) last[depth] = predecessor;
  }
};

// 1. No path to any ancestor, and the empty path to the source.
__device__ __forceinline__ void start_climb(ClimbRow row, int depth) {
  for (int i = kl_lane(); i <= depth; i += 32) row.set(i, i == depth ? one() : zero(), -1);
  __syncwarp();
}

// 2. All upward pairs of a vertex; their heads differ, so that lanes write to different numbers.
__device__ __forceinline__ void relax_upward(const ClimbParams& params, ClimbRow row, int depth,
                                             long long first, long long end) {
  const Value value = row.values[depth];
  for (long long pair = first + kl_lane(); pair < end; pair += 32) {
    const int above = params.depths[params.heads[pair]];
    const Value longer = join(value, params.up[pair]);
    if (better(longer, row.values[above])) {
      row.set(above, longer, params.last == nullptr ? -1 : params.last[pair]);
    }
  }
  __syncwarp();
}

__device__ __forceinline__ void climb(const ClimbParams& params, int lane, int source) {
  const long long begin = static_cast<long long>(lane) * params.levels;
  const ClimbRow row{params.climbed + begin,
                     params.climbed_last == nullptr ? nullptr : params.climbed_last + begin};
  int depth = params.depths[source];
  start_climb(row, depth);
  long long first = params.offsets[source], end = params.offsets[source + 1];
  for (; depth > 0; --depth) {
    const int parent = params.heads[first];  // the lowest upward neighbor
    const long long next = params.offsets[parent], next_end = params.offsets[parent + 1];
    relax_upward(params, row, depth, first, end);  // while those are loaded
    first = next;
    end = next_end;
  }
}
