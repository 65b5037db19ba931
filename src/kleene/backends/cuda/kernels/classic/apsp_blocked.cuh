// Blocked Floyd-Warshall (Venkataraman, Sahni and Mukhopadhyaya 2003): the matrix is split into
// blocks of side x side cells, smaller at the edge, and round t allows paths through the vertices
// of block t in three phases:
//
//   1. diagonal   the block (t, t)
//   2. cross      the blocks in its row and column
//   3. rest       all others
//
// Here are the parameters of all versions, and the phases for one block in shared memory; kernels
// choose the blocks.
//
// A cell d[k, k] is never part of a path: the step of vertex k skips row and column k of the
// diagonal block. So no cell is both read and written in a step, rounding or not.
#pragma once
#include "common/apsp.cuh"

struct BlockedParams {
  KL_TYPE* d;         // n x n lengths
  int* predecessors;  // n x n, with paths
  long long n;
  int* cycle;        // nonzero after a negative cycle was found
  int side;          // of a block
  int column_major;  // nonzero: adjacent threads have adjacent rows, not columns
  int pitch;         // from one row to the next of the diagonal block in shared memory
  int down, across;  // strides of the left factor there: (side, 1) by rows, (1, side) transposed
};

// The index-th block other than t.
__device__ __forceinline__ int other_than(int t, int index) {
  return index < t ? index : index + 1;
}

// ---- cells of a block ---------------------------------------------------------------------------

// Calls body(row, column) for the thread's cells of a block. Adjacent threads have adjacent
// columns, or adjacent rows if column_major.
template <class Body>
__device__ __forceinline__ void each_cell(int rows, int columns, bool column_major, Body body) {
  const int x = threadIdx.x, y = threadIdx.y, width = blockDim.x, height = blockDim.y;
  if (column_major) {
    for (int column = y; column < columns; column += height) {
      for (int row = x; row < rows; row += width) body(row, column);
    }
  } else {
    for (int row = y; row < rows; row += height) {
      for (int column = x; column < columns; column += width) body(row, column);
    }
  }
}

// A block in shared memory: cell (row, column) is at row * down + column * across.
struct Tile {
  KL_TYPE* cells;
  int down, across;

  __device__ __forceinline__ KL_TYPE& at(int row, int column) const {
    return cells[row * down + column * across];
  }
};

// The matrix, by blocks.
struct Blocks {
  const BlockedParams& p;

  __device__ __forceinline__ int count(int block) const {
    const long long left = p.n - static_cast<long long>(block) * p.side;
    return left < p.side ? static_cast<int>(left) : p.side;
  }

  __device__ __forceinline__ long long at(int bi, int bj, int row, int column) const {
    return (static_cast<long long>(bi) * p.side + row) * p.n + static_cast<long long>(bj) * p.side +
           column;
  }

  __device__ __forceinline__ void load(const Tile& to, int bi, int bj) const {
    each_cell(count(bi), count(bj), false,
              [&](int row, int column) { to.at(row, column) = p.d[at(bi, bj, row, column)]; });
  }

  __device__ __forceinline__ void store(const Tile& from, int bi, int bj) const {
    each_cell(count(bi), count(bj), false,
              [&](int row, int column) { p.d[at(bi, bj, row, column)] = from.at(row, column); });
  }

  // The path of a cell goes through vertex k of block t from now on.
  __device__ __forceinline__ void set_predecessor(long long cell, int t, int bj, int k,
                                                  int column) const {
#if KL_PATHS
    p.predecessors[cell] = p.predecessors[at(t, bj, k, column)];
#endif
  }

  // One step of block (bi, bj) through vertex k of block t, in shared memory. Predecessors stay in
  // global memory; they are rarely written.
  __device__ __forceinline__ void step(const Tile& own, const Tile& left, const Tile& right, int t,
                                       int bi, int bj, int k) const {
    each_cell(count(bi), count(bj), p.column_major != 0, [&](int row, int column) {
      if ((bi == t && row == k) || (bj == t && column == k)) return;
      const KL_TYPE through = sum(left.at(row, k), right.at(k, column));
      if (through < own.at(row, column)) {
        own.at(row, column) = through;
        set_predecessor(at(bi, bj, row, column), t, bj, k, column);
      }
    });
  }
};

// ---- the phases ---------------------------------------------------------------------------------

// Phase 1: the diagonal block. A negative cycle is found before the step of its last vertex.
__device__ __forceinline__ void close_diagonal(const BlockedParams& p, KL_TYPE* shared, int t) {
  if (cycle_found(p.cycle)) return;
  const Blocks blocks{p};
  const Tile own{shared, p.pitch, 1};
  blocks.load(own, t, t);
  for (int k = 0; k < blocks.count(t); ++k) {
    __syncthreads();
    if (own.at(k, k) < 0) {
      if (first_thread()) kl_store(p.cycle, 1);
      return;
    }
    blocks.step(own, own, own, t, t, t, k);
  }
  __syncthreads();
  blocks.store(own, t, t);
}

// Phase 2: a block in the row or column of the diagonal block; one of bi and bj is t.
__device__ __forceinline__ void relax_cross(const BlockedParams& p, KL_TYPE* shared, int t, int bi,
                                            int bj) {
  if (cycle_found(p.cycle)) return;
  const Blocks blocks{p};
  const Tile left{shared, p.down, p.across}, right{shared + p.side * p.side, p.side, 1};
  blocks.load(left, bi, t);
  blocks.load(right, t, bj);
  const Tile own = bi == t ? right : left;
  for (int k = 0; k < blocks.count(t); ++k) {
    __syncthreads();
    blocks.step(own, left, right, t, bi, bj, k);
  }
  __syncthreads();
  blocks.store(own, bi, bj);
}

// Phase 3: any other block. Its cells stay in registers; the two factors do not change.
__device__ __forceinline__ void relax_rest(const BlockedParams& p, KL_TYPE* shared, int t, int bi,
                                           int bj) {
  if (cycle_found(p.cycle)) return;
  const Blocks blocks{p};
  const Tile left{shared, p.down, p.across}, right{shared + p.side * p.side, p.side, 1};
  blocks.load(left, bi, t);
  blocks.load(right, t, bj);
  __syncthreads();
  const int inner = blocks.count(t);
  each_cell(blocks.count(bi), blocks.count(bj), p.column_major != 0, [&](int row, int column) {
    const long long own = blocks.at(bi, bj, row, column);
    KL_TYPE best = p.d[own];
    int best_k = -1;
    for (int k = 0; k < inner; ++k) {
      const KL_TYPE through = sum(left.at(row, k), right.at(k, column));
      if (through < best) {
        best = through;
        best_k = k;
      }
    }
    if (best_k < 0) return;
    p.d[own] = best;
    blocks.set_predecessor(own, t, bj, best_k, column);
  });
}
