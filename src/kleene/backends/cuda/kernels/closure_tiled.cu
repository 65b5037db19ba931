// The tiled closure: elimination by blocks of vertices, in the order of the CPU's tiled closure
// (native/core), where it is shown that predecessors form no cycle.
//
// For each block K of kBlock vertices, with d the matrix before the round:
//
//   closure_tiled_columns    left = the columns of K, transposed (a vertex of K is a row), expanded
//   closure_tiled_diagonal   closes d[K, K] vertex by vertex
//   closure_tiled_product    closes the rows of K: their product with the closed diagonal block
//   closure_tiled_product    for all other rows, d[i, j] = best of d[i, j] and left[k, i] times
//                            d[k, j] over k in K
//
// With paths, the rows of K are relaxed through its vertices one by one, as in the diagonal block:
// that kernel keeps the multipliers (column k at the step of k), and closure_tiled_strips applies
// them, a strip of columns per block. A product could break ties differently, and predecessors
// could form a cycle.
//
// The product does almost all of the work, like a GEMM: asynchronous copies bring panels to shared
// memory while the previous panel is used; each thread keeps 8 x 8 words in registers and relaxes
// through two vertices at a time. `part` selects tiles, so that those the next round starts with
// (its rows and columns) come first, and the first three kernels of that round overlap with the
// rest.
//
// Rows and columns are padded with no_path to whole tiles, so no kernel checks bounds.
#include "closure_semiring.cuh"

constexpr int kBlock = 128;
constexpr int kThreads = 256;
constexpr int kVec = 16 / sizeof(Word);                  // words per 16-byte access
constexpr int kRows = 128, kWords = 512 / sizeof(Word);  // of a tile
constexpr int kTall = 8, kWide = kWords / 16;            // words per thread
constexpr int kTallVecs = kTall / kVec, kWideVecs = kWide / kVec;

// Vertices in shared memory at a time, and the unrolling over pairs of them: the best of 16, 32 and
// of 1, 2, 4, 8 on an H200.
constexpr int kDepth = sizeof(Word) == 8 ? 16 : 32;
#if KL_ALGEBRA == KL_MIN_PLUS_FLOAT || KL_ALGEBRA == KL_MIN_PLUS_INT || \
    KL_ALGEBRA == KL_BOOLEAN || KL_ALGEBRA == KL_MIN_PLUS_DOUBLE || KL_ALGEBRA == KL_MIN_PLUS_LONG
constexpr int kUnroll = 8;
#else
constexpr int kUnroll = 1;
#endif

struct __align__(16) Vec {
  Word word[kVec];
};

struct Panel {
  Word left[kDepth][kRows];
  Word right[kDepth][kWords];
};

// ---- initialisation and conversion --------------------------------------------------------------

KL_KERNEL(closure_tiled_clear, Word* words, long long count) {
  const long long step = static_cast<long long>(gridDim.x) * blockDim.x;
  for (long long i = blockIdx.x * static_cast<long long>(blockDim.x) + threadIdx.x; i < count;
       i += step) {
    words[i] = zero();
  }
}

