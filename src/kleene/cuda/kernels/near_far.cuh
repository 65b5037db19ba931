// Distances as words, and the lists of a block, for the near-far search.
//
// Numbers that are not negative have the order of their bits, so distances are words without a
// sign, whatever their type; all ones is "no path".
#pragma once
#include "kleene.cuh"

const unsigned kWarp = 0xffffffffu;
const int kPiece = 128;  // arcs of an entry, unless its vertex has so many that a list has no room
const int kNarrow = 4;   // arcs that a thread relaxes by itself
const unsigned kFair = 32;  // near vertices that a block always keeps to itself
const int kScan = 4;        // far entries that a thread looks at at a time

// ---- numbers ------------------------------------------------------------------------------------

template <class T>
struct KlWord;
template <>
struct KlWord<unsigned> {
  using Word = unsigned;
  static __device__ __forceinline__ unsigned word(unsigned value) { return value; }
  static __device__ __forceinline__ unsigned value(Word word) { return word; }
  static __device__ __forceinline__ unsigned from(double value) {
    return value < 4e9 ? static_cast<unsigned>(value) : 4000000000u;
  }
};
template <>
struct KlWord<long long> {
  using Word = unsigned long long;
  static __device__ __forceinline__ Word word(long long value) { return value; }
  static __device__ __forceinline__ long long value(Word word) { return word; }
  static __device__ __forceinline__ long long from(double value) {
    return value < 4e18 ? static_cast<long long>(value) : 4000000000000000000ll;
  }
};
template <>
struct KlWord<float> {
  using Word = unsigned;
  static __device__ __forceinline__ Word word(float value) { return __float_as_uint(value); }
  static __device__ __forceinline__ float value(Word word) { return __uint_as_float(word); }
  static __device__ __forceinline__ float from(double value) { return static_cast<float>(value); }
};
template <>
struct KlWord<double> {
  using Word = unsigned long long;
  static __device__ __forceinline__ Word word(double value) { return __double_as_longlong(value); }
  static __device__ __forceinline__ double value(Word word) { return __longlong_as_double(word); }
  static __device__ __forceinline__ double from(double value) { return value; }
};

using Type = KlWord<KL_TYPE>;
using Word = Type::Word;
const Word kNone = ~static_cast<Word>(0);

// "No path" if the sum is too large for the type.
__device__ __forceinline__ Word sum(Word from, KL_TYPE length) {
  if constexpr (static_cast<KL_TYPE>(0.5) == 0) {
    const Word through = from + static_cast<Word>(length);
    return through < from ? kNone : through;
  } else {
    return Type::word(Type::value(from) + length);
  }
}

__device__ __forceinline__ Word warp_min(Word value) {
  if constexpr (sizeof(Word) == 4) {
    return __reduce_min_sync(kWarp, static_cast<unsigned>(value));
  } else {
    for (int step = 16; step > 0; step /= 2) {
      value = min(value, __shfl_xor_sync(kWarp, value, step));
    }
    return value;
  }
}

// Distances with different tags are different.
__device__ __forceinline__ unsigned tag_of(unsigned distance) { return distance; }
__device__ __forceinline__ unsigned tag_of(unsigned long long distance) {
  return static_cast<unsigned>(distance ^ distance >> 32);
}

// ---- entries ------------------------------------------------------------------------------------

// A vertex and some of its arcs: vertex, the tag of its distance, then the position of the
// first arc (40 bits) and their number (24 bits).
struct Piece {
  int vertex;
  unsigned tag;
  int degree;
  long long begin;
};

__device__ __forceinline__ int4 pack(int vertex, Word distance, long long begin, int degree) {
  return make_int4(
      vertex, static_cast<int>(tag_of(distance)), static_cast<int>(static_cast<unsigned>(begin)),
      static_cast<int>(static_cast<unsigned>(begin >> 32) | static_cast<unsigned>(degree) << 8));
}

__device__ __forceinline__ Piece unpack(int4 entry) {
  const unsigned high = static_cast<unsigned>(entry.w);
  return {entry.x, static_cast<unsigned>(entry.y), static_cast<int>(high >> 8),
          static_cast<long long>(high & 0xff) << 32 | static_cast<unsigned>(entry.z)};
}

// ---- lists of a block ---------------------------------------------------------------------------

// What a block adds up in shared memory.
struct Here {
  unsigned long long arcs;
  unsigned long long expanded;
  unsigned long long nearest;  // all bits turned
  unsigned long long farthest;
  int tails[3];  // of the lists in shared memory: hop h reads h % 3 and adds to the next one
  int listed;    // entries in the queue
  int far;       // entries that wait
  unsigned unsettled;
  unsigned near_spills;
  unsigned far_spills;
};

