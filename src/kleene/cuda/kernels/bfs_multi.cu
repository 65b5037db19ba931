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
// searches have seen the vertex. A block looks after 32 vertices at a time, whose bits make a word.
// It collects what is new and writes the depths of 32 vertices for one search after the other, next
// to each other in the answer, which has a row for each search.
//
// All levels run in one cooperative launch, or a few: there is one barrier a level, and a second
// one if there are hubs, whose arcs are spread over warps before the others have their turn.
#include "many.cuh"

constexpr int kVertices = 32;  // of a block at a time

constexpr int kFound = 1, kAllTargets = 2;  // news of a level

namespace {

__device__ __forceinline__ bool bit_of(const unsigned* bits, int v) {
  return (__ldcg(bits + v / 32) >> (v % 32) & 1) != 0;
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
            rows[k] = __ldcg(front + static_cast<long long>(from[k]) * lane.words + lane.word);
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

// Goes on for at most so many levels. front and active hold two of each, by turns.
KL_KERNEL_BOUNDS(256, 4, bfs_multi_levels, const long long* offsets, const int* neighbors,
                 const int* hubs, const int* first, const int* owner, int hub_count, int segment,
                 int n, int words, int count, unsigned* seen, unsigned* front, unsigned* active,
                 unsigned* full, unsigned* common, const unsigned* wanted, int* depths,
                 int* parents, int limit, int most, int* control, unsigned* barrier) {
  __shared__ unsigned fresh_of[kVertices][33];
  __shared__ int lists[kWarps][32];
  __shared__ unsigned found_by[kWarps], filled_by[kWarps];
  if (control[kFinished] != 0) return;
  const Incoming in{offsets, neighbors, hubs, first, owner, hub_count, segment};
  const Lane lane(words);
  const unsigned all = searches_of(count, lane.word);
  const int warp = threadIdx.x / 32;
  const int chunks = (n + kVertices - 1) / kVertices;
  const long long row_words = static_cast<long long>(n) * words;
  Rounds levels(control, barrier);
  bool finished = false;
  for (int level = 0; level < most && !finished; ++level) {
    levels.begin();
    const int depth = levels.done() + 1, turn = depth % 2;
    const unsigned* const now = front + (turn ^ 1) * row_words;
    unsigned* const next = front + turn * row_words;
    const unsigned* const now_active = active + (turn ^ 1) * static_cast<long long>(chunks);
    unsigned* const next_active = active + turn * static_cast<long long>(chunks);

    if (hub_count != 0) {
      for (long long s = this_warp(); s < in.segments(); s += all_warps()) {
        const int h = owner[s], v = hubs[h];
        if (bit_of(full, v)) continue;
        const unsigned missing =
            all & ~__ldcg(seen + static_cast<long long>(v) * words + lane.word);
        long long begin, end;
        in.of_segment(static_cast<int>(s), h, &begin, &end);
        const Look look{in, now,        now_active, parents == nullptr ? nullptr : parents + v,
                        n,  lists[warp]};
        look.along(lane, begin, end, missing,
                   common + static_cast<long long>(h) * words + lane.word);
      }
      levels.meet();
    }

    bool any = false;
    for (int chunk = blockIdx.x; chunk < chunks; chunk += gridDim.x) {
      const int left = n - chunk * kVertices;
      const unsigned there = left >= 32 ? kAllLanes : (1u << left) - 1;
      const unsigned full_before = full[chunk];
      if (full_before == there) {
        if (threadIdx.x == 0) next_active[chunk] = 0;
        continue;
      }
      // Eight lanes ask for each of four vertices.
      const int own = warp * kTogether + lane.id / kAsking;
      long long begin = 0, end = 0;
      bool hit = false;
      if (own < left && (full_before >> own & 1) == 0) {
        const int v = chunk * kVertices + own;
        begin = offsets[v];
        end = offsets[v + 1];
        hit = end - begin > kMostAsked || in.is_hub(begin, end);
        for (long long i = begin + lane.id % kAsking; i < end && !hit; i += kAsking) {
          hit = bit_of(now_active, neighbors[i]);
        }
      }
      const unsigned hits = __ballot_sync(kAllLanes, hit);
      unsigned found = 0, filled = 0;
      for (int k = 0; k < kTogether; ++k) {
        if ((hits >> (k * kAsking) & ((1u << kAsking) - 1)) == 0) continue;
        const int place = warp * kTogether + k, v = chunk * kVertices + place;
        const long long arcs_begin = __shfl_sync(kAllLanes, begin, k * kAsking);
        const long long arcs_end = __shfl_sync(kAllLanes, end, k * kAsking);
        const long long row = static_cast<long long>(v) * words + lane.word;
        const unsigned had = seen[row], missing = all & ~had;
        unsigned fresh;
        if (in.is_hub(arcs_begin, arcs_end)) {
          int low = 0, high = hub_count - 1;
          while (low < high) {
            const int middle = (low + high) / 2;
            if (hubs[middle] < v) {
              low = middle + 1;
            } else {
              high = middle;
            }
          }
          unsigned* const brought = common + static_cast<long long>(low) * words + lane.word;
          fresh = __ldcg(brought) & missing;
          __syncwarp();
          if (lane.group == 0) *brought = 0;
        } else {
          const Look look{in, now,        now_active, parents == nullptr ? nullptr : parents + v,
                          n,  lists[warp]};
          fresh = look.along(lane, arcs_begin, arcs_end, missing, nullptr);
        }
        if (__any_sync(kAllLanes, fresh != 0)) {
          found |= 1u << place;
          if (lane.group == 0) {
            seen[row] = had | fresh;
            next[row] = fresh;
            fresh_of[place][lane.word] = fresh;
          }
        }
        if (__all_sync(kAllLanes, (missing & ~fresh) == 0)) {
          filled |= 1u << place;
          if (lane.id == 0 && wanted != nullptr && bit_of(wanted, v) &&
              atomicSub(control + kTargetsLeft, 1) == 1) {
            levels.tell(kAllTargets);
          }
        }
      }
      if (lane.id == 0) {
        found_by[warp] = found;
        filled_by[warp] = filled;
      }
      __syncthreads();
      unsigned found_here = 0, filled_here = 0;
      for (int w = 0; w < kWarps; ++w) {
        found_here |= found_by[w];
        filled_here |= filled_by[w];
      }
      if (threadIdx.x == 0) {
        next_active[chunk] = found_here;
        full[chunk] = full_before | filled_here;
      }
      if (found_here != 0) {
        any = true;
        // Now a lane is one of the 32 vertices.
        for (int word = warp; word < words; word += kWarps) {
          const unsigned fresh = (found_here >> lane.id & 1) != 0 ? fresh_of[lane.id][word] : 0;
          int* const depths_of = depths + chunk * kVertices + lane.id;
          for (unsigned some = __reduce_or_sync(kAllLanes, fresh); some != 0; some &= some - 1) {
            const int search = __ffs(some) - 1;
            if (fresh >> search & 1) depths_of[(32ll * word + search) * n] = depth;
          }
        }
      }
      __syncthreads();
    }
    if (any && threadIdx.x == 0) levels.tell(kFound);
    finished = levels.end() != kFound || depth == limit;
  }
  levels.leave(finished);
}
