// How far the vertices of a prepared graph are from the roots of its elimination tree, there and
// back, in 64 bits: the proof that lengths in 32 bits suffice (src/kleene/prepared/
// customization.py). A root has no upward neighbors; paths to it are upward pairs alone, so the way
// of a vertex is the best over its upward neighbors, from the roots down.
#include "prepared/prepared.cuh"

const int kReachThreads = 256;

struct Reach {
  long long farthest_to;    // the longest way to a root
  long long farthest_from;  // the longest way from a root
  long long apart;          // vertices that do not have both ways
};

struct ReachParams {
  const PreparedVertex* vertices;  // by piece and level
  const int* levels;               // first vertex of each level; then the number of vertices
  const int* piece_levels;
  const int* piece_parents;
  const int* heads;
  const KL_TYPE* up;
  const KL_TYPE* down;
  long long* ways_to;    // [rank]
  long long* ways_from;  // [rank]
  unsigned* taken;
  unsigned* finished;  // [piece]
  Reach* reach;        // zeros at first
  int pieces;
};

namespace {

constexpr long long kNoWay = 0x3fffffffffffffffll;

__device__ __forceinline__ long long warp_min(long long value) {
#pragma unroll
  for (int step = 16; step > 0; step /= 2) {
    value = min(value, __shfl_xor_sync(kAllLanes, value, step));
  }
  return value;
}

// A way over an upward neighbor.
__device__ __forceinline__ long long way(Value pair, long long beyond) {
  return pair == zero() || beyond == kNoWay ? kNoWay : pair + beyond;
}

// The ways of one vertex, by a warp.
__device__ __forceinline__ void find_ways(const ReachParams& params, const PreparedVertex& v,
                                          Reach& own) {
  long long to = v.pairs == 0 ? 0 : kNoWay, from = to;
  for (long long pair = v.first + kl_lane(); pair < v.first + v.pairs; pair += 32) {
    const int head = params.heads[pair];
    to = min(to, way(params.up[pair], params.ways_to[head]));
    from = min(from, way(params.down[pair], params.ways_from[head]));
  }
  to = warp_min(to);
  from = warp_min(from);
  if (kl_lane() != 0) return;
  params.ways_to[v.rank] = to;
  params.ways_from[v.rank] = from;
  if (to == kNoWay || from == kNoWay) {
    own.apart += 1;
  } else {
    own.farthest_to = max(own.farthest_to, to);
    own.farthest_from = max(own.farthest_from, from);
  }
}

__device__ __forceinline__ void reach_piece(const ReachParams& params, int piece, Reach& own) {
  for (int k = params.piece_levels[piece]; k < params.piece_levels[piece + 1]; ++k) {
    for (int i = params.levels[k] + threadIdx.x / 32; i < params.levels[k + 1];
         i += kReachThreads / 32) {
      find_ways(params, params.vertices[i], own);
    }
    __syncthreads();
  }
}

}  // namespace

KL_KERNEL(prepared_reach, const ReachParams params) {
  __shared__ unsigned shared;
  Reach own{};
  const unsigned pieces = params.pieces;
  for (unsigned piece = take_next(params.taken, &shared); piece < pieces;
       piece = take_next(params.taken, &shared)) {
    const int parent = params.piece_parents[piece];
    if (parent >= 0) wait_for(params.finished + parent, 1);
    reach_piece(params, static_cast<int>(piece), own);
    publish(params.finished + piece);
  }
  if (kl_lane() != 0) return;
  atomicMax(&params.reach->farthest_to, own.farthest_to);
  atomicMax(&params.reach->farthest_from, own.farthest_from);
  using Word = unsigned long long;
  atomicAdd(reinterpret_cast<Word*>(&params.reach->apart), static_cast<Word>(own.apart));
}
