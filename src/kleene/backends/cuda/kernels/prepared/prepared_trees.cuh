// Prepared graphs: climbs from sources to the root of the elimination tree, and the sweep down.
#pragma once
#include "prepared/prepared.cuh"

// ---- the climb ----------------------------------------------------------------------------------
// The climb of one source: the best paths to its ancestors in the elimination tree, by upward pairs
// alone. A warp walks from the source to the root; when a vertex has its turn, its value is final,
// and the lanes relax its pairs. The values of a source are stored by depth, so that the row of a
// source is as long as the tree is deep.

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

// ---- the sweep ----------------------------------------------------------------------------------
// The sweep from the root of the elimination tree down: the value of a vertex is the best of its
// climb, if a source is below it, and of all upward neighbors' values joined with the downward
// pairs.
//
// Sources form groups. A row is the values of one vertex from the sources of a group, 16 bytes to
// a lane (bytes: 4): values[group][rank][source]. A block takes a piece of the tree and a group; a
// warp makes the row of a vertex, or several warps share its upward neighbors where a level is
// small.

constexpr int kPerLane = kRowBytes / (sizeof(KL_TYPE) < 4 ? 4 : static_cast<int>(sizeof(KL_TYPE)));
constexpr int kGroup = 32 * kPerLane;  // sources
constexpr int kSweepWarps = kSweepThreads / 32;

struct SweepParams {
  const PreparedVertex* vertices;  // by piece and level
  const int* levels;               // first vertex of each level
  const int* counts;               // vertices of each level that are wanted
  const int* piece_levels;         // first level of each piece; then the number of levels
  const int* piece_parents;        // -1 for pieces at roots
  const int* heads;
  const KL_TYPE* down;      // values of the pairs
  const int* last;          // the vertex before the lower end of each pair; or null
  const int* source_ranks;  // [group][source]
  const KL_TYPE* climbed;   // [group][source][depth]
  const int* climbed_last;  // the same, or null
  KL_TYPE* values;          // [group][rank][source]
  int* predecessors;        // the same, or null
  unsigned* taken;          // work items: pieces times groups
  unsigned* finished;       // [piece][group]
  int pieces;
  int groups;
  int n;
  int tree_levels;  // numbers in a row of `climbed`
};

// ---- rows ---------------------------------------------------------------------------------------

// The part of a row that a lane holds.
struct alignas(kPerLane * sizeof(KL_TYPE)) RowPart {
  Value values[kPerLane];
};

struct LastPart {
  int vertices[kPerLane];
};

// The best values found for one vertex; with predecessors if kPaths.
template <bool kPaths>
struct Best {
  RowPart row;
  int last[kPaths ? kPerLane : 1];

  __device__ __forceinline__ void clear() {
#pragma unroll
    for (int i = 0; i < kPerLane; ++i) {
      row.values[i] = zero();
      if constexpr (kPaths) last[i] = -1;
    }
  }

  __device__ __forceinline__ void take(int i, Value value, int predecessor) {
    if constexpr (kPaths) {
      if (better(value, row.values[i])) last[i] = predecessor;
    }
    row.values[i] = best(row.values[i], value);
  }

  __device__ __forceinline__ void relax(const RowPart& upper, Value down, int predecessor) {
#pragma unroll
    for (int i = 0; i < kPerLane; ++i) take(i, join(upper.values[i], down), predecessor);
  }

  __device__ __forceinline__ void merge(const Best& other) {
#pragma unroll
    for (int i = 0; i < kPerLane; ++i) {
      take(i, other.row.values[i], kPaths ? other.last[i] : -1);
    }
  }
};

// ---- one piece and one group --------------------------------------------------------------------

template <bool kPaths>
struct Sweep {
  const SweepParams& params;
  Best<kPaths> (*parts)[32];  // in shared memory: what each warp found
  int group;
  int sources[kPerLane];  // ranks of this lane's sources
  RowPart* rows;          // of the group, this lane's part
  LastPart* last_rows;

  __device__ __forceinline__ void start(int new_group) {
    group = new_group;
    const long long first = static_cast<long long>(group) * params.n * 32 + kl_lane();
    rows = reinterpret_cast<RowPart*>(params.values) + first;
    last_rows = reinterpret_cast<LastPart*>(params.predecessors) + first;
#pragma unroll
    for (int i = 0; i < kPerLane; ++i) sources[i] = params.source_ranks[lane_source(i)];
  }

