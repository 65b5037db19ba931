// Blocked Floyd-Warshall in shared memory (Venkataraman, Sahni and Mukhopadhyaya 2003): the matrix
// is split into blocks of side x side cells, smaller at the edge, and round t allows paths through
// the vertices of block t in three phases: the diagonal block (t, t), the blocks in its row and
// column, the rest. Here are the phases for one block; kernels choose the blocks.
//
// A cell d[k, k] is never part of a path: the step of vertex k skips row and column k of the
// diagonal block. So no cell is both read and written in a step, rounding or not.
#pragma once
#include "apsp.cuh"

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

struct Blocks {
  KL_TYPE* d;
  int* predecessors;
  long long n;
  int side;
  bool column_major;

  __device__ __forceinline__ int count(int block) const {
    const long long left = n - static_cast<long long>(block) * side;
    return left < side ? static_cast<int>(left) : side;
  }

  __device__ __forceinline__ long long at(int bi, int bj, int row, int column) const {
    return (static_cast<long long>(bi) * side + row) * n + static_cast<long long>(bj) * side +
           column;
  }

  __device__ __forceinline__ void load(const Tile& to, int bi, int bj) const {
    each_cell(count(bi), count(bj), false,
              [&](int row, int column) { to.at(row, column) = d[at(bi, bj, row, column)]; });
  }

  __device__ __forceinline__ void store(const Tile& from, int bi, int bj) const {
    each_cell(count(bi), count(bj), false,
              [&](int row, int column) { d[at(bi, bj, row, column)] = from.at(row, column); });
  }

  // One step of block (bi, bj) through vertex k of block t, in shared memory. Predecessors stay in
  // global memory; they are rarely written.
  __device__ __forceinline__ void step(const Tile& own, const Tile& left, const Tile& right, int t,
                                       int bi, int bj, int k) const {
    each_cell(count(bi), count(bj), column_major, [&](int row, int column) {
      if ((bi == t && row == k) || (bj == t && column == k)) return;
      const KL_TYPE through = sum(left.at(row, k), right.at(k, column));
      if (through < own.at(row, column)) {
        own.at(row, column) = through;
#if KL_PATHS
        predecessors[at(bi, bj, row, column)] = predecessors[at(t, bj, k, column)];
#endif
      }
    });
  }

  // Phase 1: the diagonal block, in shared memory with rows of `pitch` cells. A negative cycle is
  // found before the step of its last vertex.
  __device__ __forceinline__ void diagonal(KL_TYPE* shared, int pitch, int t, int* cycle) const {
    if (cycle_found(cycle)) return;
    const Tile own{shared, pitch, 1};
    load(own, t, t);
    for (int k = 0; k < count(t); ++k) {
      __syncthreads();
      if (own.at(k, k) < 0) {
        if (first_thread()) kl_store(cycle, 1);
        return;
      }
      step(own, own, own, t, t, t, k);
    }
    __syncthreads();
    store(own, t, t);
  }

  // Phase 2: a block in the row or column of the diagonal block; one of bi and bj is t. The left
  // factor is read by columns; `down` and `across` are its strides.
  __device__ __forceinline__ void cross(KL_TYPE* shared, int down, int across, int t, int bi,
                                        int bj, const int* cycle) const {
    if (cycle_found(cycle)) return;
    const Tile left{shared, down, across}, right{shared + side * side, side, 1};
    load(left, bi, t);
    load(right, t, bj);
    const Tile own = bi == t ? right : left;
    for (int k = 0; k < count(t); ++k) {
      __syncthreads();
      step(own, left, right, t, bi, bj, k);
    }
    __syncthreads();
    store(own, bi, bj);
  }

  // Phase 3: any other block. Its cells stay in registers; the two factors do not change.
  __device__ __forceinline__ void rest(KL_TYPE* shared, int down, int across, int t, int bi, int bj,
                                       const int* cycle) const {
    if (cycle_found(cycle)) return;
    const Tile left{shared, down, across}, right{shared + side * side, side, 1};
    load(left, bi, t);
    load(right, t, bj);
    __syncthreads();
    const int inner = count(t);
    each_cell(count(bi), count(bj), column_major, [&](int row, int column) {
      const long long own = at(bi, bj, row, column);
      KL_TYPE best = d[own];
      int best_k = -1;
      for (int k = 0; k < inner; ++k) {
        const KL_TYPE through = sum(left.at(row, k), right.at(k, column));
        if (through < best) {
          best = through;
          best_k = k;
        }
      }
      if (best_k >= 0) {
        d[own] = best;
#if KL_PATHS
        predecessors[own] = predecessors[at(t, bj, best_k, column)];
#endif
      }
    });
  }
};
