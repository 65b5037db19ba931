// Multi-source BFS: the rows of words of a vertex in the lanes of a warp, and the scan of its arcs.
#pragma once
#include "common/multi_source.cuh"
#include "tuning/bfs.cuh"

__device__ __forceinline__ bool bit_of(const unsigned* bits, int v) {
  return (kl_load(bits + v / 32) >> (v % 32) & 1) != 0;
}

// The bits of existing searches in one word.
__device__ __forceinline__ unsigned searches_of(int count, int word) {
  const int left = count - 32 * word;
  return left >= 32 ? kAllLanes : left > 0 ? (1u << left) - 1 : 0;
}

// Position of a lane: the lanes of a group hold the words of a row; `words` is a power of two
// <= 32.
struct Lane {
  int id, words, word, group, groups;

  __device__ Lane(int words_)
      : id(kl_lane()), words(words_), word(id % words), group(id / words), groups(32 / words) {}

  __device__ unsigned combine(unsigned bits) const {
    for (int step = words; step < 32; step *= 2) bits |= __shfl_xor_sync(kAllLanes, bits, step);
    return bits;
  }
};

// A scan of some incoming arcs of one vertex.
struct ArcScan {
  const Incoming& in;
  const unsigned* frontier;
  const unsigned* active;
  int* predecessors;  // of this vertex; those of the next search are n entries on; or null
  long long n;
  int* list;  // 32 entries of the warp

  // Returns the bits of `missing` that are in the frontiers of these neighbours. Warps that scan
  // other arcs of a hub share their bits in *hub_bits; the first to set one is the predecessor.
  __device__ unsigned along(const Lane& lane, long long begin, long long end, unsigned missing,
                            unsigned* hub_bits) const {
    unsigned reached = 0;
    for (long long at = begin; at < end; at += 32) {
      const int listed = active_neighbors(lane, at, end);
      for (int i = 0; i < listed; i += kPrefetch * lane.groups) {
        unsigned rows[kPrefetch];
        int tails[kPrefetch];
        for (int k = 0; k < kPrefetch; ++k) {
          const int place = i + k * lane.groups + lane.group;
          tails[k] = place < listed ? list[place] : -1;
          rows[k] = 0;
          if (tails[k] >= 0) {
            rows[k] = kl_load(frontier + static_cast<long long>(tails[k]) * lane.words + lane.word);
          }
        }
        for (int k = 0; k < kPrefetch; ++k) {
          if (predecessors == nullptr) {
            reached |= rows[k];
          } else {
            reached |= claim(lane, rows[k] & missing & ~reached, tails[k], hub_bits);
          }
        }
      }
      reached = predecessors == nullptr ? lane.combine(reached) : reached;
      if (__all_sync(kAllLanes, (missing & ~reached) == 0)) break;
    }
    reached &= missing;
    if (predecessors == nullptr && hub_bits != nullptr && lane.group == 0 && reached != 0) {
      atomicOr(hub_bits, reached);
    }
    return reached;
  }

 private:
  // Lists the active neighbours on the next 32 arcs.
  __device__ int active_neighbors(const Lane& lane, long long at, long long end) const {
    const long long arc = at + lane.id;
    const int u = arc < end ? in.neighbors[arc] : -1;
    const bool on = u >= 0 && bit_of(active, u);
    const unsigned which = __ballot_sync(kAllLanes, on);
    __syncwarp();
    if (on) list[__popc(which & ((1u << lane.id) - 1))] = u;
    __syncwarp();
    return __popc(which);
  }

  // Makes u the predecessor for these searches; if several groups of lanes have the same search,
  // the first one wins. Returns the union over the groups.
  __device__ unsigned claim(const Lane& lane, unsigned new_searches, int u,
                            unsigned* hub_bits) const {
    unsigned up_to = new_searches;
    for (int step = lane.words; step < 32; step *= 2) {
      const unsigned lower = __shfl_up_sync(kAllLanes, up_to, step);
      if (lane.id >= step) up_to |= lower;
    }
    unsigned previous = 0;
    if (lane.groups > 1) {
      previous = __shfl_up_sync(kAllLanes, up_to, lane.words);
      if (lane.group == 0) previous = 0;
    }
    unsigned mine = new_searches & ~previous;
    if (hub_bits != nullptr && mine != 0) mine &= ~atomicOr(hub_bits, mine);
    for (; mine != 0; mine &= mine - 1) {
      predecessors[(32 * lane.word + __ffs(mine) - 1) * n] = u;
    }
    return __shfl_sync(kAllLanes, up_to, 32 - lane.words + lane.word);
  }
};
