// The block of a round: its columns, its diagonal block, and with predecessors its rows.
//
// Vertices are eliminated one by one here. At the step of vertex k, its column and its row are in
// shared memory; the threads that hold those of the next vertex publish them in the other buffer.
#pragma once

#include "closure/closure_tile.cuh"

// ---- columns ------------------------------------------------------------------------------------

const int kTransposed = 32;  // side of the square that a block of 32 x 8 threads transposes

// left = the columns of the vertices from `first` on, transposed and expanded.
__device__ __forceinline__ void transpose_columns(const Word* words, long long stride, int first,
                                                  Word* left, long long left_stride) {
  __shared__ Word square[kTransposed][kTransposed + 1];
  const int row = blockIdx.x * kTransposed, k = blockIdx.y * kTransposed;
  const int column = first + k + threadIdx.x;
  for (int i = threadIdx.y; i < kTransposed; i += blockDim.y) {
    square[i][threadIdx.x] = expand(words[(row + i) * stride + column / kLanes], column % kLanes);
  }
  __syncthreads();
  for (int i = threadIdx.y; i < kTransposed; i += blockDim.y) {
    left[(k + i) * left_stride + row + threadIdx.x] = square[threadIdx.x][i];
  }
}

// ---- the diagonal block -------------------------------------------------------------------------

const int kOwn = 8;  // rows of a thread, and columns of the diagonal block: 16 x 16 threads

struct alignas(16) Cross {
  Word column[kBlock], row[kBlock];  // of the vertex of a step
};

// Words that are read and written in accesses of 16 bytes.
struct alignas(16) Part {
  Word w[kOwn];
};

struct DiagonalEntries {
  Word d[kOwn][kOwn];
  int top, side;  // of the thread's entries

  // Publishes column and row of vertex base + own, where the thread has parts of them.
  __device__ __forceinline__ void publish(Cross& to, int base, int own, int* cycle) const {
    Part part;
    if (top == base) {
#pragma unroll
      for (int j = 0; j < kOwn; ++j) part.w[j] = d[own][j];
      *reinterpret_cast<Part*>(to.row + side) = part;
    }
    if (side != base) return;
#pragma unroll
    for (int i = 0; i < kOwn; ++i) part.w[i] = d[i][own];
    *reinterpret_cast<Part*>(to.column + top) = part;
    if (top != base) return;
    if (better(d[own][own], one())) kl_store(cycle, 1);
    to.column[base + own] = one();
  }

  __device__ __forceinline__ void relax_through(const Cross& vertex) {
    const Part a = *reinterpret_cast<const Part*>(vertex.column + top);
    const Part b = *reinterpret_cast<const Part*>(vertex.row + side);
#pragma unroll
    for (int i = 0; i < kOwn; ++i) {
#pragma unroll
      for (int j = 0; j < kOwn; ++j) relax(d[i][j], a.w[i], b.w[j]);
    }
  }

  __device__ __forceinline__ void load(const Word* left, long long left_stride) {
#pragma unroll
    for (int j = 0; j < kOwn; ++j) {
#pragma unroll
      for (int i = 0; i < kOwn; ++i) d[i][j] = left[(side + j) * left_stride + top + i];
    }
  }

  __device__ __forceinline__ void store_transposed(Word* out) const {
#pragma unroll
    for (int j = 0; j < kOwn; ++j) {
#pragma unroll
      for (int i = 0; i < kOwn; ++i) {
        out[(side + j) * kBlock + top + i] = top + i == side + j ? one() : d[i][j];
      }
    }
  }
};

