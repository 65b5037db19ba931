// Many breadth-first searches at once, a bit each (Then et al. 2014, The More the Merrier:
// Efficient Multi-Source Graph Traversal), on a GPU.
//
// Every vertex has a row of words, a bit for each search: seen, and two fronts by turns. A level
// pulls: a warp looks along the incoming arcs of a vertex, each lane has one word of the row, and
// what the neighbours' fronts have and the vertex has not seen is new. Rows of fewer than 32 words
// are looked at several at a time.
//
// A bit for each vertex says whether any search has it in its front; a row of the front means
// something only if the bit is set, so nothing has to be cleared. Another bit says that all
// searches have seen the vertex. A block looks after chunks of 32 vertices, whose bits make a word.
// It first asks in several chunks which vertices have a neighbour in a front, a lane for each. In
// the chunks that have any it collects what is new, and writes the depths of 32 vertices for one
// search after the other, next to each other in the answer, which has a row for each search.
//
// All levels run in one cooperative launch, or a few: there is one barrier a level, and a second
// one if there are hubs, whose arcs are spread over warps before the others have their turn.
#include "many.cuh"

constexpr int kVertices = 32;      // of a chunk
constexpr int kMostSpan = kWarps;  // chunks that a block asks in at once

// A vertex with more arcs is not asked first: to look through them takes as long.
constexpr int kMostAsked = 8;

constexpr int kFound = 1, kAllTargets = 2;  // news of a level

namespace {

__device__ __forceinline__ bool bit_of(const unsigned* bits, int v) {
  return (kl_load(bits + v / 32) >> (v % 32) & 1) != 0;
}

// All searches that there are, of those in one word.
__device__ __forceinline__ unsigned searches_of(int count, int word) {
  const int left = count - 32 * word;
  return left >= 32 ? kAllLanes : left > 0 ? (1u << left) - 1 : 0;
}

// Lanes with the same word of a row: `words` is a power of two up to 32.
struct Lane {
  int id, words, word, group, groups;

  __device__ Lane(int words_)
      : id(kl_lane()), words(words_), word(id % words), group(id / words), groups(32 / words) {}

  __device__ unsigned together(unsigned bits) const {
    for (int step = words; step < 32; step *= 2) bits |= __shfl_xor_sync(kAllLanes, bits, step);
    return bits;
  }
};

// One look along some incoming arcs of one vertex.
struct Look {
  const Incoming& in;
  const unsigned* front;
  const unsigned* active;
  int* parents;  // of this vertex: the next search's is n further on; or null
  long long n;
  int* list;  // 32 numbers of the warp's own

  // Returns what of `missing` the fronts of these neighbours have. If other warps look along other
  // arcs, they share what they found in *common, and who is first is the parent.
  __device__ unsigned along(const Lane& lane, long long begin, long long end, unsigned missing,
                            unsigned* common) const {
    unsigned met = 0;
    for (long long at = begin; at < end; at += 32) {
      const int listed = active_neighbors(lane, at, end);
      for (int i = 0; i < listed; i += kAhead * lane.groups) {
        unsigned rows[kAhead];
        int from[kAhead];
        for (int k = 0; k < kAhead; ++k) {
          const int place = i + k * lane.groups + lane.group;
          from[k] = place < listed ? list[place] : -1;
          rows[k] = 0;
          if (from[k] >= 0) {
            rows[k] = kl_load(front + static_cast<long long>(from[k]) * lane.words + lane.word);
          }
        }
        for (int k = 0; k < kAhead; ++k) {
          if (parents == nullptr) {
            met |= rows[k];
          } else {
            met |= claim(lane, rows[k] & missing & ~met, from[k], common);
          }
        }
      }
      met = parents == nullptr ? lane.together(met) : met;
      if (__all_sync(kAllLanes, (missing & ~met) == 0)) break;
    }
    met &= missing;
    if (parents == nullptr && common != nullptr && lane.group == 0 && met != 0) {
      atomicOr(common, met);
    }
    return met;
  }

 private:
  // Lists the neighbours on the next 32 arcs that are in any front.
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