#if KL_ALGEBRA == KL_MAX_MIN_INT || KL_ALGEBRA == KL_MAX_MIN_LONG
// Converts the bits of floats to integers in the same order, and back.
KL_KERNEL(closure_tiled_reorder, Word* words, long long count) {
  const long long step = static_cast<long long>(gridDim.x) * blockDim.x;
  for (long long i = blockIdx.x * static_cast<long long>(blockDim.x) + threadIdx.x; i < count;
       i += step) {
    if (words[i] < 0) words[i] ^= KlLimits<Word>::none();
  }
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

// ---- the block of a round -----------------------------------------------------------------------

// Blocks of 32 x 8 threads, each for 32 vertices of K and 32 rows.
KL_KERNEL(closure_tiled_columns, const Word* matrix, long long stride, int first, Word* left,
          long long left_stride) {
  __shared__ Word tile[32][33];
  const int row = blockIdx.x * 32, k = blockIdx.y * 32;
  const int column = first + k + threadIdx.x;
  for (int i = threadIdx.y; i < 32; i += 8) {
    tile[i][threadIdx.x] = expand(matrix[(row + i) * stride + column / kLanes], column % kLanes);
  }
  __syncthreads();
  for (int i = threadIdx.y; i < 32; i += 8) {
    left[(k + i) * left_stride + row + threadIdx.x] = tile[threadIdx.x][i];
  }
}

// One block of threads with 8 x 8 entries each. Writes the multipliers if there are paths, else the
// closed block; row k of either belongs to vertex k. At the step of vertex k, its column and row
// are in shared memory; the threads that hold those of the next vertex publish them in the other
// buffer.
KL_KERNEL_BOUNDS(kThreads, 1, closure_tiled_diagonal, const Word* left, long long left_stride,
                 int first, Word* out, int* cycle) {
  __shared__ Word column[2][kBlock], row[2][kBlock];
  const int top = threadIdx.x / 16 * 8, side = threadIdx.x % 16 * 8;
  Word d[8][8];
#pragma unroll
  for (int j = 0; j < 8; ++j) {
#pragma unroll
    for (int i = 0; i < 8; ++i) d[i][j] = left[(side + j) * left_stride + first + top + i];
  }
  const auto publish = [&](int at, int base, int own) {
    if (top == base) {
#pragma unroll
      for (int j = 0; j < 8; ++j) row[at][side + j] = d[own][j];
    }
    if (side != base) return;
#pragma unroll
    for (int i = 0; i < 8; ++i) column[at][top + i] = d[i][own];
    if (top != base) return;
    if (better(d[own][own], one())) kl_store(cycle, 1);
    column[at][base + own] = one();
  };
  publish(0, 0, 0);
  __syncthreads();
  for (int base = 0; base < kBlock; base += 8) {
#pragma unroll
    for (int step = 0; step < 8; ++step) {
      const int at = step % 2;
      Word a[8], b[8];
#pragma unroll
      for (int i = 0; i < 8; ++i) a[i] = column[at][top + i];
#pragma unroll
      for (int j = 0; j < 8; ++j) b[j] = row[at][side + j];
#if KL_PATHS
      if (threadIdx.x < kBlock) out[(base + step) * kBlock + threadIdx.x] = column[at][threadIdx.x];
#endif
#pragma unroll
      for (int i = 0; i < 8; ++i) {
#pragma unroll
        for (int j = 0; j < 8; ++j) d[i][j] = best(times(a[i], b[j]), d[i][j]);
      }
      if (step < 7) {
        publish(1 - at, base, step + 1);
      } else if (base + 8 < kBlock) {
        publish(1 - at, base + 8, 0);
      }
      __syncthreads();
    }
  }
#if !KL_PATHS
#pragma unroll
  for (int j = 0; j < 8; ++j) {
#pragma unroll
    for (int i = 0; i < 8; ++i) {
      out[(side + j) * kBlock + top + i] = top + i == side + j ? one() : d[i][j];
    }
  }
#endif
}

#if KL_PATHS
// Whether rounding may make a cycle seem better than the empty path.
#if KL_ALGEBRA == KL_MIN_PLUS_FLOAT || KL_ALGEBRA == KL_MIN_PLUS_DOUBLE
constexpr bool kRounds = true;
#else
constexpr bool kRounds = false;
#endif

// One strip of the width of a tile per block: the steps of the diagonal block, with its
// multipliers. The rows begin at `first` and belong to the vertices from `vertex` on.
KL_KERNEL_BOUNDS(kThreads, 1, closure_tiled_strips, Word* matrix, int* predecessors,
                 long long stride, int first, int vertex, const Word* multipliers,
                 const int* cycle) {
  __shared__ Word row[2][kWords];
  __shared__ int row_predecessors[2][kWords];
  int p[kTall][kWide];
  if (*cycle != 0) return;
  const int top = threadIdx.x / 16 * kTall, side = threadIdx.x % 16 * kWide;
  const long long corner =
      (first + top) * stride + static_cast<long long>(blockIdx.x) * kWords + side;
  Word d[kTall][kWide];
#pragma unroll
  for (int i = 0; i < kTall; ++i) {
#pragma unroll
    for (int j = 0; j < kWide; ++j) {
      d[i][j] = matrix[corner + i * stride + j];
      p[i][j] = predecessors[corner + i * stride + j];
    }
  }
  const auto publish = [&](int at, int base, int own) {
    if (top != base) return;
#pragma unroll
    for (int j = 0; j < kWide; ++j) {
      row[at][side + j] = d[own][j];
      row_predecessors[at][side + j] = p[own][j];
    }
  };
  publish(0, 0, 0);
  __syncthreads();
  for (int base = 0; base < kBlock; base += kTall) {
#pragma unroll
    for (int step = 0; step < kTall; ++step) {
      const int at = step % 2;
      const Word* const m = multipliers + (base + step) * kBlock + top;
      Word a[kTall], b[kWide];
#pragma unroll
      for (int i = 0; i < kTall; ++i) a[i] = m[i];
#pragma unroll
      for (int j = 0; j < kWide; ++j) b[j] = row[at][side + j];
#pragma unroll
      for (int i = 0; i < kTall; ++i) {
#pragma unroll
        for (int j = 0; j < kWide; ++j) {
          const Word through = times(a[i], b[j]);
          if (better(through, d[i][j])) p[i][j] = row_predecessors[at][side + j];
          d[i][j] = best(through, d[i][j]);
        }
      }
      if (step + 1 < kTall) {
        publish(1 - at, base, step + 1);
      } else if (base + kTall < kBlock) {
        publish(1 - at, base + kTall, 0);
      }
      __syncthreads();
    }
  }
#pragma unroll
  for (int i = 0; i < kTall; ++i) {
#pragma unroll
    for (int j = 0; j < kWide; ++j) {
      const bool own = kRounds && vertex + top + i == blockIdx.x * kWords + side + j;
      matrix[corner + i * stride + j] = own ? one() : d[i][j];  // despite rounding
      predecessors[corner + i * stride + j] = own ? -1 : p[i][j];
    }
  }
}
#endif  // KL_PATHS

// ---- the product --------------------------------------------------------------------------------

struct Tile {
  int row, column;
};

// Columns of tiles that hold the vertices of a block, at most.
constexpr int kAheadColumns = kBlock / kLanes > kWords ? kBlock / kLanes / kWords : 1;

// The tile of a block. Part 0 is all tiles but the row of tiles `skip` (none if negative); part 1
// the row `ahead` and the kAheadColumns columns from `ahead_column`; part 2 the others.
__device__ __forceinline__ Tile find_tile(int part, int columns, int skip, int ahead,
                                          int ahead_column) {
  const int at = blockIdx.x;
  const int low = min(skip, ahead), high = max(skip, ahead);
  const auto other_row = [&](int i) {  // the i-th row that is neither `skip` nor `ahead`
    i += i >= low;
    return i + (i >= high);
  };
  if (part == 0) {
    const int row = at / columns;
    return {row + (skip >= 0 && row >= skip), at % columns};
  }
  if (part == 1) {
    if (at < columns) return {ahead, at};
    const int other = at - columns;
    return {other_row(other / kAheadColumns), ahead_column + other % kAheadColumns};
  }
  const int left = columns - kAheadColumns, column = at % left;
  return {other_row(at / left), column < ahead_column ? column : column + kAheadColumns};
}

// c = best of c and left times right, one tile per block; predecessors likewise. `depth` vertices,
// a multiple of kDepth. Needs shared memory for two panels, and with paths two bytes per word of a
// tile.
KL_KERNEL_BOUNDS(kThreads, 2, closure_tiled_product, Word* c, int* predecessors, long long stride,
                 const Word* left, long long left_stride, const Word* right,
                 const int* right_predecessors, long long right_stride, int depth, int part,
                 int columns, int skip, int ahead, int ahead_column, const int* cycle) {
  KL_DYNAMIC_SHARED(Panel, panels);
  // The next round may be setting *cycle concurrently: the block decides as one.
  if (__syncthreads_or(kl_load(cycle))) return;
  const Tile tile = find_tile(part, columns, skip, ahead, ahead_column);
  const long long corner = static_cast<long long>(tile.row) * kRows * stride +
                           static_cast<long long>(tile.column) * kWords;
  c += corner;
  left += static_cast<long long>(tile.row) * kRows;
  right += static_cast<long long>(tile.column) * kWords;

  // A warp has 32 rows of the tile and half of its columns; its threads are arranged 4 by 8, so
  // that a read of the warp is one 128-byte line of shared memory.
  const int warp = threadIdx.x / 32, lane = threadIdx.x % 32;
  const int top = warp / 2 * 32 + lane / 8 * kVec;
  const int side = warp % 2 * (kWords / 2) + lane % 8 * kVec;

  // Each thread copies 16 bytes of some vertices of every panel.
  constexpr int kAcrossLeft = kRows / kVec, kAcrossRight = kWords / kVec;
  constexpr int kStepLeft = kThreads / kAcrossLeft, kStepRight = kThreads / kAcrossRight;
  const Word *from_left, *from_right;
  const auto rewind = [&] {
    from_left = left + threadIdx.x / kAcrossLeft * left_stride + threadIdx.x % kAcrossLeft * kVec;
    from_right =
        right + threadIdx.x / kAcrossRight * right_stride + threadIdx.x % kAcrossRight * kVec;
  };
  const auto fetch = [&](Panel& panel) {
    Word* const to_left = &panel.left[0][0] + threadIdx.x * kVec;
    Word* const to_right = &panel.right[0][0] + threadIdx.x * kVec;
#pragma unroll
    for (int i = 0; i < kDepth / kStepLeft; ++i, from_left += kStepLeft * left_stride) {
      kl_copy_async16(to_left + i * kThreads * kVec, from_left);
    }
#pragma unroll
    for (int i = 0; i < kDepth / kStepRight; ++i, from_right += kStepRight * right_stride) {
      kl_copy_async16(to_right + i * kThreads * kVec, from_right);
    }
    kl_copy_commit();
  };
  // Calls use(panel, first vertex) for each panel; the next one is copied meanwhile.
  const auto each_panel = [&](auto&& use) {
    rewind();
    fetch(panels[0]);
#pragma unroll 1
    for (int k = 0, at = 0; k < depth; k += kDepth, at = 1 - at) {
      kl_copy_wait<0>();
      __syncthreads();
      if (k + kDepth < depth) fetch(panels[1 - at]);
      use(panels[at], k);
    }
  };

  // The tile itself is read last: prefetch it to the L2 cache.
  kl_prefetch(reinterpret_cast<const char*>(c + threadIdx.x / 2 * stride) + threadIdx.x % 2 * 256);
  kl_prefetch(reinterpret_cast<const char*>(c + threadIdx.x / 2 * stride) + threadIdx.x % 2 * 256 +
              128);

  Word sum[kTall][kWide];
#pragma unroll
  for (int i = 0; i < kTall; ++i) {
#pragma unroll
    for (int j = 0; j < kWide; ++j) sum[i][j] = zero();
  }
  each_panel([&](const Panel& panel, int) {
    const Word* const a = &panel.left[0][top];
    const Word* const b = &panel.right[0][side];
#pragma unroll kUnroll
    for (int k = 0; k < kDepth; k += 2) {
      Vec b0[kWideVecs], b1[kWideVecs];
#pragma unroll
      for (int v = 0; v < kWideVecs; ++v) {
        b0[v] = *reinterpret_cast<const Vec*>(b + k * kWords + v * 8 * kVec);
        b1[v] = *reinterpret_cast<const Vec*>(b + (k + 1) * kWords + v * 8 * kVec);
      }
#pragma unroll
      for (int v = 0; v < kTallVecs; ++v) {
        const Vec a0 = *reinterpret_cast<const Vec*>(a + k * kRows + v * 4 * kVec);
        const Vec a1 = *reinterpret_cast<const Vec*>(a + (k + 1) * kRows + v * 4 * kVec);
#pragma unroll
        for (int i = 0; i < kVec; ++i) {
#pragma unroll
          for (int j = 0; j < kWide; ++j) {
            relax(sum[v * kVec + i][j], a0.word[i], b0[j / kVec].word[j % kVec], a1.word[i],
                  b1[j / kVec].word[j % kVec]);
          }
        }
      }
    }
  });

  // Only improved words are written.
  unsigned long long improved = 0;  // one bit per word of the thread
#pragma unroll
  for (int i = 0; i < kTall; ++i) {
    const int row = top + i / kVec * 4 * kVec + i % kVec;
#pragma unroll
    for (int v = 0; v < kWideVecs; ++v) {
      Vec* const at = reinterpret_cast<Vec*>(c + row * stride + side + v * 8 * kVec);
      Vec held = *at;
      unsigned improved_bits = 0;
#pragma unroll
      for (int j = 0; j < kVec; ++j) {
        const Word candidate = sum[i][v * kVec + j];
        improved_bits |= static_cast<unsigned>(better(candidate, held.word[j])) << j;
        held.word[j] = best(candidate, held.word[j]);
      }
      if (improved_bits != 0) *at = held;
      improved |= static_cast<unsigned long long>(improved_bits) << (i * kWide + v * kVec);
    }
  }

#if KL_PATHS
  // Few words improve, and for these it is cheaper to search the vertex again than to track it.
  // They are scattered, so they are listed first and the list is shared evenly. The first vertex
  // with the value is taken.
  __shared__ int listed;
  constexpr unsigned short kDone = 0xffff;
  auto* const list = reinterpret_cast<unsigned short*>(panels + 2);
  if (threadIdx.x == 0) listed = 0;
  __syncthreads();
  const int own_count = __popcll(improved);
  int at = own_count != 0 ? atomicAdd(&listed, own_count) : 0;
#pragma unroll
  for (int i = 0; i < kTall; ++i) {
    const int row = top + i / kVec * 4 * kVec + i % kVec;
#pragma unroll
    for (int j = 0; j < kWide; ++j) {
      if ((improved >> (i * kWide + j) & 1) == 0) continue;
      list[at++] =
          static_cast<unsigned short>(row * kWords + side + j / kVec * 8 * kVec + j % kVec);
    }
  }
  __syncthreads();
  const int count = listed;
  if (count == 0) return;
  predecessors += corner;
  right_predecessors += static_cast<long long>(tile.column) * kWords;
  each_panel([&](const Panel& panel, int first) {
    for (int i = threadIdx.x; i < count; i += kThreads) {
      if (list[i] == kDone) continue;
      const int row = list[i] / kWords, column = list[i] % kWords;
      const Word value = c[row * stride + column];
      for (int k = 0; k < kDepth; ++k) {
        if (times(panel.left[k][row], panel.right[k][column]) != value) continue;
        predecessors[row * stride + column] =
            right_predecessors[(first + k) * right_stride + column];
        list[i] = kDone;
        break;
      }
    }
  });
#else
  (void)improved;
#endif
}
