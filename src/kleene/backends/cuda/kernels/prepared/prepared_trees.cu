// Shortest-path trees and matrices of a prepared graph, for batches of sources.
//
//   prepared_mark, prepared_select    for a matrix: the ancestors of its targets, level by level
//   prepared_climb                    from each source to its ancestors
//   prepared_sweep                    from the roots to all wanted vertices
//   prepared_sweep_paths              the same, with predecessors
//   prepared_write, ...               rows of the answer, by vertex of the graph
//
// The predecessor of a vertex is the vertex before it on the path of the pair that gave its value.
//
// Bytes, on highways (560,282 vertices, 2.4 M pairs) with 1024 sources of 4 bytes: the sweep writes
// 2.3 GB of rows and reads 9.8 GB of those of upward neighbors, mostly from the caches, since the
// vertices of a piece have their upward neighbors in common. Rows of 8-byte answers are 4.6 GB.
//
// D. Delling, A. Goldberg, A. Nowatzyk, R. Werneck, "PHAST: Hardware-accelerated shortest path
// trees", 2013; J. Dibbelt, B. Strasser, D. Wagner, "Customizable Contraction Hierarchies", 2016.
#include "prepared/prepared_trees.cuh"

// ---- which vertices a matrix needs --------------------------------------------------------------

// A thread per target: marks it and its ancestors, up to one that is marked.
KL_KERNEL(prepared_mark, const int* targets, int count, const int* ranks, const int* parents,
          unsigned* marks) {
  const int target = blockIdx.x * blockDim.x + threadIdx.x;
  if (target >= count) return;
  for (int v = ranks[targets[target]]; v >= 0; v = parents[v]) {
    if (atomicExch(marks + v, 1u) != 0) return;
  }
}

// A warp per level of a piece: its marked vertices move to the front, in the same order.
KL_KERNEL(prepared_select, const PreparedVertex* vertices, const int* levels, int level_count,
          const unsigned* marks, PreparedVertex* selected, int* counts) {
  const int level = static_cast<int>(kl_global_warp());
  if (level >= level_count) return;
  int found = levels[level];
  for (int i = found; i < levels[level + 1]; i += 32) {
    const int at = i + static_cast<int>(kl_lane());
    const bool marked = at < levels[level + 1] && marks[vertices[at].rank] != 0;
    const unsigned lanes = __ballot_sync(kAllLanes, marked);
    if (marked) selected[found + kl_rank(lanes)] = vertices[at];
    found += __popc(lanes);
  }
  if (kl_lane() == 0) counts[level] = found - levels[level];
}

// ---- climb and sweep ----------------------------------------------------------------------------

// A warp per lane of the groups; those without a source say so.
KL_KERNEL(prepared_climb, const ClimbParams params) {
  const int lane = static_cast<int>(kl_global_warp());
  if (lane >= params.lanes) return;
  const int source = lane < params.count ? params.ranks[params.sources[lane]] : -1;
  if (kl_lane() == 0) params.source_ranks[lane] = source;
  if (source >= 0) climb(params, lane, source);
}

namespace {

template <bool kPaths>
__device__ __forceinline__ void sweep_pieces(const SweepParams& params, Best<kPaths> (*parts)[32],
                                             unsigned* shared) {
  Sweep<kPaths> sweep{params, parts};
  const unsigned groups = params.groups, items = params.pieces * groups;
  for (unsigned item = take_next(params.taken, shared); item < items;
       item = take_next(params.taken, shared)) {
    const int piece = static_cast<int>(item / groups), group = static_cast<int>(item % groups);
    const long long parent = params.piece_parents[piece];
    if (parent >= 0) wait_for(params.finished + parent * groups + group, 1);
    sweep.start(group);
    sweep.sweep_piece(piece);
    publish(params.finished + item);
  }
}

}  // namespace

KL_KERNEL_BOUNDS(kSweepThreads, kSweepBlocks, prepared_sweep, const SweepParams params) {
  __shared__ Best<false> parts[kSweepWarps][32];
  __shared__ unsigned shared;
  sweep_pieces<false>(params, parts, &shared);
}

KL_KERNEL_BOUNDS(kSweepThreads, kSweepBlocks, prepared_sweep_paths, const SweepParams params) {
  __shared__ Best<true> parts[kSweepWarps][32];
  __shared__ unsigned shared;
  sweep_pieces<true>(params, parts, &shared);
}

// ---- rows of the answer -------------------------------------------------------------------------

// Transposes rows of vertices into rows of sources, 32 x 32 numbers at a time: out[source][column]
// is the value of the vertex ranks[columns[column]], or ranks[column] where columns is null. Tiles
// that read different parts of the same rows follow one another.
namespace {

struct Columns {
  const int* ranks;
  const int* columns;
  int count;

  __device__ __forceinline__ int rank(int column) const {
    return ranks[columns == nullptr ? column : columns[column]];
  }
};

template <class In, class Out, class Convert>
__device__ __forceinline__ void write_rows(const In* in, int n, Columns columns, int sources,
                                           Out* out, Out (*tile)[33], Convert convert) {
  constexpr int kWarps = kRowThreads / 32, kParts = kGroup / 32;
  const int lane = kl_lane(), warp = threadIdx.x / 32;
  const long long chunks = (columns.count + 31) / 32, groups = (sources + kGroup - 1) / kGroup;
  for (long long at = blockIdx.x; at < groups * chunks * kParts; at += gridDim.x) {
    const int group = static_cast<int>(at / (chunks * kParts));
    const int source = group * kGroup + static_cast<int>(at % kParts) * 32;
    const int column = static_cast<int>(at / kParts % chunks) * 32;
    if (source >= sources) continue;
    const In* const rows = in + static_cast<long long>(group) * n * kGroup;
    for (int i = warp; i < 32 && column + i < columns.count; i += kWarps) {
      const long long row = static_cast<long long>(columns.rank(column + i)) * kGroup;
      tile[i][lane] = convert(rows[row + source % kGroup + lane]);
    }
    __syncthreads();
    for (int i = warp; i < 32 && source + i < sources && column + lane < columns.count;
         i += kWarps) {
      out[static_cast<long long>(source + i) * columns.count + column + lane] = tile[lane][i];
    }
    __syncthreads();
  }
}

}  // namespace

KL_KERNEL(prepared_write, const KL_TYPE* values, int n, const int* ranks, const int* columns,
          int count, int sources, KL_TYPE* out) {
  __shared__ KL_TYPE tile[32][33];
  write_rows(values, n, Columns{ranks, columns, count}, sources, out, tile, answer<KL_TYPE>);
}

// Lengths of integers are computed in the type that they need, which may not be the answers' type.
KL_KERNEL(prepared_write_int, const KL_TYPE* values, int n, const int* ranks, const int* columns,
          int count, int sources, int* out) {
  __shared__ int tile[32][33];
  write_rows(values, n, Columns{ranks, columns, count}, sources, out, tile, answer<int>);
}

KL_KERNEL(prepared_write_long, const KL_TYPE* values, int n, const int* ranks, const int* columns,
          int count, int sources, long long* out) {
  __shared__ long long tile[32][33];
  write_rows(values, n, Columns{ranks, columns, count}, sources, out, tile, answer<long long>);
}

KL_KERNEL(prepared_write_predecessors, const int* predecessors, int n, const int* ranks,
          const int* columns, int count, int sources, int* out) {
  __shared__ int tile[32][33];
  write_rows(predecessors, n, Columns{ranks, columns, count}, sources, out, tile,
             [](int vertex) { return vertex; });
}
