// New weights for an eliminated graph: the values of all pairs.
//
// A pair (v, u), u above v, holds the best path from v to u and back whose inner vertices are all
// below v. It starts as the arcs between the two; then every vertex v offers each pair (a, b) of
// its upward neighbors the ways over v: up[a, b] is improved by down[v, a] joined with up[v, b],
// and down[a, b] by down[v, b] joined with up[v, a]. Both are final for v when all its descendants
// have had their turn, so pieces run from the last to the first, and levels from the lowest up.
//
//   prepared_places      a thread per arc of the graph finds its pair; once for all weights
//   prepared_clear       no path anywhere
//   prepared_arcs        a thread per arc: its pair is at least as good
//   prepared_triangles   the offers of all vertices; notes negative cycles
//
// Many vertices improve a pair at the same time, atomically. The order does not matter: the best of
// the same offers wins. Highways have 14.3 M triangles, two operations each.
//
// A cycle is negative if and only if a pair has a negative sum of both directions: the pair of the
// two highest vertices of a cycle where it happens first. Values above it mean nothing.
//
// J. Dibbelt, B. Strasser, D. Wagner, "Customizable Contraction Hierarchies", 2016.
#include "prepared/prepared.cuh"

struct PlaceParams {
  const int* tails;  // of the arcs of the graph
  const int* graph_heads;
  long long arcs;
  const int* ranks;  // by vertex of the graph
  const long long* offsets;
  const int* heads;
  long long* places;  // [arc]: twice the pair, and 1 for the direction down; -1 for none
  int* odd;           // kLoop, kUnknown
};

struct TriangleParams {
  const PreparedVertex* vertices;  // by piece and level
  const int* levels;               // first vertex of each level; then the number of vertices
  const int* piece_levels;
  const int* piece_parents;
  const int* piece_children;  // how many
  const long long* offsets;
  const int* heads;
  KL_TYPE* up;
  KL_TYPE* down;  // the same array for a symmetric graph
  unsigned* taken;
  unsigned* finished;  // [piece]: children
  int* negative;       // set where a cycle is
  int pieces;
};

const int kLoop = 1;     // an arc from a vertex to itself
const int kUnknown = 2;  // an arc between vertices that are not joined: another graph

namespace {

constexpr int kCustomizeWarps = kCustomizeThreads / 32;

// Only shortest paths mind a way around that is better than to stay.
__device__ __forceinline__ void note_cycle(Value around, int* negative) {
  if (kLengths && better(around, one())) kl_store(negative, 1);
}

// The position of `head` among the ascending heads from `low` to `high`; `high` if all are lower.
__device__ __forceinline__ long long find_pair(const int* heads, long long low, long long high,
                                               int head) {
  while (low < high) {
    const long long middle = low + (high - low) / 2;
    if (heads[middle] < head) {
      low = middle + 1;
    } else {
      high = middle;
    }
  }
  return low;
}

// ---- triangles ----------------------------------------------------------------------------------

// The upward neighbors of one vertex, numbered from the lowest.
struct Corner {
  const TriangleParams& params;
  long long first;
  int pairs;

