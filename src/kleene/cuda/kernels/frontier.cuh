// Frontiers of searches that run whole in one cooperative launch: a queue of arcs to look at, and
// warps that share them evenly.
//
// Every block appends to a list of its own, so that nobody waits for a place: entry k of list b
// stands at k * lists + b, and all warps read the lists together, one entry each before any gets a
// second. A vertex with many arcs has several entries, each for a piece of them.
#pragma once

#include "kleene.cuh"

const unsigned kWarp = 0xffffffffu;
const int kPiece = 128;  // arcs of an entry at most

// One entry: a vertex, who found it, and some of its arcs. As int4: vertex, finder, and a word with
// the position of the first arc in 48 bits and the number of arcs above.
struct KlPiece {
  int vertex;
  int from;
  int degree;
  long long begin;
};

__device__ __forceinline__ int4 kl_pack(int vertex, int from, int degree, long long begin) {
  return make_int4(vertex, from, static_cast<int>(begin),
                   degree << 16 | static_cast<int>(begin >> 32));
}

__device__ __forceinline__ KlPiece kl_unpack(int4 entry) {
  const unsigned low = static_cast<unsigned>(entry.z);
  return {entry.x, entry.y, entry.w >> 16, static_cast<long long>(entry.w & 0xffff) << 32 | low};
}

// The lists of the blocks that write, as one block sees them.
struct KlQueue {
  int4* entries;
  int* counts;   // of each list
  int lists;     // how many there are
  int capacity;  // entries of a list that are kept

  __device__ __forceinline__ int4* slot(int k) const {
    return entries + (static_cast<unsigned>(k) * lists + blockIdx.x);
  }
};

// The lanes of a warp append the arcs of their vertices, if they have any, and are told whether all
// were kept. *tail is the length of this block's list, in shared memory; it goes on counting when
// the list is full.
__device__ __forceinline__ bool kl_append(const KlQueue& queue, int* tail, int vertex, int from,
                                          long long begin, int degree) {
  const unsigned some = __ballot_sync(kWarp, degree > 0);
  if (some == 0) return true;
  const unsigned lane = kl_lane();
  int first = __popc(some & ((1u << lane) - 1)), total = __popc(some);
  unsigned large = __ballot_sync(kWarp, degree > kPiece);
  const int pieces = (degree + kPiece - 1) / kPiece;
  if (large != 0) {
    first = pieces;
    for (int step = 1; step < 32; step *= 2) {
      const int before = __shfl_up_sync(kWarp, first, step);
      if (static_cast<int>(lane) >= step) first += before;
    }
    total = __shfl_sync(kWarp, first, 31);
    first -= pieces;
  }
  int base = 0;
  if (lane == 0) base = atomicAdd(tail, total);
  first += __shfl_sync(kWarp, base, 0);
  if (pieces == 1 && first < queue.capacity) {
    *queue.slot(first) = kl_pack(vertex, from, degree, begin);
  }
  for (; large != 0; large &= large - 1) {  // the pieces of one vertex, by all lanes
    const int owner = __ffs(large) - 1;
    const int of = __shfl_sync(kWarp, vertex, owner), by = __shfl_sync(kWarp, from, owner);
    const int arcs = __shfl_sync(kWarp, degree, owner);
    const long long start = __shfl_sync(kWarp, begin, owner);
    const int at = __shfl_sync(kWarp, first, owner);
    for (int i = lane; i * kPiece < arcs && at + i < queue.capacity; i += 32) {
      const int skipped = i * kPiece;
      *queue.slot(at + i) = kl_pack(of, by, min(kPiece, arcs - skipped), start + skipped);
    }
  }
  return first + pieces <= queue.capacity;
}

// The lanes of a warp bring a piece each, and go through the arcs of all of them together:
// visit(active, vertex, position of the arc), with all lanes.
template <class Visit>
__device__ __forceinline__ void kl_expand(const KlPiece& piece, Visit visit) {
  const int lane = kl_lane();
  int end = piece.degree;
  for (int step = 1; step < 32; step *= 2) {
    const int before = __shfl_up_sync(kWarp, end, step);
    if (lane >= step) end += before;
  }
  const int total = __shfl_sync(kWarp, end, 31);
  const long long shift = piece.begin - (end - piece.degree);
  for (int first = 0; first < total; first += 32) {
    const int arc = first + lane;
    int owner = 0;  // the first lane whose arcs end past this one
    for (int step = 16; step > 0; step /= 2) {
      if (__shfl_sync(kWarp, end, owner + step - 1) <= arc) owner += step;
    }
    const long long at = __shfl_sync(kWarp, shift, owner) + arc;
    const int vertex = __shfl_sync(kWarp, piece.vertex, owner);
    visit(arc < total, vertex, at);
  }
}

// All warps of the grid go through all lists, of which the longest has `most` entries: take(piece),
// with all lanes; lanes without an entry bring no arcs. What stands at a place is asked for before
// it is known whether it counts, so that nobody waits for one number to ask for the next.
template <class Take>
__device__ __forceinline__ void kl_drain(const KlQueue& queue, int most, Take take) {
  const unsigned lists = queue.lists, warps = gridDim.x * (blockDim.x / 32);
  const unsigned places = min(most, queue.capacity) * lists;
  unsigned place = kl_lane() * warps + blockIdx.x * (blockDim.x / 32) + threadIdx.x / 32;
  while (__any_sync(kWarp, place < places)) {
    KlPiece piece = {0, 0, 0, 0};
    if (place < places) {
      const int4 entry = kl_fetch(queue.entries + place);
      const int count = kl_load(queue.counts + place % lists);
      if (static_cast<int>(place / lists) < count) piece = kl_unpack(entry);
    }
    take(piece);
    place += 32 * warps;
  }
}
