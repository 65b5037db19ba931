// All pairs by min-plus matrix products: repeated squaring, and R-Kleene.
//
// A product has tiles of 64 x 64 cells in shared memory: blocks of 16 x 16 threads with 16 cells
// each (Padamata and Raveendran 2013). One template for matrices by rows and in Morton order, where
// the matrix is split into square tiles and the number of tile (i, j) interleaves the bits of i and
// j (Morton 1966): every quadrant, of every size, is contiguous.
#include "apsp.cuh"
#include "common/kleene.cuh"

// ---- memory order -------------------------------------------------------------------------------

struct RowMajor {
  long long pitch;

  __device__ __forceinline__ long long at(int i, int j) const { return i * pitch + j; }
};

// The bits of x, spread to every other bit.
__device__ __forceinline__ long long spread_bits(int x) {
  unsigned long long bits = static_cast<unsigned>(x);
  bits = (bits | bits << 16) & 0x0000FFFF0000FFFFull;
  bits = (bits | bits << 8) & 0x00FF00FF00FF00FFull;
  bits = (bits | bits << 4) & 0x0F0F0F0F0F0F0F0Full;
  bits = (bits | bits << 2) & 0x3333333333333333ull;
  bits = (bits | bits << 1) & 0x5555555555555555ull;
  return static_cast<long long>(bits);
}

struct Quadtree {
  int side;  // of a tile

  __device__ __forceinline__ long long at(int i, int j) const {
    const long long tile = spread_bits(i / side) << 1 | spread_bits(j / side);
    return (tile * side + i % side) * side + j % side;
  }
};

// ---- the product --------------------------------------------------------------------------------

constexpr int kThreads = 16, kEach = 4, kTile = kThreads * kEach, kDepth = 16;

// to = min(c, a b). `to` may be c itself, but not a factor. The diagonal of a factor that is a
// diagonal block is skipped: c has these paths already. Sets *improved if any cell of `to` is
// better than in c.
template <class Order>
__device__ __forceinline__ void product(KL_TYPE* to, int* to_predecessors, Order to_at,
                                        const KL_TYPE* c, const int* c_predecessors, Order c_at,
                                        const KL_TYPE* a, Order a_at, bool a_diagonal,
                                        const KL_TYPE* b, const int* b_predecessors, Order b_at,
                                        bool b_diagonal, int rows, int inner, int columns,
                                        int* improved, const int* cycle) {
  KL_DYNAMIC_SHARED(KL_TYPE, shared);
  if (cycle_found(cycle)) return;
  const KL_TYPE none = KlLimits<KL_TYPE>::none();
  KL_TYPE* const left = shared;                    // kDepth rows of kTile: a, transposed
  KL_TYPE* const right = shared + kTile * kDepth;  // kDepth rows of kTile
  const int row0 = blockIdx.y * kTile, column0 = blockIdx.x * kTile;
  const int x = threadIdx.x, y = threadIdx.y, thread = y * kThreads + x;
  KL_TYPE best[kEach][kEach];
  int best_k[kEach][kEach];
#pragma unroll
  for (int p = 0; p < kEach; ++p) {
#pragma unroll
    for (int q = 0; q < kEach; ++q) {
      const int i = row0 + y + p * kThreads, j = column0 + x + q * kThreads;
      best[p][q] = i < rows && j < columns ? c[c_at.at(i, j)] : none;
      best_k[p][q] = -1;
    }
  }
  for (int k0 = 0; k0 < inner; k0 += kDepth) {
    for (int at = thread; at < kTile * kDepth; at += kThreads * kThreads) {
      const int i = row0 + at / kDepth, k = k0 + at % kDepth;
      const bool used = i < rows && k < inner && !(a_diagonal && i == k);
      left[at % kDepth * kTile + at / kDepth] = used ? a[a_at.at(i, k)] : none;
    }
    for (int at = thread; at < kTile * kDepth; at += kThreads * kThreads) {
      const int k = k0 + at / kTile, j = column0 + at % kTile;
      const bool used = k < inner && j < columns && !(b_diagonal && k == j);
      right[at] = used ? b[b_at.at(k, j)] : none;
    }
    __syncthreads();
    for (int k = 0; k < kDepth; ++k) {
      KL_TYPE u[kEach], v[kEach];
#pragma unroll
      for (int p = 0; p < kEach; ++p) u[p] = left[k * kTile + y + p * kThreads];
#pragma unroll
      for (int q = 0; q < kEach; ++q) v[q] = right[k * kTile + x + q * kThreads];
#pragma unroll
      for (int p = 0; p < kEach; ++p) {
#pragma unroll
        for (int q = 0; q < kEach; ++q) {
          const KL_TYPE through = sum(u[p], v[q]);
          if (through < best[p][q]) {
            best[p][q] = through;
            best_k[p][q] = k0 + k;
          }
        }
      }
    }
    __syncthreads();
  }
  bool better = false;
#pragma unroll
  for (int p = 0; p < kEach; ++p) {
#pragma unroll
    for (int q = 0; q < kEach; ++q) {
      const int i = row0 + y + p * kThreads, j = column0 + x + q * kThreads;
      if (i >= rows || j >= columns) continue;
      better = better || best_k[p][q] >= 0;
      if (to == c && best_k[p][q] < 0) continue;
      to[to_at.at(i, j)] = best[p][q];
#if KL_PATHS
      to_predecessors[to_at.at(i, j)] = best_k[p][q] < 0 ? c_predecessors[c_at.at(i, j)]
                                                         : b_predecessors[b_at.at(best_k[p][q], j)];
#endif
    }
  }
  if (better) kl_store(improved, 1);
}

