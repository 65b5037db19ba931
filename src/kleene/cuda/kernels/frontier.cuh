// Frontiers of searches that run whole in one cooperative launch: a queue of arcs to look at, warps
// that share them evenly, and blocks that sleep while there is little to do.
//
// Every block appends to a list of its own, so that nobody waits for a place: entry k of list b
// stands at k * lists + b, and what one block found is spread over all blocks when the lists are
// read from end to end. A vertex with many arcs has several entries, each for a piece of them.
#pragma once

#include "kleene.cuh"

const unsigned kWarp = 0xffffffffu;
const int kPiece = 256;  // arcs of an entry at most

// One entry: a vertex and some of its arcs. As int4: vertex, arcs, position of the first (2 words).
struct KlPiece {
  int vertex;
  int degree;
  long long begin;
};

__device__ __forceinline__ int4 kl_pack(int vertex, int degree, long long begin) {
  return make_int4(vertex, degree, static_cast<int>(begin), static_cast<int>(begin >> 32));
}

__device__ __forceinline__ KlPiece kl_unpack(int4 entry) {
  const unsigned low = static_cast<unsigned>(entry.z);
  return {entry.x, entry.y, static_cast<long long>(entry.w) << 32 | low};
}

// The lists of the blocks that write, as one block sees them.
struct KlQueue {
  int4* entries;
  int* counts;   // of each list
  int lists;     // how many there are
  int capacity;  // entries of a list that are kept

  __device__ __forceinline__ int4* slot(int k) const {
    return entries + (static_cast<long long>(k) * lists + blockIdx.x);
  }
};

// The lanes of a warp append the arcs of their vertices, if they have any. *tail is the length of
// this block's list, in shared memory; it goes on counting when the list is full.
__device__ __forceinline__ void kl_append(const KlQueue& queue, int* tail, int vertex,
                                          long long begin, int degree) {
  const unsigned some = __ballot_sync(kWarp, degree > 0);
  if (some == 0) return;
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
    *queue.slot(first) = kl_pack(vertex, degree, begin);
  }
  for (; large != 0; large &= large - 1) {  // the pieces of one vertex, by all lanes
    const int owner = __ffs(large) - 1;
    const int of = __shfl_sync(kWarp, vertex, owner), arcs = __shfl_sync(kWarp, degree, owner);
    const long long from = __shfl_sync(kWarp, begin, owner);
    const int at = __shfl_sync(kWarp, first, owner);
    for (int i = lane; i * kPiece < arcs && at + i < queue.capacity; i += 32) {
      const int skipped = i * kPiece;
      *queue.slot(at + i) = kl_pack(of, min(kPiece, arcs - skipped), from + skipped);
    }
  }
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

// What a thread reads of a queue first; asked for before it is known whether there is anything, so
// that nobody waits for one number to ask for the next.
struct KlHead {
  int4 entry;
  int count;
};

__device__ __forceinline__ KlHead kl_head(const KlQueue& queue) {
  const unsigned place = blockIdx.x * blockDim.x + threadIdx.x;
  const unsigned list = place % queue.lists;
  KlHead head = {make_int4(0, 0, 0, 0), 0};
  if (place / queue.lists < static_cast<unsigned>(queue.capacity)) {
    head.entry = kl_fetch(queue.entries + place);
    head.count = kl_load(queue.counts + list);
  }
  return head;
}

// The warps of the first so many blocks go through all lists, of which the longest has `most`
// entries: take(piece), with all lanes; lanes without an entry bring no arcs.
template <class Take>
__device__ __forceinline__ void kl_drain(const KlQueue& queue, const KlHead& head, int most,
                                         int players, Take take) {
  const unsigned lists = queue.lists;
  const long long places = static_cast<long long>(min(most, queue.capacity)) * lists;
  const long long stride = static_cast<long long>(players) * blockDim.x;
  const long long own = static_cast<long long>(blockIdx.x) * blockDim.x + threadIdx.x;
  for (long long first = own & ~31ll; first < places; first += stride) {
    const long long place = first + kl_lane();
    KlPiece piece = {0, 0, 0};
    if (place == own) {
      if (static_cast<int>(place / lists) < head.count) piece = kl_unpack(head.entry);
    } else if (place < places && static_cast<int>(place / lists) < queue.counts[place % lists]) {
      piece = kl_unpack(queue.entries[place]);
    }
    take(piece);
  }
}

// ---- blocks that sleep --------------------------------------------------------------------------

// *call holds how many blocks are wanted, and above them a number that changes with every call.
__device__ __forceinline__ unsigned kl_next_call(unsigned call, int players) {
  return ((call >> 16) + 1) << 16 | static_cast<unsigned>(players);
}

// The threads of a block wait for a call that is not the one known and wants this block.
__device__ __forceinline__ void kl_sleep(const unsigned* call, unsigned known) {
  if (threadIdx.x == 0) {
    for (;;) {
      const unsigned now = kl_acquire(call);
      if (now != known && (now & 0xffff) > blockIdx.x) break;
      __nanosleep(100);
    }
  }
  __syncthreads();
}