// Closes the diagonal block, whose columns are rows of `left`. Writes the closed block transposed,
// or with paths the multipliers: column k as it was at the step of vertex k.
__device__ __forceinline__ void close_diagonal(const Word* left, long long left_stride, Word* out,
                                               int* cycle) {
  __shared__ Cross cross[2];
  DiagonalEntries own;
  own.top = threadIdx.x / 16 * kOwn;
  own.side = threadIdx.x % 16 * kOwn;
  own.load(left, left_stride);
  own.publish(cross[0], 0, 0, cycle);
  __syncthreads();
  for (int base = 0; base < kBlock; base += kOwn) {
#pragma unroll
    for (int step = 0; step < kOwn; ++step) {
      const Cross& current = cross[step % 2];
#if KL_PATHS
      if (threadIdx.x < kBlock) {
        out[(base + step) * kBlock + threadIdx.x] = current.column[threadIdx.x];
      }
#endif
      own.relax_through(current);
      if (step < kOwn - 1) {
        own.publish(cross[1 - step % 2], base, step + 1, cycle);
      } else if (base + kOwn < kBlock) {
        own.publish(cross[1 - step % 2], base + kOwn, 0, cycle);
      }
      __syncthreads();
    }
  }
#if !KL_PATHS
  own.store_transposed(out);
#endif
}

#if KL_PATHS
// ---- the rows, with predecessors ----------------------------------------------------------------

// Whether rounding may make a cycle seem better than the empty path.
#if KL_ALGEBRA == KL_MIN_PLUS_FLOAT || KL_ALGEBRA == KL_MIN_PLUS_DOUBLE
constexpr bool kRounds = true;
#else
constexpr bool kRounds = false;
#endif

struct StripRow {
  Word words[kWords];
  int predecessors[kWords];
};

struct StripEntries {
  Word d[kOwn][kWide];
  int p[kOwn][kWide];
  int top, side;  // of the thread's entries

  __device__ __forceinline__ void publish(StripRow& to, int base, int own) const {
    if (top != base) return;
#pragma unroll
    for (int j = 0; j < kWide; ++j) {
      to.words[side + j] = d[own][j];
      to.predecessors[side + j] = p[own][j];
    }
  }

  __device__ __forceinline__ void relax_through(const StripRow& row, const Word* multipliers) {
    Word a[kOwn], b[kWide];
#pragma unroll
    for (int i = 0; i < kOwn; ++i) a[i] = multipliers[top + i];
#pragma unroll
    for (int j = 0; j < kWide; ++j) b[j] = row.words[side + j];
#pragma unroll
    for (int i = 0; i < kOwn; ++i) {
#pragma unroll
      for (int j = 0; j < kWide; ++j) {
        const Word through = times(a[i], b[j]);
        if (better(through, d[i][j])) p[i][j] = row.predecessors[side + j];
        d[i][j] = best(through, d[i][j]);
      }
    }
  }
};

// Relaxes the rows of a block in one strip of columns, by the steps of the diagonal block and with
// its multipliers. `words` and `predecessors` begin at the strip; `vertex` is that of the first
// row, less the first column of the strip.
__device__ __forceinline__ void relax_strip(Word* words, int* predecessors, long long stride,
                                            int vertex, const Word* multipliers) {
  __shared__ StripRow rows[2];
  StripEntries own;
  own.top = threadIdx.x / 16 * kOwn;
  own.side = threadIdx.x % 16 * kWide;
  const long long corner = own.top * stride + own.side;
#pragma unroll
  for (int i = 0; i < kOwn; ++i) {
#pragma unroll
    for (int j = 0; j < kWide; ++j) {
      own.d[i][j] = words[corner + i * stride + j];
      own.p[i][j] = predecessors[corner + i * stride + j];
    }
  }
  own.publish(rows[0], 0, 0);
  __syncthreads();
  for (int base = 0; base < kBlock; base += kOwn) {
#pragma unroll
    for (int step = 0; step < kOwn; ++step) {
      own.relax_through(rows[step % 2], multipliers + (base + step) * kBlock);
      if (step + 1 < kOwn) {
        own.publish(rows[1 - step % 2], base, step + 1);
      } else if (base + kOwn < kBlock) {
        own.publish(rows[1 - step % 2], base + kOwn, 0);
      }
      __syncthreads();
    }
  }
#pragma unroll
  for (int i = 0; i < kOwn; ++i) {
#pragma unroll
    for (int j = 0; j < kWide; ++j) {
      const bool self = kRounds && vertex + own.top + i == own.side + j;
      words[corner + i * stride + j] = self ? one() : own.d[i][j];  // despite rounding
      predecessors[corner + i * stride + j] = self ? -1 : own.p[i][j];
    }
  }
}
#endif  // KL_PATHS
