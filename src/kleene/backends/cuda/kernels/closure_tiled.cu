// The dense engine: elimination by blocks of vertices (the order of native/core/dense_tiled.cpp,
// where it is argued that predecessor chains have no circles).
//
// For each block K of kBlock vertices, with d the matrix before the round:
//
//   tiled_columns    left = the columns of K, turned so that a vertex of K is a row, and expanded
//   tiled_diagonal   closes d[K, K] vertex by vertex
//   tiled_product    closes the rows of K: their product with that
//   tiled_product    for all other rows, the best of d[i, j] and left[k, i] times d[k, j] over K
//
// With paths, the rows of K go through its vertices one by one, as the diagonal block did: it keeps
// the multipliers (column k as it is when the turn comes to k) and tiled_strips uses them, a strip
// of columns in a block. A product would let ties be broken in two ways, and chains could be
// circles.
//
// The product does almost all of the work, as a matrix product does it: panels go to shared memory
// by asynchronous copies while the panel before is used; each thread keeps 8 x 8 words in registers
// and goes through two vertices at a time. `part` picks its tiles, so that those which the next
// round begins with (its rows and its columns) can go first, and that round's first three kernels
// run beside the rest.
//
// Rows and columns are padded with "no path" to whole tiles; no kernel meets an edge.
#include "closure_semiring.cuh"

constexpr int kBlock = 128;
constexpr int kThreads = 256;
constexpr int kVec = 16 / sizeof(Word);                  // words of a 16-byte access
constexpr int kRows = 128, kWords = 512 / sizeof(Word);  // of a tile
constexpr int kTall = 8, kWide = kWords / 16;            // words of a thread
constexpr int kTallVecs = kTall / kVec, kWideVecs = kWide / kVec;

// Vertices in shared memory at a time, and pairs of them that are written out one after the other:
// the best of 16, 32 and of 1, 2, 4, 8 on an H200.
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

// ---- before and after ---------------------------------------------------------------------------

KL_KERNEL(closure_tiled_clear, Word* words, long long count) {
  const long long step = static_cast<long long>(gridDim.x) * blockDim.x;
  for (long long i = blockIdx.x * static_cast<long long>(blockDim.x) + threadIdx.x; i < count;
       i += step) {
    words[i] = zero();
  }
}

#if KL_ALGEBRA == KL_MAX_MIN_INT || KL_ALGEBRA == KL_MAX_MIN_LONG
// The bits of floating-point numbers, read as integers, in the order of the numbers; and back.
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

// One block of threads, each with 8 x 8 entries. Puts out the multipliers if there are paths, else
// the closed block; of both, row k is what vertex k has for all others. When the turn comes to
// vertex k, its column and its row are in shared memory; whoever has those of the next vertex puts
// them beside.
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
// Does arithmetic round, so that the way from a vertex to itself may look better than none?
#if KL_ALGEBRA == KL_MIN_PLUS_FLOAT || KL_ALGEBRA == KL_MIN_PLUS_DOUBLE
constexpr bool kRounds = true;
#else
constexpr bool kRounds = false;
#endif

// One strip of a tile's width in each block. It goes through the same turns, with the multipliers
// that the diagonal block has left. The rows begin at `first` and are those of `vertex` and the
// vertices after it.
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
      matrix[corner + i * stride + j] = own ? one() : d[i][j];  // in spite of rounding
      predecessors[corner + i * stride + j] = own ? -1 : p[i][j];
    }
  }
}
#endif  // KL_PATHS

// ---- the product --------------------------------------------------------------------------------

struct Tile {
  int row, column;
};

// Columns of tiles that the vertices of a block take, at most.
constexpr int kAheadColumns = kBlock / kLanes > kWords ? kBlock / kLanes / kWords : 1;

// Which tile a block takes, of those that `part` stands for: all but the row of tiles `skip` (part
// 0; none if it is negative), the row `ahead` and the kAheadColumns columns from `ahead_column` on
// (1), the others (2).
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

// c = the best of c and left times right, tile by tile; last likewise. Goes through `depth`
// vertices, a multiple of kDepth. Needs two panels of shared memory, and for paths two bytes more
// for each word of a tile.
KL_KERNEL_BOUNDS(kThreads, 2, closure_tiled_product, Word* c, int* predecessors, long long stride,
                 const Word* left, long long left_stride, const Word* right,
                 const int* right_predecessors, long long right_stride, int depth, int part,
                 int columns, int skip, int ahead, int ahead_column, const int* cycle) {
  KL_DYNAMIC_SHARED(Panel, panels);
  // The next round's diagonal may be finding a cycle just now: the block decides as one.
  if (__syncthreads_or(kl_load(cycle))) return;
  const Tile tile = find_tile(part, columns, skip, ahead, ahead_column);
  const long long corner = static_cast<long long>(tile.row) * kRows * stride +
                           static_cast<long long>(tile.column) * kWords;
  c += corner;
  left += static_cast<long long>(tile.row) * kRows;
  right += static_cast<long long>(tile.column) * kWords;

  // A warp has 32 rows of the tile and half of its columns; its threads lie 4 by 8, so that what
  // they read together is one line of shared memory.
  const int warp = threadIdx.x / 32, lane = threadIdx.x % 32;
  const int top = warp / 2 * 32 + lane / 8 * kVec;
  const int side = warp % 2 * (kWords / 2) + lane % 8 * kVec;

  // What this thread copies: 16 bytes of some vertices of every panel.
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
  // Calls use(panel, first vertex) for one panel after the other, each fetched while the one before
  // is used.
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

  // The tile itself is wanted last: it comes as far as the second cache by then.
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

  // Only what has become better is written.
  unsigned long long improved = 0;  // a bit for each word of the thread
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
  // Most words have not become better, and for the others it is cheaper to look again for the
  // vertex than to carry it along. They are listed first, since they lie scattered: a list is dealt
  // out evenly. The first vertex that gives the value is the one that counts.
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
