// Tiles of the closure: how the words of a tile and of two factors lie in registers and in shared
// memory.
#pragma once

#include "tuning/closure.cuh"

constexpr int kVec = 16 / sizeof(Word);                            // words per 16-byte access
constexpr int kRows = kBlock, kWords = kTileBytes / sizeof(Word);  // of a tile
constexpr int kDepth = kPanelBytes / sizeof(Word);                 // vertices of a panel

// Words per thread of the product.
constexpr int kTall = kRows * 16 / kProductThreads, kWide = kWords / 16;
constexpr int kTallVecs = kTall / kVec, kWideVecs = kWide / kVec;

struct __align__(16) Vec {
  Word word[kVec];
};

struct Panel {
  Word left[kDepth][kRows];
  Word right[kDepth][kWords];
};

// The words of a thread of the product. Two warps share rows of the tile, and each has half of the
// columns; its threads are arranged 4 by 8, so that a read of the warp is one 128-byte line of
// shared memory.
struct OwnWords {
  int top, side;  // of the first word

  __device__ __forceinline__ int row(int i) const { return top + i / kVec * 4 * kVec + i % kVec; }
  __device__ __forceinline__ int column(int j) const {
    return side + j / kVec * 8 * kVec + j % kVec;
  }
};

__device__ __forceinline__ OwnWords own_words() {
  const int warp = threadIdx.x / 32, lane = threadIdx.x % 32;
  return {warp / 2 * 4 * kTall + lane / 8 * kVec, warp % 2 * (kWords / 2) + lane % 8 * kVec};
}
