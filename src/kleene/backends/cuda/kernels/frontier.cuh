// Frontiers of searches that run whole in one cooperative launch: a queue of vertices with their
// arcs, and warps that share them evenly.
//
// Every block appends to a list of its own, so that nobody waits for a place: entry k of list b
// stands at k * lists + b, and all warps read the lists together, one entry each before any gets a
// second. Vertices with many arcs are cut into pieces when their turn comes.
#pragma once

#include "kleene.cuh"

const unsigned kWarp = 0xffffffffu;
const int kPiece = 128;         // arcs of a piece at most
const int kUncounted = 0xffff;  // so many arcs of an entry, or more

// One entry: a vertex, who found it, and its arcs or some of them. As int4: vertex, finder, and a
// word with the position of the first arc in 48 bits and the number of arcs above.
struct KlPiece {
  int vertex;
  int from;
  int degree;
  long long begin;
};

__device__ __forceinline__ int4 kl_pack(int vertex, int from, int degree, long long begin) {
  const unsigned arcs = min(degree, kUncounted);
  return make_int4(vertex, from, static_cast<int>(begin),
                   static_cast<int>(arcs << 16 | static_cast<unsigned>(begin >> 32)));
}

__device__ __forceinline__ KlPiece kl_unpack(int4 entry) {
  const unsigned low = static_cast<unsigned>(entry.z), high = static_cast<unsigned>(entry.w);
  return {entry.x, entry.y, static_cast<int>(high >> 16),
          static_cast<long long>(high & 0xffff) << 32 | low};
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

// The lanes of a warp append their vertices, those that have arcs, and are told whether theirs were
// kept. *tail is the length of this block's list, in shared memory; it goes on counting when the
// list is full.
__device__ __forceinline__ bool kl_append(const KlQueue& queue, int* tail, int vertex, int from,
                                          long long begin, int degree) {
  const unsigned some = __ballot_sync(kWarp, degree > 0);
  if (some == 0) return true;
  int place = 0;
  if (kl_lane() == 0) place = atomicAdd(tail, __popc(some));
  place = __shfl_sync(kWarp, place, 0) + __popc(some & ((1u << kl_lane()) - 1));
  if (degree > 0 && place < queue.capacity) {
    *queue.slot(place) = kl_pack(vertex, from, degree, begin);
  }
  return place < queue.capacity;
}

// The same in pieces of kPiece arcs, for the vertices of lanes that say so; each by all lanes, one
// after the other. What is not kept is left of the lane's piece.
__device__ __forceinline__ void kl_append_pieces(const KlQueue& queue, int* tail, bool cuts,
                                                 KlPiece& piece) {
  for (unsigned left = __ballot_sync(kWarp, cuts); left != 0; left &= left - 1) {
    const int owner = __ffs(left) - 1, lane = kl_lane();
    const int vertex = __shfl_sync(kWarp, piece.vertex, owner);
    const int from = __shfl_sync(kWarp, piece.from, owner);
    const int degree = __shfl_sync(kWarp, piece.degree, owner);
    const long long begin = __shfl_sync(kWarp, piece.begin, owner);
    const int pieces = (degree - 1) / kPiece + 1;
    int first = 0;
    if (lane == 0) first = atomicAdd(tail, pieces);
    first = __shfl_sync(kWarp, first, 0);
    const int kept = max(0, min(pieces, queue.capacity - first));
    for (int i = lane; i < kept; i += 32) {
      const int skipped = i * kPiece;
      *queue.slot(first + i) =
          kl_pack(vertex, from, min(kPiece, degree - skipped), begin + skipped);
    }
    if (lane == owner) {
      piece.begin += static_cast<long long>(kept) * kPiece;
      piece.degree = kept == pieces ? 0 : degree - kept * kPiece;
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