  __device__ __forceinline__ int lane_source(int i) const {
    return group * kGroup + static_cast<int>(kl_lane()) * kPerLane + i;
  }

  // 1. What the climbs found: v is an ancestor of the sources in its subtree.
  __device__ __forceinline__ void take_climbs(const PreparedVertex& v, Best<kPaths>& found) {
#pragma unroll
    for (int i = 0; i < kPerLane; ++i) {
      if (static_cast<unsigned>(v.rank - sources[i]) >= static_cast<unsigned>(v.subtree)) continue;
      const long long at = static_cast<long long>(lane_source(i)) * params.tree_levels + v.depth;
      found.take(i, params.climbed[at], kPaths ? params.climbed_last[at] : -1);
    }
  }

  // 2. The values of upward neighbors, of some pairs; kRowsAtOnce rows are loaded together.
  __device__ __forceinline__ void relax_pairs(long long first, long long end, Best<kPaths>& found) {
    for (long long pair = first; pair < end; pair += kRowsAtOnce) {
      const int count = static_cast<int>(min(end - pair, static_cast<long long>(kRowsAtOnce)));
      RowPart row[kRowsAtOnce];
      Value down[kRowsAtOnce];
      int heads[kRowsAtOnce], last[kRowsAtOnce];
#pragma unroll
      for (int k = 0; k < kRowsAtOnce; ++k) {
        const long long at = min(pair + k, end - 1);  // without a branch
        heads[k] = params.heads[at];
        down[k] = params.down[at];
        if constexpr (kPaths) last[k] = params.last[at];
      }
#pragma unroll
      for (int k = 0; k < kRowsAtOnce; ++k) {
        if (k < count) row[k] = rows[static_cast<long long>(heads[k]) * 32];
      }
#pragma unroll
      for (int k = 0; k < kRowsAtOnce; ++k) {
        if (k < count) found.relax(row[k], down[k], kPaths ? last[k] : -1);
      }
    }
  }

  // 3. A source is where it is: a way around that costs nothing may be rounded to less.
  __device__ __forceinline__ void settle_sources(const PreparedVertex& v, Best<kPaths>& found) {
#pragma unroll
    for (int i = 0; i < kPerLane; ++i) {
      if (sources[i] != v.rank) continue;
      found.row.values[i] = one();
      if constexpr (kPaths) found.last[i] = -1;
    }
  }

  __device__ __forceinline__ void write(const PreparedVertex& v, Best<kPaths>& found) {
    settle_sources(v, found);
    const long long at = static_cast<long long>(v.rank) * 32;
    rows[at] = found.row;
    if constexpr (kPaths) {
#pragma unroll
      for (int i = 0; i < kPerLane; ++i) last_rows[at].vertices[i] = found.last[i];
    }
  }

  // A level of at least as many vertices as warps.
  __device__ __forceinline__ void sweep_wide(const PreparedVertex* level, int count) {
    for (int i = threadIdx.x / 32; i < count; i += kSweepWarps) {
      const PreparedVertex v = level[i];
      Best<kPaths> found;
      found.clear();
      take_climbs(v, found);
      relax_pairs(v.first, v.first + v.pairs, found);
      write(v, found);
    }
  }

  // A small level: `share` warps share the pairs of a vertex, and the first of them joins the rest.
  __device__ __forceinline__ void sweep_narrow(const PreparedVertex* level, int count, int share) {
    const int warp = threadIdx.x / 32, i = warp / share, part = warp % share;
    PreparedVertex v{};
    Best<kPaths> found;
    found.clear();
    if (i < count) {
      v = level[i];
      const int each = (v.pairs + share - 1) / share, begin = min(part * each, v.pairs);
      if (part == 0) take_climbs(v, found);
      relax_pairs(v.first + begin, v.first + min(begin + each, v.pairs), found);
    }
    parts[warp][kl_lane()] = found;
    __syncthreads();
    if (i >= count || part != 0) return;
    for (int k = 1; k < share; ++k) found.merge(parts[warp + k][kl_lane()]);
    write(v, found);
  }

  __device__ __forceinline__ void sweep_piece(int piece) {
    for (int k = params.piece_levels[piece]; k < params.piece_levels[piece + 1]; ++k) {
      const PreparedVertex* const level = params.vertices + params.levels[k];
      const int count = params.counts[k];
      const int share = warps_per_vertex(count, kSweepWarps);
      if (share == 1) {
        sweep_wide(level, count);
      } else {
        sweep_narrow(level, count, share);
      }
      __syncthreads();
    }
  }
};