  // Improves the pair of two upward neighbors, i < j. The j - i - 1 neighbors of v between them are
  // neighbors of the lower one too, and so are those above: the search has little left to do.
  __device__ __forceinline__ void offer(int i, int j) const {
    const int lower = params.heads[first + i], upper = params.heads[first + j];
    const long long begin = params.offsets[lower], end = params.offsets[lower + 1];
    const long long pair = find_pair(params.heads, begin + j - i - 1, end - (pairs - j), upper);
    const Value up_i = params.up[first + i], up_j = params.up[first + j];
    const Value down_i = params.down[first + i], down_j = params.down[first + j];
    improve(params.up + pair, join(down_i, up_j));
    if (params.up != params.down) improve(params.down + pair, join(down_j, up_i));
  }
};

// The numbers of a triangle, i < j, from its place among those of a vertex: all with j = 1, 2, ...
__device__ __forceinline__ void corners(long long triangle, int* i, int* j) {
  long long row = static_cast<long long>((1 + sqrt(1 + 8.0 * static_cast<double>(triangle))) / 2);
  while (row * (row - 1) / 2 > triangle) --row;  // rounding
  while (row * (row + 1) / 2 <= triangle) ++row;
  *i = static_cast<int>(triangle - row * (row - 1) / 2);
  *j = static_cast<int>(row);
}

// All triangles of a vertex, by `share` warps of which this is number `part`.
__device__ __forceinline__ void relax_triangles(const TriangleParams& params,
                                                const PreparedVertex& v, int part, int share) {
  const int thread = part * 32 + static_cast<int>(kl_lane());
  const Corner corner{params, v.first, v.pairs};
  for (int i = thread; i < v.pairs; i += share * 32) {
    note_cycle(join(params.up[v.first + i], params.down[v.first + i]), params.negative);
  }
  const long long triangles = static_cast<long long>(v.pairs) * (v.pairs - 1) / 2;
  for (long long at = thread; at < triangles; at += share * 32) {
    int i, j;
    corners(at, &i, &j);
    corner.offer(i, j);
  }
}

__device__ __forceinline__ void relax_piece(const TriangleParams& params, int piece) {
  const int warp = threadIdx.x / 32;
  for (int k = params.piece_levels[piece + 1] - 1; k >= params.piece_levels[piece]; --k) {
    const int begin = params.levels[k], count = params.levels[k + 1] - begin;
    const int share = warps_per_vertex(count, kCustomizeWarps);
    for (int i = warp / share; i < count; i += kCustomizeWarps / share) {
      relax_triangles(params, params.vertices[begin + i], warp % share, share);
    }
    __syncthreads();
  }
}

}  // namespace

// ---- kernels ------------------------------------------------------------------------------------

KL_KERNEL(prepared_places, const PlaceParams params) {
  const long long arc = blockIdx.x * static_cast<long long>(blockDim.x) + threadIdx.x;
  if (arc >= params.arcs) return;
  const int tail = params.ranks[params.tails[arc]], head = params.ranks[params.graph_heads[arc]];
  const int lower = min(tail, head), upper = max(tail, head);
  const long long end = params.offsets[lower + 1];
  const long long pair = find_pair(params.heads, params.offsets[lower], end, upper);
  const bool known = pair < end && params.heads[pair] == upper;
  if (!known) atomicOr(params.odd, lower == upper ? kLoop : kUnknown);
  params.places[arc] = known ? 2 * pair + (tail > head) : -1;
}

KL_KERNEL(prepared_clear, KL_TYPE* up, KL_TYPE* down, long long pairs) {
  const long long pair = blockIdx.x * static_cast<long long>(blockDim.x) + threadIdx.x;
  if (pair >= pairs) return;
  up[pair] = zero();
  if (down != up) down[pair] = zero();
}

// Weights are null where every arc counts one.
KL_KERNEL(prepared_arcs, const long long* places, const KL_TYPE* weights, long long arcs,
          KL_TYPE* up, KL_TYPE* down) {
  const long long arc = blockIdx.x * static_cast<long long>(blockDim.x) + threadIdx.x;
  if (arc >= arcs || places[arc] < 0) return;
  const Value weight = weights == nullptr ? static_cast<Value>(1) : weights[arc];
  improve((places[arc] % 2 == 0 ? up : down) + places[arc] / 2, weight);
}

KL_KERNEL_BOUNDS(kCustomizeThreads, kCustomizeBlocks, prepared_triangles,
                 const TriangleParams params) {
  __shared__ unsigned shared;
  const unsigned pieces = params.pieces;
  for (unsigned item = take_next(params.taken, &shared); item < pieces;
       item = take_next(params.taken, &shared)) {
    const int piece = static_cast<int>(pieces - 1 - item), parent = params.piece_parents[piece];
    wait_for(params.finished + piece, params.piece_children[piece]);
    relax_piece(params, piece);
    if (parent >= 0) publish(params.finished + parent);
  }
}
