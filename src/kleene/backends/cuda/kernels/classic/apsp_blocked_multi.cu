// Phase 3 of blocked Floyd-Warshall with several elements per thread, as Padamata and Raveendran
// (2013) measured it: each thread keeps a small rectangle of cells in registers and reads each
// value of shared memory once for a whole row or column of it. Phases 1 and 2 are those of
// apsp_blocked_shared.cu, launched with as many threads. There is a kernel per size of the
// rectangle.
#include "classic/apsp_blocked.cuh"

// One rectangle. Its cells are blockDim apart, so that adjacent threads have adjacent columns;
// cells past the edge of the block read its last row or column and are dropped.
template <int across, int down>
__device__ __forceinline__ void rectangle(const Blocks& m, const Tile& left, const Tile& right,
                                          int t, int bi, int bj, int first_row, int first_column) {
  const int inner = m.count(t), rows = m.count(bi), columns = m.count(bj);
  int row[down], column[across];
#pragma unroll
  for (int y = 0; y < down; ++y) row[y] = first_row + y * static_cast<int>(blockDim.y);
#pragma unroll
  for (int x = 0; x < across; ++x) column[x] = first_column + x * static_cast<int>(blockDim.x);
  KL_TYPE best[down][across];
  int best_k[down][across];
#pragma unroll
  for (int y = 0; y < down; ++y) {
#pragma unroll
    for (int x = 0; x < across; ++x) {
      const bool own = row[y] < rows && column[x] < columns;
      best[y][x] = own ? m.p.d[m.at(bi, bj, row[y], column[x])] : KlLimits<KL_TYPE>::none();
      best_k[y][x] = -1;
    }
  }
  for (int k = 0; k < inner; ++k) {
    KL_TYPE a[down], b[across];
#pragma unroll
    for (int y = 0; y < down; ++y) a[y] = left.at(min(row[y], rows - 1), k);
#pragma unroll
    for (int x = 0; x < across; ++x) b[x] = right.at(k, min(column[x], columns - 1));
#pragma unroll
    for (int y = 0; y < down; ++y) {
#pragma unroll
      for (int x = 0; x < across; ++x) {
        const KL_TYPE through = sum(a[y], b[x]);
        if (through < best[y][x]) {
          best[y][x] = through;
          best_k[y][x] = k;
        }
      }
    }
  }
#pragma unroll
  for (int y = 0; y < down; ++y) {
#pragma unroll
    for (int x = 0; x < across; ++x) {
      if (row[y] >= rows || column[x] >= columns || best_k[y][x] < 0) continue;
      const long long at = m.at(bi, bj, row[y], column[x]);
      m.p.d[at] = best[y][x];
      m.set_predecessor(at, t, bj, best_k[y][x], column[x]);
    }
  }
}

template <int across, int down>
__device__ __forceinline__ void relax_rectangles(const BlockedParams& p, KL_TYPE* shared, int t,
                                                 int bi, int bj) {
  if (cycle_found(p.cycle)) return;
  const Blocks blocks{p};
  const Tile left{shared, p.side, 1}, right{shared + p.side * p.side, p.side, 1};
  blocks.load(left, bi, t);
  blocks.load(right, t, bj);
  __syncthreads();
  const int height = blockDim.y, width = blockDim.x;
  for (int row = threadIdx.y; row < blocks.count(bi); row += down * height) {
    for (int column = threadIdx.x; column < blocks.count(bj); column += across * width) {
      rectangle<across, down>(blocks, left, right, t, bi, bj, row, column);
    }
  }
}

// (r - 1) x (r - 1) blocks, with few enough threads to keep the rectangles in registers.
#define KL_MULTI(across, down)                                                                \
  KL_KERNEL_BOUNDS((across * down < 4 ? 1024 : 4096 / (across * down)), 1,                    \
                   apsp_blocked_multi_##across##x##down, const BlockedParams params, int t) { \
    KL_DYNAMIC_SHARED(KL_TYPE, shared);                                                       \
    relax_rectangles<across, down>(params, shared, t, other_than(t, blockIdx.y),              \
                                   other_than(t, blockIdx.x));                                \
  }
#define KL_MULTI_ROW(across) \
  KL_MULTI(across, 1) KL_MULTI(across, 2) KL_MULTI(across, 4) KL_MULTI(across, 8)
KL_MULTI_ROW(1)
KL_MULTI_ROW(2)
KL_MULTI_ROW(4)
KL_MULTI_ROW(8)
