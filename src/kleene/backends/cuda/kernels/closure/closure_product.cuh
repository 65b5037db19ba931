// The product of the tiled closure: d = best of d and left times right, one tile per block of
// threads. It does almost all of the work, like a GEMM:
//
//   1. find_tile       chooses the tile of the block
//   2. each_panel      brings panels of both factors to shared memory by asynchronous copies,
//                      while the panel before is used
//   3. relax_panel     relaxes the words of a thread, in registers, through two vertices at a time
//   4. merge           writes the words that improved, and their predecessors
//
// Predecessors: a sum keeps the number of the pair of vertices that it was last improved by, 8 bits
// each, and `merge` finds out which of the two it was: the first with the value.
#pragma once

#include "closure/closure_tile.cuh"

struct ProductParams {
  Word* words;        // the matrix
  int* predecessors;  // of its words, with paths
  long long stride;   // from one row of the matrix to the next
  const Word* left;   // a row per vertex: the left factor, transposed and expanded
  long long left_stride;
  const Word* right;              // a row per vertex: the right factor
  const int* right_predecessors;  // of its words, with paths
  long long right_stride;
  const int* cycle;  // nonzero if a negative cycle was found: there is nothing to do
  int depth;         // vertices: a multiple of kDepth, with paths at most kNotedDepth
  int columns;       // of tiles, in the matrix
  // Some whole rows of tiles come first, then a rectangle of tiles with two gaps.
  int whole_row, whole_rows;
  int row_gap, row_gap_size;
  int first_column, width;
  int column_gap, column_gap_size;
};

// ---- 1. the tile of a block ---------------------------------------------------------------------

struct Tile {
  int row, column;
};

__device__ __forceinline__ Tile find_tile(const ProductParams& p) {
  const int index = blockIdx.x, whole = p.whole_rows * p.columns;
  if (index < whole) return {p.whole_row + index / p.columns, index % p.columns};
  const int row = (index - whole) / p.width, column = (index - whole) % p.width;
  return {row < p.row_gap ? row : row + p.row_gap_size,
          p.first_column + (column < p.column_gap ? column : column + p.column_gap_size)};
}

// The parts of the matrix and of the factors that belong to a tile.
struct TileData {
  Word* words;
  int* predecessors;
  const Word *left, *right;
  const int* right_predecessors;
};

__device__ __forceinline__ TileData tile_data(const ProductParams& p, const Tile& tile) {
  const long long row = static_cast<long long>(tile.row) * kRows;
  const long long column = static_cast<long long>(tile.column) * kWords;
  const long long corner = row * p.stride + column;
  return {p.words + corner, KL_PATHS ? p.predecessors + corner : nullptr, p.left + row,
          p.right + column, KL_PATHS ? p.right_predecessors + column : nullptr};
}

// ---- 2. panels in shared memory -----------------------------------------------------------------

// Copies panels; every thread copies 16 bytes of some vertices of each.
class PanelCopies {
 public:
  __device__ __forceinline__ PanelCopies(const ProductParams& p, const TileData& tile)
      : left_step_(kLeftVertices * p.left_stride), right_step_(kRightVertices * p.right_stride) {
    constexpr int across_left = kRows / kVec, across_right = kWords / kVec;
    const int left_vertex = threadIdx.x / across_left, right_vertex = threadIdx.x / across_right;
    left_ = tile.left + left_vertex * p.left_stride + threadIdx.x % across_left * kVec;
    right_ = tile.right + right_vertex * p.right_stride + threadIdx.x % across_right * kVec;
  }

  // Starts the copy of the next panel.
  __device__ __forceinline__ void start(Panel& panel) {
    Word* const to_left = &panel.left[0][0] + threadIdx.x * kVec;
    Word* const to_right = &panel.right[0][0] + threadIdx.x * kVec;
#pragma unroll
    for (int i = 0; i < kDepth / kLeftVertices; ++i, left_ += left_step_) {
      kl_copy_async16(to_left + i * kProductThreads * kVec, left_);
    }
#pragma unroll
    for (int i = 0; i < kDepth / kRightVertices; ++i, right_ += right_step_) {
      kl_copy_async16(to_right + i * kProductThreads * kVec, right_);
    }
    kl_copy_commit();
  }

 private:
  // Vertices that the block copies at a time.
  static constexpr int kLeftVertices = kProductThreads * kVec / kRows;
  static constexpr int kRightVertices = kProductThreads * kVec / kWords;

  const Word *left_, *right_;
  long long left_step_, right_step_;
};

// Calls use(panel, first vertex) for each panel; the next one is copied meanwhile.
template <class Use>
__device__ __forceinline__ void each_panel(PanelCopies copies, int depth, Panel* panels, Use use) {
  copies.start(panels[0]);
#pragma unroll 1
  for (int k = 0, current = 0; k < depth; k += kDepth, current = 1 - current) {
    kl_copy_wait<0>();
    __syncthreads();
    if (k + kDepth < depth) copies.start(panels[1 - current]);
    use(panels[current], k);
  }
}

// ---- 3. sums in registers -----------------------------------------------------------------------

struct Sums {
  Word best[kTall][kWide];
#if KL_PATHS
  unsigned pairs[kTall][kWide / 4];  // of vertices, 8 bits each: the last that improved the word
#endif
};

