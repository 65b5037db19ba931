// All pairs by min-plus matrix products: repeated squaring, and R-Kleene.
//
// A product has tiles of 64 x 64 cells in shared memory: blocks of 16 x 16 threads with 16 cells
// each (Padamata and Raveendran 2013). One template for matrices by rows and in Morton order, where
// the matrix is split into square tiles and the number of tile (i, j) interleaves the bits of i and
// j (Morton 1966): every quadrant, of every size, is contiguous.
//
//   1. load_cells    the cells of c
//   2. load_panels   kDepth columns of a and rows of b, in shared memory
//   3. relax         the cells through the vertices of the panels; then again 2.
//   4. store_cells   the cells of the result, and their predecessors
#include "common/apsp.cuh"

struct ProductsParams {
  KL_TYPE* to;  // to = min(c, a b); may be c itself, but not a factor
  int* to_predecessors;
  const KL_TYPE* c;
  const int* c_predecessors;
  const KL_TYPE* a;
  const KL_TYPE* b;
  const int* b_predecessors;
  int* improved;     // set to 1 if any cell of `to` is better than in c
  const int* cycle;  // nonzero after a negative cycle was found
  long long to_pitch, c_pitch, a_pitch, b_pitch;  // from one row to the next, by rows
  int side;                                       // of a tile, in Morton order
  int rows, inner, columns;                       // of the product
  int a_diagonal, b_diagonal;  // nonzero: the factor is a diagonal block; its diagonal is
                               // skipped, since c has these paths already
};

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

// The order of each matrix of a product.
template <class Order>
struct Orders {
  Order to, c, a, b;
};

// ---- the product --------------------------------------------------------------------------------

const int kThreads = 16;  // a side of a block of threads
const int kEach = 4;      // cells a side of a thread
const int kTile = kThreads * kEach;
const int kDepth = 16;  // vertices in shared memory at a time

// The cells of a thread, kThreads apart.
struct Cells {
  int row, column;  // of the first
  KL_TYPE best[kEach][kEach];
  int best_k[kEach][kEach];

  template <class Body>
  __device__ __forceinline__ void each(Body body) {
#pragma unroll
    for (int p = 0; p < kEach; ++p) {
#pragma unroll
      for (int q = 0; q < kEach; ++q) {
        body(row + p * kThreads, column + q * kThreads, best[p][q], best_k[p][q]);
      }
    }
  }
};

template <class Order>
__device__ __forceinline__ void load_cells(const ProductsParams& p, const Order& c, Cells& cells) {
  cells.each([&](int i, int j, KL_TYPE& best, int& best_k) {
    best = i < p.rows && j < p.columns ? p.c[c.at(i, j)] : KlLimits<KL_TYPE>::none();
    best_k = -1;
  });
}

// kDepth rows of kTile cells each: the columns of a from k0 on, and the rows of b.
template <class Order>
__device__ __forceinline__ void load_panels(const ProductsParams& p, const Orders<Order>& orders,
                                            int k0, KL_TYPE* left, KL_TYPE* right) {
  const KL_TYPE none = KlLimits<KL_TYPE>::none();
  const int row0 = blockIdx.y * kTile, column0 = blockIdx.x * kTile;
  const int thread = threadIdx.y * kThreads + threadIdx.x;
  for (int cell = thread; cell < kTile * kDepth; cell += kThreads * kThreads) {
    const int i = row0 + cell / kDepth, k = k0 + cell % kDepth;
    const bool used = i < p.rows && k < p.inner && !(p.a_diagonal != 0 && i == k);
    left[cell % kDepth * kTile + cell / kDepth] = used ? p.a[orders.a.at(i, k)] : none;
  }
  for (int cell = thread; cell < kTile * kDepth; cell += kThreads * kThreads) {
    const int k = k0 + cell / kTile, j = column0 + cell % kTile;
    const bool used = k < p.inner && j < p.columns && !(p.b_diagonal != 0 && k == j);
    right[cell] = used ? p.b[orders.b.at(k, j)] : none;
  }
}

__device__ __forceinline__ void relax(Cells& cells, const KL_TYPE* left, const KL_TYPE* right,
                                      int k0) {
  for (int k = 0; k < kDepth; ++k) {
    KL_TYPE u[kEach], v[kEach];
#pragma unroll
    for (int p = 0; p < kEach; ++p) u[p] = left[k * kTile + threadIdx.y + p * kThreads];
#pragma unroll
    for (int q = 0; q < kEach; ++q) v[q] = right[k * kTile + threadIdx.x + q * kThreads];
#pragma unroll
    for (int p = 0; p < kEach; ++p) {
#pragma unroll
      for (int q = 0; q < kEach; ++q) {
        const KL_TYPE through = sum(u[p], v[q]);
        if (through < cells.best[p][q]) {
          cells.best[p][q] = through;
          cells.best_k[p][q] = k0 + k;
        }
      }
    }
  }
}

template <class Order>
__device__ __forceinline__ void store_cells(const ProductsParams& p, const Orders<Order>& orders,
                                            Cells& cells) {
  bool better = false;
  cells.each([&](int i, int j, KL_TYPE& best, int& best_k) {
    if (i >= p.rows || j >= p.columns) return;
    better = better || best_k >= 0;
    if (p.to == p.c && best_k < 0) return;
    p.to[orders.to.at(i, j)] = best;
#if KL_PATHS
    p.to_predecessors[orders.to.at(i, j)] =
        best_k < 0 ? p.c_predecessors[orders.c.at(i, j)] : p.b_predecessors[orders.b.at(best_k, j)];
#endif
  });
  if (better) kl_store(p.improved, 1);
}

template <class Order>
__device__ __forceinline__ void product(const ProductsParams& p, const Orders<Order>& orders) {
  KL_DYNAMIC_SHARED(KL_TYPE, shared);
  if (cycle_found(p.cycle)) return;
  KL_TYPE *const left = shared, *const right = shared + kTile * kDepth;
  Cells cells;
  cells.row = blockIdx.y * kTile + threadIdx.y;
  cells.column = blockIdx.x * kTile + threadIdx.x;
  load_cells(p, orders.c, cells);
  for (int k0 = 0; k0 < p.inner; k0 += kDepth) {
    load_panels(p, orders, k0, left, right);
    __syncthreads();
    relax(cells, left, right, k0);
    __syncthreads();
  }
  store_cells(p, orders, cells);
}

KL_KERNEL_BOUNDS(256, 1, apsp_products_rows, const ProductsParams params) {
  product<RowMajor>(params,
                    {{params.to_pitch}, {params.c_pitch}, {params.a_pitch}, {params.b_pitch}});
}

// Quadrants, which have as many rows as columns.
KL_KERNEL_BOUNDS(256, 1, apsp_products_quadtree, const ProductsParams params) {
  const Quadtree order{params.side};
  product<Quadtree>(params, {order, order, order, order});
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
