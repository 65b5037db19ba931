// Multi-source BFS: a level of a batch.
#pragma once
#include "common/multi_source.cuh"
#include "tuning/bfs.cuh"

// ---- scans of arcs ------------------------------------------------------------------------------
// The rows of words of a vertex in the lanes of a warp, and the scan of its arcs.

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

// ---- levels -------------------------------------------------------------------------------------
// A level goes by chunks of 32 vertices, whose bits are one word.

const int kVertices = 32;      // of a chunk
const int kMostSpan = kWarps;  // chunks that a block tests at once, a warp each
const int kFound = 1;          // events of a level
const int kAllTargets = 2;

// Parameters of a batch; sources, count and the rows of the result change from one to the next.
struct MultiParams {
  const long long* offsets;  // incoming arcs
  const int* neighbors;
  const int* hubs;  // see Incoming
  const int* first;
  const int* segment_hub;
  const int* sources;           // one per search
  const unsigned* target_bits;  // a bit per target; null without targets
  unsigned* seen;               // a row of words per vertex
  unsigned* frontier;           // two arrays of rows, by the parity of the level
  unsigned* active;             // two bitmaps, by the parity of the level
  unsigned* full;               // bitmap
  unsigned* hub_bits;           // a row of words per hub, zero between levels
  int* distances;               // a row per search
  int* predecessors;            // a row per search; or null
  int* control;                 // see Rounds
  unsigned* barrier;
  int hub_count;
  int segment;
  int n;
  int words;    // of a row: a power of two, at most 32
  int span;     // chunks that a block tests at once
  int count;    // of searches
  int targets;  // how many there are
  int limit;    // level at which the search ends
  int most;     // levels of a launch
};

// Shared memory of a block.
struct MultiBlock {
  unsigned new_by_vertex[kVertices][33];
  int lists[kWarps][32];
  unsigned found_by[kWarps], filled_by[kWarps];  // bits of a chunk, by the warp that found them
  unsigned hits_by_turn[2][kMostSpan];           // other warps may still read the last one
};

// One level of a batch.
struct Level {
  const MultiParams& params;
  const Incoming& in;
  const Lane& lane;
  MultiBlock& block;
  const int n, distance;
  const unsigned all;  // existing searches in the word of this lane
  const unsigned *const frontier, *const active;
  unsigned *const next, *const next_active, *const seen, *const full, *const hub_bits;
  int* const list;  // of this warp

  __device__ Level(const MultiParams& params_, const Incoming& in_, const Lane& lane_,
                   MultiBlock& block_, int distance_)
      : params(params_),
        in(in_),
        lane(lane_),
        block(block_),
        n(params.n),
        distance(distance_),
        all(searches_of(params.count, lane.word)),
        frontier(params.frontier + (1 - distance % 2) * rows()),
        active(params.active + (1 - distance % 2) * static_cast<long long>(chunks())),
        next(params.frontier + distance % 2 * rows()),
        next_active(params.active + distance % 2 * static_cast<long long>(chunks())),
        seen(params.seen),
        full(params.full),
        hub_bits(params.hub_bits),
        list(block.lists[threadIdx.x / 32]) {}

  __device__ int chunks() const { return (n - 1) / kVertices + 1; }

  // Splits the arcs of hubs among all warps.
  __device__ void expand_hubs() const {
    for (long long s = global_warp(); s < in.segments(); s += total_warps()) {
      const int h = in.segment_hub[s], v = in.hubs[h];
      if (bit_of(full, v)) continue;
      const unsigned missing = all & ~kl_load(seen + row(v));
      long long begin, end;
      in.segment_arcs(static_cast<int>(s), h, &begin, &end);
      scan(v).along(lane, begin, end, missing, hub_bits + row(h));
    }
  }

  // The vertices of a chunk that are not full and have an active neighbour, or many arcs.
  __device__ unsigned chunk_hits(int chunk) const {
    const int at = chunk * kVertices + lane.id;
    bool hit = false;
    if (chunk < chunks() && at < n && (full[chunk] >> lane.id & 1) == 0) {
      const long long begin = in.offsets[at], end = in.offsets[at + 1];
      hit = end - begin > kMaxProbedArcs || in.is_hub(begin, end);
      for (long long i = begin; i < end && !hit; ++i) hit = bit_of(active, in.neighbors[i]);
    }
    return __ballot_sync(kAllLanes, hit);
  }

