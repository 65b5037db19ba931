// The tiled closure: elimination by blocks of vertices, in the order of the CPU's tiled closure
// (native/core), where it is shown that predecessors form no cycle.
//
// A round eliminates the vertices P of one or more blocks K of kBlock vertices. With d the matrix
// before the round:
//
//   1. closure_tiled_columns    left = the columns of P, transposed (a vertex is a row), expanded
//   2. for each block K of P, the rows of P are closed over K:
//        closure_tiled_diagonal   closes d[K, K] vertex by vertex
//        closure_tiled_product    closes the rows of K: their product with the closed block
//        closure_tiled_product    relaxes the other rows of P through K
//   3. closure_tiled_product    for all other rows, d[i, j] = best of d[i, j] and left[k, i] times
//                               d[k, j] over k in P
//
// With paths, the rows of K are relaxed through its vertices one by one, as in the diagonal block:
// that kernel keeps the multipliers (column k at the step of k), and closure_tiled_strips applies
// them, a strip of columns per block of threads. A product could break ties differently, and
// predecessors could form a cycle.
//
// Rows and columns are padded with no_path to whole tiles, so no kernel checks bounds.
#include "closure/closure_block.cuh"
#include "closure/closure_product.cuh"

// ---- initialisation and conversion --------------------------------------------------------------

template <class Body>
__device__ __forceinline__ void each_word(long long count, Body body) {
  const long long step = static_cast<long long>(gridDim.x) * blockDim.x;
  for (long long i = blockIdx.x * static_cast<long long>(blockDim.x) + threadIdx.x; i < count;
       i += step) {
    body(i);
  }
}

KL_KERNEL(closure_tiled_clear, Word* words, long long count) {
  each_word(count, [&](long long i) { words[i] = zero(); });
}

#if KL_ALGEBRA == KL_MAX_MIN_INT || KL_ALGEBRA == KL_MAX_MIN_LONG
// Converts the bits of floats to integers in the same order, and back.
KL_KERNEL(closure_tiled_reorder, Word* words, long long count) {
  each_word(count, [&](long long i) {
    if (words[i] < 0) words[i] ^= KlLimits<Word>::none();
  });
}
#endif

#if KL_ALGEBRA == KL_MIN_PLUS_LENGTH && !KL_PATHS
// *found = 1 if an entry of an n x n matrix is negative, -0.0 or NaN: its bits are above those of
// infinity. Reads the matrix once: 0.25 ms at n = 16384 at the 4.3 TB/s of an H200.
KL_KERNEL(closure_tiled_find_negative, const Word* lengths, long long stride, int n, int* found) {
  bool any = false;
  for (long long row = blockIdx.x; row < n; row += gridDim.x) {
#pragma unroll 4
    for (int column = threadIdx.x; column < n; column += blockDim.x) {
      any |= __float_as_uint(lengths[row * stride + column]) > 0x7f800000u;
    }
  }
  if (any) kl_store(found, 1);
}
#endif

// ---- the blocks of a round ----------------------------------------------------------------------

// Blocks of 32 x 8 threads, each for 32 vertices and 32 rows.
KL_KERNEL(closure_tiled_columns, const Word* words, long long stride, int first, Word* left,
          long long left_stride) {
  transpose_columns(words, stride, first, left, left_stride);
}

// One block of threads. The rows of the diagonal block begin at column `first` of `left`.
KL_KERNEL_BOUNDS(kThreads, 1, closure_tiled_diagonal, const Word* left, long long left_stride,
                 int first, Word* out, int* cycle) {
  close_diagonal(left + first, left_stride, out, cycle);
}

#if KL_PATHS
// One strip of the width of a tile per block of threads. `words` are the rows of the vertices from
// `vertex` on.
KL_KERNEL_BOUNDS(kThreads, 1, closure_tiled_strips, Word* words, int* predecessors,
                 long long stride, int vertex, const Word* multipliers, const int* cycle) {
  if (*cycle != 0) return;
  const int column = blockIdx.x * kWords;
  relax_strip(words + column, predecessors + column, stride, vertex - column, multipliers);
}
#endif

// ---- the product --------------------------------------------------------------------------------

// One tile per block of threads. Needs shared memory for two panels.
KL_KERNEL_BOUNDS(kProductThreads, 2, closure_tiled_product, const ProductParams params) {
  KL_DYNAMIC_SHARED(Panel, panels);
  // The next round may be setting *cycle concurrently: the block decides as one.
  if (__syncthreads_or(kl_load(params.cycle))) return;
  const TileData tile = tile_data(params, find_tile(params));
  const OwnWords own = own_words();
  prefetch(tile.words, params.stride);
  Sums sums;
  clear(sums);
  each_panel(PanelCopies(params, tile), params.depth, panels,
             [&](const Panel& panel, int first) { relax_panel(sums, panel, own, first); });
  merge(params, tile, sums, own);
}