KL_KERNEL_BOUNDS(256, 1, apsp_products_rows, KL_TYPE* to, int* to_predecessors, long long to_pitch,
                 const KL_TYPE* c, const int* c_predecessors, long long c_pitch, const KL_TYPE* a,
                 long long a_pitch, int a_diagonal, const KL_TYPE* b, const int* b_predecessors,
                 long long b_pitch, int b_diagonal, int rows, int inner, int columns, int* improved,
                 const int* cycle) {
  product(to, to_predecessors, RowMajor{to_pitch}, c, c_predecessors, RowMajor{c_pitch}, a,
          RowMajor{a_pitch}, a_diagonal != 0, b, b_predecessors, RowMajor{b_pitch}, b_diagonal != 0,
          rows, inner, columns, improved, cycle);
}

// Quadrants, of `size` cells a side.
KL_KERNEL_BOUNDS(256, 1, apsp_products_quadtree, KL_TYPE* to, int* to_predecessors,
                 const KL_TYPE* c, const int* c_predecessors, const KL_TYPE* a, int a_diagonal,
                 const KL_TYPE* b, const int* b_predecessors, int b_diagonal, int side, int size,
                 int* improved, const int* cycle) {
  const Quadtree order{side};
  product(to, to_predecessors, order, c, c_predecessors, order, a, order, a_diagonal != 0, b,
          b_predecessors, order, b_diagonal != 0, size, size, size, improved, cycle);
}

// ---- other steps --------------------------------------------------------------------------------

// A negative cycle makes a diagonal cell negative.
KL_KERNEL(apsp_products_find_cycle, const KL_TYPE* d, long long n, int* cycle) {
  const long long k = blockIdx.x * static_cast<long long>(blockDim.x) + threadIdx.x;
  if (k < n && d[k * n + k] < 0) kl_store(cycle, 1);
}

// Converts from rows to Morton order, or back; padding is no_path.
KL_KERNEL(apsp_products_convert, KL_TYPE* d, int* predecessors, long long n, KL_TYPE* tree,
          int* tree_predecessors, int side, int size, int back) {
  const Quadtree order{side};
  const int i = blockIdx.y * blockDim.y + threadIdx.y, j = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= size || j >= size) return;
  const bool inside = i < n && j < n;
  if (back != 0) {
    if (!inside) return;
    d[i * n + j] = tree[order.at(i, j)];
#if KL_PATHS
    predecessors[i * n + j] = tree_predecessors[order.at(i, j)];
#endif
  } else {
    tree[order.at(i, j)] = inside ? d[i * n + j] : KlLimits<KL_TYPE>::none();
#if KL_PATHS
    tree_predecessors[order.at(i, j)] = inside ? predecessors[i * n + j] : -1;
#endif
  }
}