  // Makes u the parent for these searches; where groups of lanes bring the same one, the first
  // does. Returns what all groups bring.
  __device__ unsigned claim(const Lane& lane, unsigned fresh, int u, unsigned* common) const {
    unsigned up_to = fresh;
    for (int step = lane.words; step < 32; step *= 2) {
      const unsigned lower = __shfl_up_sync(kAllLanes, up_to, step);
      if (lane.id >= step) up_to |= lower;
    }
    unsigned before = 0;
    if (lane.groups > 1) {
      before = __shfl_up_sync(kAllLanes, up_to, lane.words);
      if (lane.group == 0) before = 0;
    }
    unsigned mine = fresh & ~before;
    if (common != nullptr && mine != 0) mine &= ~atomicOr(common, mine);
    for (; mine != 0; mine &= mine - 1) {
      parents[(32 * lane.word + __ffs(mine) - 1) * n] = u;
    }
    return __shfl_sync(kAllLanes, up_to, 32 - lane.words + lane.word);
  }
};

// What a batch has, as it is in one level.
struct Level {
  const Incoming& in;
  const Lane& lane;
  unsigned all;  // searches, in this lane's word
  int n, depth;
  const unsigned *front, *active;
  unsigned *next, *next_active;
  unsigned *seen, *full, *common;
  int *depths, *parents;
  int* list;  // of this warp

  // Spreads the arcs of hubs over all warps.
  __device__ void look_at_hubs() const {
    for (long long s = this_warp(); s < in.segments(); s += all_warps()) {
      const int h = in.owner[s], v = in.hubs[h];
      if (bit_of(full, v)) continue;
      const unsigned missing = all & ~kl_load(seen + row(v));
      long long begin, end;
      in.of_segment(static_cast<int>(s), h, &begin, &end);
      look(v).along(lane, begin, end, missing, common + row(h));
    }
  }

  // Which of 32 vertices are not full and have a neighbour in a front, or are not asked.
  __device__ unsigned ask(int chunk) const {
    const int at = chunk * kVertices + lane.id;
    bool hit = false;
    if (chunk <= (n - 1) / kVertices && at < n && (full[chunk] >> lane.id & 1) == 0) {
      const long long begin = in.offsets[at], end = in.offsets[at + 1];
      hit = end - begin > kMostAsked || in.is_hub(begin, end);
      for (long long i = begin; i < end && !hit; ++i) hit = bit_of(active, in.neighbors[i]);
    }
    return __ballot_sync(kAllLanes, hit);
  }

  // Finds the searches that are new at a vertex; returns whether there are any, and sets *filled if
  // none is missing any more.
  __device__ bool visit(int v, unsigned* fresh_row, bool* filled) const {
    const unsigned had = seen[row(v)], missing = all & ~had;
    const long long begin = in.offsets[v], end = in.offsets[v + 1];
    unsigned fresh;
    if (in.is_hub(begin, end)) {
      unsigned* const brought = common + row(in.hub(v));
      fresh = kl_load(brought) & missing;
      __syncwarp();
      if (lane.group == 0) *brought = 0;
    } else {
      fresh = look(v).along(lane, begin, end, missing, nullptr);
    }
    *filled = __all_sync(kAllLanes, (missing & ~fresh) == 0);
    if (!__any_sync(kAllLanes, fresh != 0)) return false;
    if (lane.group == 0) {
      seen[row(v)] = had | fresh;
      next[row(v)] = fresh;
      fresh_row[lane.word] = fresh;
    }
    return true;
  }

  // Writes the depths of what is new at one vertex per lane, in one word.
  __device__ void write_depths(int v, int word, unsigned fresh) const {
    for (unsigned some = __reduce_or_sync(kAllLanes, fresh); some != 0; some &= some - 1) {
      const int search = __ffs(some) - 1;
      if (fresh >> search & 1) depths[(32ll * word + search) * n + v] = depth;
    }
  }

