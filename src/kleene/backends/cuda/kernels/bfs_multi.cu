// Multi-source BFS with one bit per search (Then et al. 2014, The More the Merrier: Efficient
// Multi-Source Graph Traversal), on a GPU.
//
// Every vertex has a row of words, one bit per search: seen, and two alternating frontiers. A level
// pulls: a warp scans the incoming arcs of a vertex, one word of the row per lane; bits that are in
// the frontier of a neighbour and not in seen are new. Rows of fewer than 32 words are read several
// at a time.
//
// `active` has a bit per vertex that is in the frontier of any search; a frontier row is valid only
// if this bit is set, so rows need no clearing. `full` has a bit per vertex that all searches have
// seen. A block processes chunks of 32 vertices, whose bits are one word. It first tests several
// chunks for vertices with an active neighbour, one lane per vertex. In the chunks with hits it
// collects the new bits and writes the distances of 32 adjacent vertices, one search after the
// other: the result has a row per search.
//
// All levels run in one cooperative launch, or a few, with one grid barrier per level, and a second
// one if there are hubs, whose arcs are split among warps first.
#include "common/multi_source.cuh"

constexpr int kVertices = 32;      // of a chunk
constexpr int kMostSpan = kWarps;  // chunks that a block tests at once

// A vertex with more arcs is not tested first: the test would cost as much as the scan.
constexpr int kMaxProbedArcs = 8;

constexpr int kFound = 1, kAllTargets = 2;  // events of a level

namespace {

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

// One level of a batch.
struct Level {
  const Incoming& in;
  const Lane& lane;
  unsigned all;  // existing searches in the word of this lane
  int n, distance;
  const unsigned *frontier, *active;
  unsigned *next, *next_active;
  unsigned *seen, *full, *hub_bits;
  int *distances, *predecessors;
  int* list;  // of this warp

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
    if (chunk <= (n - 1) / kVertices && at < n && (full[chunk] >> lane.id & 1) == 0) {
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
      if (new_searches >> search & 1) distances[(32ll * word + search) * n + v] = distance;
    }
  }

 private:
  __device__ long long row(int v) const {
    return static_cast<long long>(v) * lane.words + lane.word;
  }
  __device__ ArcScan scan(int v) const {
    return {in, frontier, active, predecessors == nullptr ? nullptr : predecessors + v, n, list};
  }
};

}  // namespace

// One thread per search. All other words are zero, all other distances no_path.
KL_KERNEL(bfs_multi_init, const int* sources, int count, int n, int words, int targets,
          unsigned* seen, unsigned* frontier, unsigned* active, int* distances, int* control) {
  const int search = blockIdx.x * blockDim.x + threadIdx.x;
  if (search == 0) control[kTargetsLeft] = targets;
  if (search >= count) return;
  const int s = sources[search];
  const long long at = static_cast<long long>(s) * words + search / 32;
  atomicOr(seen + at, 1u << (search % 32));
  atomicOr(frontier + at, 1u << (search % 32));
  atomicOr(active + s / 32, 1u << (s % 32));
  distances[search * static_cast<long long>(n) + s] = 0;
}

// no_path for every search and vertex.
KL_KERNEL(bfs_multi_clear, int* distances, long long size, int none) {
  const long long step = gridDim.x * static_cast<long long>(blockDim.x);
  for (long long i = blockIdx.x * static_cast<long long>(blockDim.x) + threadIdx.x; i < size;
       i += step) {
    distances[i] = none;
  }
}

// Runs at most `most` levels. A block tests `span` chunks at once. frontier and active are
// double-buffered.
KL_KERNEL_BOUNDS(256, 4, bfs_multi_levels, const long long* offsets, const int* neighbors,
                 const int* hubs, const int* first, const int* segment_hub, int hub_count,
                 int segment, int n, int words, int span, int count, unsigned* seen,
                 unsigned* frontier, unsigned* active, unsigned* full, unsigned* hub_bits,
                 const unsigned* target_bits, int* distances, int* predecessors, int limit,
                 int most, int* control, unsigned* barrier) {
  __shared__ unsigned new_by_vertex[kVertices][33];
  __shared__ int lists[kWarps][32];
  __shared__ unsigned found_by[kWarps], filled_by[kWarps], hits_by_turn[2][kMostSpan];
  if (control[kFinished] != 0) return;
  const Incoming in{offsets, neighbors, hubs, first, segment_hub, hub_count, segment};
  const Lane lane(words);
  const int warp = threadIdx.x / 32, chunks = (n - 1) / kVertices + 1;
  const long long row_words = static_cast<long long>(n) * words;
  Rounds levels(control, barrier);
  bool finished = false;
  for (int i = 0; i < most && !finished; ++i) {
    levels.begin();
    const int distance = levels.done() + 1;
    const long long parity = distance % 2, previous = 1 - parity;
    const Level level{in,
                      lane,
                      searches_of(count, lane.word),
                      n,
                      distance,
                      frontier + previous * row_words,
                      active + previous * chunks,
                      frontier + parity * row_words,
                      active + parity * chunks,
                      seen,
                      full,
                      hub_bits,
                      distances,
                      predecessors,
                      lists[warp]};
    if (hub_count != 0) {
      level.expand_hubs();
      levels.grid_barrier();
    }
    bool any = false;
    int item = 0;
    for (int top = blockIdx.x * span; top < chunks; top += gridDim.x * span, ++item) {
      unsigned* const hits_of = hits_by_turn[item % 2];  // other warps may still read the last one
      if (warp < span) {
        const unsigned hits = level.chunk_hits(top + warp);
        if (lane.id == 0) {
          hits_of[warp] = hits;
          if (hits == 0 && top + warp < chunks) level.next_active[top + warp] = 0;
        }
      }
      __syncthreads();
      for (int chunk = top; chunk < top + span; ++chunk) {
        const unsigned hits = hits_of[chunk - top];
        if (hits == 0) continue;
        unsigned found = 0, filled = 0;
        int nth = 0;
        for (unsigned left = hits; left != 0; left &= left - 1, ++nth) {
          if (nth % kWarps != warp) continue;
          const int place = __ffs(left) - 1, v = chunk * kVertices + place;
          bool fills;
          if (level.visit(v, new_by_vertex[place], &fills)) found |= 1u << place;
          if (!fills) continue;
          filled |= 1u << place;
          if (lane.id == 0 && target_bits != nullptr && bit_of(target_bits, v) &&
              atomicSub(control + kTargetsLeft, 1) == 1) {
            levels.signal(kAllTargets);
          }
        }
        if (lane.id == 0) {
          found_by[warp] = found;
          filled_by[warp] = filled;
        }
        __syncthreads();
        found = filled = 0;
        for (int w = 0; w < kWarps; ++w) {
          found |= found_by[w];
          filled |= filled_by[w];
        }
        if (threadIdx.x == 0) {
          level.next_active[chunk] = found;
          full[chunk] |= filled;
        }
        any = any || found != 0;
        for (int word = warp; word < words && found != 0; word += kWarps) {
          const unsigned new_searches =
              (found >> lane.id & 1) != 0 ? new_by_vertex[lane.id][word] : 0;
          level.write_distances(chunk * kVertices + lane.id, word, new_searches);
        }
        __syncthreads();
      }
    }
    if (any && threadIdx.x == 0) levels.signal(kFound);
    finished = levels.end() != kFound || distance == limit;
  }
  levels.finish(finished);
}