__device__ __forceinline__ void clear(Sums& sums) {
#pragma unroll
  for (int i = 0; i < kTall; ++i) {
#pragma unroll
    for (int j = 0; j < kWide; ++j) sums.best[i][j] = zero();
#if KL_PATHS
#pragma unroll
    for (int j = 0; j < kWide / 4; ++j) sums.pairs[i][j] = 0;
#endif
  }
}

#if KL_PATHS
// Relaxes a word through a pair of vertices; the pair is noted if it improves the word.
__device__ __forceinline__ void relax_noting(Sums& sums, int i, int j, unsigned pair, Word a0,
                                             Word b0, Word a1, Word b1) {
  const Word through = better_product(a0, b0, a1, b1);
  if (!better(through, sums.best[i][j])) return;
  sums.best[i][j] = through;
  const unsigned insert[4] = {0x3214, 0x3240, 0x3410, 0x4210};
  sums.pairs[i][j / 4] = __byte_perm(sums.pairs[i][j / 4], pair, insert[j % 4]);
}
#endif

// Relaxes all words of the thread through the vertices of a panel, which begin at `first`.
__device__ __forceinline__ void relax_panel(Sums& sums, const Panel& panel, const OwnWords& own,
                                            [[maybe_unused]] int first) {
  const Word* a = &panel.left[0][own.top];
  const Word* b = &panel.right[0][own.side];
  const Word* const end = a + kDepth * kRows;
  [[maybe_unused]] unsigned pair = static_cast<unsigned>(first) / 2;
#pragma unroll kUnroll
  for (; a != end; a += 2 * kRows, b += 2 * kWords, ++pair) {
    Vec a0[kTallVecs], a1[kTallVecs];
#pragma unroll
    for (int v = 0; v < kTallVecs; ++v) {
      a0[v] = *reinterpret_cast<const Vec*>(a + v * 4 * kVec);
      a1[v] = *reinterpret_cast<const Vec*>(a + kRows + v * 4 * kVec);
    }
#pragma unroll
    for (int v = 0; v < kWideVecs; ++v) {
      const Vec b0 = *reinterpret_cast<const Vec*>(b + v * 8 * kVec);
      const Vec b1 = *reinterpret_cast<const Vec*>(b + kWords + v * 8 * kVec);
#pragma unroll
      for (int j = 0; j < kVec; ++j) {
#pragma unroll
        for (int i = 0; i < kTall; ++i) {
          const Word c0 = a0[i / kVec].word[i % kVec], c1 = a1[i / kVec].word[i % kVec];
#if KL_PATHS
          relax_noting(sums, i, v * kVec + j, pair, c0, b0.word[j], c1, b1.word[j]);
#else
          relax(sums.best[i][v * kVec + j], c0, b0.word[j], c1, b1.word[j]);
#endif
        }
      }
    }
  }
}

// ---- 4. the matrix ------------------------------------------------------------------------------

// Prefetches the tile, which is read last, to the L2 cache.
__device__ __forceinline__ void prefetch(const Word* words, long long stride) {
  constexpr int kLines = kTileBytes / 128;
#pragma unroll
  for (int i = 0; i < kRows * kLines / kProductThreads; ++i) {
    const int line = i * kProductThreads + threadIdx.x, row = line / kLines;
    kl_prefetch(reinterpret_cast<const char*>(words + row * stride) + line % kLines * 128);
  }
}

#if KL_PATHS
// The predecessor of word (row, column) of a tile: that of the first vertex of the pair if it has
// the value, else of the second.
__device__ __forceinline__ int find_predecessor(const ProductParams& p, const TileData& tile,
                                                int row, int column, unsigned pair, Word value) {
  const long long k = 2 * pair;
  const Word* const right = tile.right + k * p.right_stride + column;
  const bool second = times(tile.left[k * p.left_stride + row], *right) != value;
  return tile.right_predecessors[(k + second) * p.right_stride + column];
}
#endif

// Writes the words that improved, and their predecessors.
__device__ __forceinline__ void merge(const ProductParams& p, const TileData& tile,
                                      const Sums& sums, const OwnWords& own) {
#pragma unroll
  for (int i = 0; i < kTall; ++i) {
#pragma unroll
    for (int v = 0; v < kWideVecs; ++v) {
      const int row = own.row(i), column = own.column(v * kVec);
      Vec* const words = reinterpret_cast<Vec*>(tile.words + row * p.stride + column);
      Vec held = *words;
      unsigned improved = 0;  // one bit per word
#pragma unroll
      for (int j = 0; j < kVec; ++j) {
        const Word sum = sums.best[i][v * kVec + j];
        improved |= static_cast<unsigned>(better(sum, held.word[j])) << j;
        held.word[j] = best(sum, held.word[j]);
      }
      if (improved != 0) *words = held;
#if KL_PATHS
#pragma unroll
      for (int j = 0; j < kVec; ++j) {
        if ((improved >> j & 1) == 0) continue;
        const int own_column = v * kVec + j;
        const unsigned pair = sums.pairs[i][own_column / 4] >> own_column % 4 * 8 & 0xff;
        tile.predecessors[row * p.stride + column + j] =
            find_predecessor(p, tile, row, column + j, pair, held.word[j]);
      }
#endif
    }
  }
}