 private:
  __device__ long long row(int v) const {
    return static_cast<long long>(v) * lane.words + lane.word;
  }
  __device__ Look look(int v) const {
    return {in, front, active, parents == nullptr ? nullptr : parents + v, n, list};
  }
};

}  // namespace

// One thread for each search. All other words of these arrays are zero, depths "no path".
KL_KERNEL(bfs_multi_start, const int* sources, int count, int n, int words, int targets,
          unsigned* seen, unsigned* front, unsigned* active, int* depths, int* control) {
  const int search = blockIdx.x * blockDim.x + threadIdx.x;
  if (search == 0) control[kTargetsLeft] = targets;
  if (search >= count) return;
  const int s = sources[search];
  const long long at = static_cast<long long>(s) * words + search / 32;
  atomicOr(seen + at, 1u << (search % 32));
  atomicOr(front + at, 1u << (search % 32));
  atomicOr(active + s / 32, 1u << (s % 32));
  depths[search * static_cast<long long>(n) + s] = 0;
}

// "No path" for every search and vertex.
KL_KERNEL(bfs_multi_clear, int* depths, long long size, int none) {
  const long long step = gridDim.x * static_cast<long long>(blockDim.x);
  for (long long i = blockIdx.x * static_cast<long long>(blockDim.x) + threadIdx.x; i < size;
       i += step) {
    depths[i] = none;
  }
}

// Goes on for at most so many levels. Blocks ask in `span` chunks at once. front and active hold
// two of each, by turns.
KL_KERNEL_BOUNDS(256, 4, bfs_multi_levels, const long long* offsets, const int* neighbors,
                 const int* hubs, const int* first, const int* owner, int hub_count, int segment,
                 int n, int words, int span, int count, unsigned* seen, unsigned* front,
                 unsigned* active, unsigned* full, unsigned* common, const unsigned* wanted,
                 int* depths, int* parents, int limit, int most, int* control, unsigned* barrier) {
  __shared__ unsigned fresh_of[kVertices][33];
  __shared__ int lists[kWarps][32];
  __shared__ unsigned found_by[kWarps], filled_by[kWarps], hits_by_turn[2][kMostSpan];
  if (control[kFinished] != 0) return;
  const Incoming in{offsets, neighbors, hubs, first, owner, hub_count, segment};
  const Lane lane(words);
  const int warp = threadIdx.x / 32, chunks = (n - 1) / kVertices + 1;
  const long long row_words = static_cast<long long>(n) * words;
  Rounds levels(control, barrier);
  bool finished = false;
  for (int i = 0; i < most && !finished; ++i) {
    levels.begin();
    const int depth = levels.done() + 1;
    const long long turn = depth % 2, before = 1 - turn;
    const Level level{in,
                      lane,
                      searches_of(count, lane.word),
                      n,
                      depth,
                      front + before * row_words,
                      active + before * chunks,
                      front + turn * row_words,
                      active + turn * chunks,
                      seen,
                      full,
                      common,
                      depths,
                      parents,
                      lists[warp]};
    if (hub_count != 0) {
      level.look_at_hubs();
      levels.meet();
    }
    bool any = false;
    int item = 0;
    for (int top = blockIdx.x * span; top < chunks; top += gridDim.x * span, ++item) {
      unsigned* const hits_of = hits_by_turn[item % 2];  // the others may still be at the last one
      if (warp < span) {
        const unsigned hits = level.ask(top + warp);
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
          if (level.visit(v, fresh_of[place], &fills)) found |= 1u << place;
          if (!fills) continue;
          filled |= 1u << place;
          if (lane.id == 0 && wanted != nullptr && bit_of(wanted, v) &&
              atomicSub(control + kTargetsLeft, 1) == 1) {
            levels.tell(kAllTargets);
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
          const unsigned fresh = (found >> lane.id & 1) != 0 ? fresh_of[lane.id][word] : 0;
          level.write_depths(chunk * kVertices + lane.id, word, fresh);
        }
        __syncthreads();
      }
    }
    if (any && threadIdx.x == 0) levels.tell(kFound);
    finished = levels.end() != kFound || depth == limit;
  }
  levels.leave(finished);
}