// How vertices get into the lists, with all lanes of a warp. With kHops, near vertices go into
// shared memory first. Every list has an end; what finds no room is noted in a bit per vertex.
template <bool kHops>
struct Lists {
  Here* here;
  int4* local;  // two lists of `keep` entries in shared memory, for even and odd hops
  int keep;
  int4* queue;  // that blocks share: entry k of the list of block b stands at k * blocks + b
  int capacity;
  int* far_vertices;
  Word* far_words;
  int far_capacity;
  unsigned* spilled;
  int lane;
  Word nearest;  // of the far distances that this thread has put there

  __device__ __forceinline__ void spill(int v, unsigned* count) {
    atomicOr(spilled + (v >> 5), 1u << (v & 31));
    atomicAdd(count, 1u);
  }
  __device__ __forceinline__ void append_far(bool active, int v, Word distance) {
    const unsigned some = __ballot_sync(kWarp, active);
    if (some == 0) return;
    int first = 0;
    if (lane == 0) first = atomicAdd(&here->far, __popc(some));
    const int place = __shfl_sync(kWarp, first, 0) + __popc(some & ((1u << lane) - 1));
    if (active) {
      nearest = min(nearest, distance);
      if (place < far_capacity) {
        far_vertices[place] = v;
        far_words[place] = distance;
      } else {
        spill(v, &here->far_spills);
      }
    }
  }
  // Into this block's list of the queue. A vertex with many arcs has several entries.
  __device__ __forceinline__ void append_queue(int v, Word distance, long long begin, int degree) {
    if (!__any_sync(kWarp, degree > 0)) return;
    const int arcs_each = degree <= kPiece ? kPiece : max(kPiece, (degree - 1) / capacity + 1);
    const int pieces = degree <= kPiece ? degree > 0 : (degree - 1) / arcs_each + 1;
    unsigned many = __ballot_sync(kWarp, pieces > 1);
    const unsigned some = __ballot_sync(kWarp, pieces > 0);
    int first = __popc(some & ((1u << lane) - 1)), total = __popc(some);
    if (many != 0) {
      first = pieces;
      for (int step = 1; step < 32; step *= 2) {
        const int other = __shfl_up_sync(kWarp, first, step);
        if (lane >= step) first += other;
      }
      total = __shfl_sync(kWarp, first, 31);
      first -= pieces;
    }
    int base = 0;
    if (lane == 0) base = atomicAdd(&here->listed, total);
    first += __shfl_sync(kWarp, base, 0);
    if (pieces == 1 && first < capacity) {
      queue[static_cast<unsigned>(first) * gridDim.x + blockIdx.x] =
          pack(v, distance, begin, degree);
    }
    if (first + pieces > capacity && pieces > 0) spill(v, &here->near_spills);
    for (; many != 0; many &= many - 1) {
      const int owner = __ffs(many) - 1;
      const int of = __shfl_sync(kWarp, v, owner), place = __shfl_sync(kWarp, first, owner);
      const int all = __shfl_sync(kWarp, degree, owner);
      const int each = __shfl_sync(kWarp, arcs_each, owner);
      const Word reached = __shfl_sync(kWarp, distance, owner);
      const long long from = __shfl_sync(kWarp, begin, owner);
      const int parts = (all - 1) / each + 1;
      for (int i = lane; i < parts && place + i < capacity; i += 32) {
        const int skipped = i * each;
        queue[static_cast<unsigned>(place + i) * gridDim.x + blockIdx.x] =
            pack(of, reached, from + skipped, min(each, all - skipped));
      }
    }
  }
  // Into shared memory, for the hop `next`, or else into the queue.
  __device__ __forceinline__ void append_near(int next, int room, int v, Word distance,
                                              long long begin, int degree) {
    if constexpr (kHops) {
      const bool small = degree > 0 && degree <= kPiece;
      const unsigned some = __ballot_sync(kWarp, small);
      if (some != 0) {
        int first = 0;
        if (lane == 0) first = atomicAdd(&here->tails[next % 3], __popc(some));
        const int place = __shfl_sync(kWarp, first, 0) + __popc(some & ((1u << lane) - 1));
        if (small && place < room) {
          local[(next & 1) * keep + place] = pack(v, distance, begin, degree);
          degree = 0;
        }
      }
    }
    append_queue(v, distance, begin, degree);
  }
};