  // Finds the searches that are new at a vertex; returns whether there are any. Sets *filled if all
  // searches have seen it.
  __device__ bool visit(int v, unsigned* new_row, bool* filled) const {
    const unsigned had = seen[row(v)], missing = all & ~had;
    const long long begin = in.offsets[v], end = in.offsets[v + 1];
    unsigned new_searches;
    if (in.is_hub(begin, end)) {
      unsigned* const hub_row = hub_bits + row(in.hub(v));
      new_searches = kl_load(hub_row) & missing;
      __syncwarp();
      if (lane.group == 0) *hub_row = 0;
    } else {
      new_searches = scan(v).along(lane, begin, end, missing, nullptr);
    }
    *filled = __all_sync(kAllLanes, (missing & ~new_searches) == 0);
    if (!__any_sync(kAllLanes, new_searches != 0)) return false;
    if (lane.group == 0) {
      seen[row(v)] = had | new_searches;
      next[row(v)] = new_searches;
      new_row[lane.word] = new_searches;
    }
    return true;
  }

  // Writes the distances of the new searches in one word, one vertex per lane.
  __device__ void write_distances(int v, int word, unsigned new_searches) const {
    for (unsigned some = __reduce_or_sync(kAllLanes, new_searches); some != 0; some &= some - 1) {
      const int search = __ffs(some) - 1;
      if (new_searches >> search & 1) {
        params.distances[(32ll * word + search) * n + v] = distance;
      }
    }
  }

 private:
  __device__ long long rows() const { return static_cast<long long>(n) * lane.words; }
  __device__ long long row(int v) const {
    return static_cast<long long>(v) * lane.words + lane.word;
  }
  __device__ ArcScan scan(int v) const {
    int* const predecessors = params.predecessors;
    return {in, frontier, active, predecessors == nullptr ? nullptr : predecessors + v, n, list};
  }
};

// Tests `span` chunks from `top` on, a warp each; the hits go to shared memory.
__device__ __forceinline__ void test_chunks(const Level& level, int top, unsigned* hits_of) {
  const int warp = threadIdx.x / 32;
  if (warp >= level.params.span) return;
  const unsigned hits = level.chunk_hits(top + warp);
  if (level.lane.id != 0) return;
  hits_of[warp] = hits;
  if (hits == 0 && top + warp < level.chunks()) level.next_active[top + warp] = 0;
}

// Visits the vertices of a chunk with hits, the warps taking turns; sets the bits of this warp.
__device__ __forceinline__ void visit_chunk(const Level& level, Rounds& levels, int chunk,
                                            unsigned hits) {
  const MultiParams& params = level.params;
  const int warp = threadIdx.x / 32;
  unsigned found = 0, filled = 0;
  int nth = 0;
  for (unsigned left = hits; left != 0; left &= left - 1, ++nth) {
    if (nth % kWarps != warp) continue;
    const int place = __ffs(left) - 1, v = chunk * kVertices + place;
    bool fills;
    if (level.visit(v, level.block.new_by_vertex[place], &fills)) found |= 1u << place;
    if (!fills) continue;
    filled |= 1u << place;
    if (level.lane.id == 0 && params.target_bits != nullptr && bit_of(params.target_bits, v) &&
        atomicSub(params.control + kTargetsLeft, 1) == 1) {
      levels.signal(kAllTargets);
    }
  }
  if (level.lane.id != 0) return;
  level.block.found_by[warp] = found;
  level.block.filled_by[warp] = filled;
}

// Joins the bits of all warps and writes distances; returns whether there was a new vertex.
__device__ __forceinline__ bool finish_chunk(const Level& level, int chunk) {
  unsigned found = 0, filled = 0;
  for (int w = 0; w < kWarps; ++w) {
    found |= level.block.found_by[w];
    filled |= level.block.filled_by[w];
  }
  if (threadIdx.x == 0) {
    level.next_active[chunk] = found;
    level.full[chunk] |= filled;
  }
  const int id = level.lane.id;
  for (int word = threadIdx.x / 32; word < level.params.words && found != 0; word += kWarps) {
    const unsigned new_searches = (found >> id & 1) != 0 ? level.block.new_by_vertex[id][word] : 0;
    level.write_distances(chunk * kVertices + id, word, new_searches);
  }
  return found != 0;
}

// All chunks of this block; returns whether there was a new vertex.
__device__ __forceinline__ bool pull_chunks(const Level& level, Rounds& levels) {
  const int span = level.params.span, chunks = level.chunks();
  bool any = false;
  int turn = 0;
  for (int top = blockIdx.x * span; top < chunks; top += gridDim.x * span, turn ^= 1) {
    unsigned* const hits_of = level.block.hits_by_turn[turn];
    test_chunks(level, top, hits_of);
    __syncthreads();
    for (int chunk = top; chunk < top + span; ++chunk) {
      const unsigned hits = hits_of[chunk - top];
      if (hits == 0) continue;
      visit_chunk(level, levels, chunk, hits);
      __syncthreads();
      any = finish_chunk(level, chunk) || any;
      __syncthreads();
    }
  }
  return any;
}
