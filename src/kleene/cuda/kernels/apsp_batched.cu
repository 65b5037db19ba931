// Shortest paths from many sources at once, weights not negative.
//
// Sources go in groups of 32, a lane each: distances[group][vertex][lane]. A round pulls: the warp
// that looks after a vertex reads the rows of those neighbours that fired, 32 distances at a time,
// and keeps the smallest sums. Nobody else writes the row of a vertex, so nothing is atomic; who
// reads it may see it as it was or as it will be, and is told in the next round if it changed.
//
// A vertex whose row has changed fires only when the smallest of its new distances is below a
// threshold, so that distances which will still improve do not travel far. The threshold rises when
// nobody fires any more (near and far sets, Davidson et al. 2014).
//
// The vertex that last improved a distance is its predecessor, and there are no circles: take v
// with predecessor u. If u's distance is not smaller than v's, then v's is u's final one, which u
// had before v had its own; so along predecessors the distances fall, or else the times.
#include "apsp.cuh"
#include "many.cuh"

constexpr int kLanes = 32;
constexpr int kResident = sizeof(KL_TYPE) == 8 ? 3 : 4;  // blocks, as registers allow
constexpr int kMostAsked = 8;  // arcs for each lane that asks; with more, a vertex is not asked
constexpr int kFires = 1, kWaits = 2;  // news of a round

namespace {

__device__ __forceinline__ KL_TYPE lowest(KL_TYPE value) {
  for (int step = 16; step > 0; step /= 2) {
    const KL_TYPE other = __shfl_xor_sync(kAllLanes, value, step);
    if (other < value) value = other;
  }
  return value;
}

// The best of what one lane has seen for one vertex.
struct Best {
  KL_TYPE value;
  int from;  // -1: nothing better than what was there

  __device__ void take(KL_TYPE sum, int u) {
    if (sum < value) {
      value = sum;
      from = u;
    }
  }
};

// One group's part of the arrays, as neighbours are read in one round.
struct Group {
  const KL_TYPE* distances;
  const unsigned char* fired;
  KL_TYPE limit;

  // Takes what neighbours that fired offer along these arcs.
  __device__ void along(const int* neighbors, const KL_TYPE* lengths, long long begin,
                        long long end, int lane, Best& best) const {
    const KL_TYPE none = KlLimits<KL_TYPE>::none();
    for (long long at = begin; at < end; at += 32) {
      const long long arc = at + lane;
      const int u = arc < end ? neighbors[arc] : -1;
      const bool on = u >= 0 && kl_load(fired + u) != 0;
      const KL_TYPE length = on ? lengths[arc] : 0;
      for (unsigned left = __ballot_sync(kAllLanes, on); left != 0;) {
        int from[kAhead];
        KL_TYPE along[kAhead], value[kAhead];
        int who = 0;
        for (int k = 0; k < kAhead; ++k) {
          if (left != 0) who = __ffs(left) - 1;  // or the last one again
          left &= left - 1;
          from[k] = __shfl_sync(kAllLanes, u, who);
          along[k] = __shfl_sync(kAllLanes, length, who);
          value[k] = kl_load(distances + static_cast<long long>(from[k]) * kLanes + lane);
        }
        for (int k = 0; k < kAhead; ++k) {
          const KL_TYPE offered = value[k] == none ? none : value[k] + along[k];
          if (offered <= limit) best.take(offered, from[k]);
        }
      }
    }
  }
};

// What a warp leaves of a vertex for the next round.
struct Outcome {
  KL_TYPE* distances;
  int* predecessors;
  double threshold;

  // Keeps what is better, and returns the smallest of it.
  __device__ KL_TYPE keep(long long vertex, int lane, const Best& best) const {
    const bool better = best.from >= 0;
    if (better) {
      kl_store(distances + vertex * kLanes + lane, best.value);
      if (predecessors != nullptr) predecessors[vertex * kLanes + lane] = best.from;
    }
    if (!__any_sync(kAllLanes, better)) return KlLimits<KL_TYPE>::none();
    return lowest(better ? best.value : KlLimits<KL_TYPE>::none());
  }

  // Fires now, or waits; by one lane.
  __device__ int mark(KL_TYPE key, KL_TYPE* keys, unsigned char* next, long long vertex) const {
    const bool waits = key != KlLimits<KL_TYPE>::none();
    const bool fires = waits && static_cast<double>(key) < threshold;
    keys[vertex] = key;
    next[vertex] = fires;
    return fires ? kFires : waits ? kWaits : 0;
  }
};

}  // namespace

KL_KERNEL(apsp_batched_clear, KL_TYPE* distances, KL_TYPE* keys, long long rows) {
  const long long step = gridDim.x * static_cast<long long>(blockDim.x);
  for (long long i = blockIdx.x * static_cast<long long>(blockDim.x) + threadIdx.x;
       i < rows * kLanes; i += step) {
    distances[i] = KlLimits<KL_TYPE>::none();
    if (i < rows) keys[i] = KlLimits<KL_TYPE>::none();
  }
}

// One thread for each source.
KL_KERNEL(apsp_batched_start, const int* sources, int count, int n, KL_TYPE* distances,
          unsigned char* fired, double rise, double* thresholds) {
  const int source = blockIdx.x * blockDim.x + threadIdx.x;
  if (source == 0) thresholds[0] = thresholds[1] = rise;
  if (source >= count) return;
  const long long vertex = static_cast<long long>(source / kLanes) * n + sources[source];
  distances[vertex * kLanes + source % kLanes] = 0;
  fired[vertex] = 1;
}

// Goes on for at most so many rounds. A warp first asks for several vertices together, from 4 to
// 32, whether any of their neighbours fired. fired holds two sets of marks, by turns. Segments of
// hubs leave what they found in the arrays of parts.
KL_KERNEL_BOUNDS(256, kResident, apsp_batched_rounds, const long long* offsets,
                 const int* neighbors, const KL_TYPE* lengths, const int* hubs, const int* first,
                 const int* owner, int hub_count, int segment, int n, int groups, int together,
                 KL_TYPE* distances, int* predecessors, KL_TYPE* keys, unsigned char* fired,
                 KL_TYPE* part_values, int* part_from, unsigned char* part_found, KL_TYPE limit,
                 double least, double* thresholds, int most, int* control, unsigned* barrier) {
  if (control[kFinished] != 0) return;
  const Incoming in{offsets, neighbors, hubs, first, owner, hub_count, segment};
  const KL_TYPE none = KlLimits<KL_TYPE>::none();
  const int lane = kl_lane();
  const long long rows = static_cast<long long>(groups) * n, segments = in.segments();
  // A warp goes from item to item, each some vertices of one group.
  const int asking = 32 / together, per_group = (n - 1) / together + 1;
  const long long first_item = this_warp(), step_groups = all_warps() / per_group * n;
  const int step_parts = static_cast<int>(all_warps() % per_group);
  Rounds rounds(control, barrier);
  Outcome outcome{distances, predecessors, thresholds[0]};
  double rise = thresholds[1];
  bool finished = false;
  for (int round = 0; round < most && !finished; ++round) {
    rounds.begin();
    const int turn = rounds.done() % 2;
    const unsigned char* const now = fired + turn * rows;
    unsigned char* const next = fired + (turn ^ 1) * rows;

    if (hub_count != 0) {
      for (long long item = this_warp(); item < groups * segments; item += all_warps()) {
        const long long top = item / segments * n;
        const int s = static_cast<int>(item % segments), h = owner[s];
        const Group group{distances + top * kLanes, now + top, limit};
        Best best{kl_load(distances + (top + hubs[h]) * kLanes + lane), -1};
        long long begin, end;
        in.of_segment(s, h, &begin, &end);
        group.along(neighbors, lengths, begin, end, lane, best);
        const bool any = __any_sync(kAllLanes, best.from >= 0);
        if (any) {
          part_values[item * kLanes + lane] = best.value;
          part_from[item * kLanes + lane] = best.from;
        }
        if (lane == 0) part_found[item] = any;
      }
      rounds.meet();
    }

    int news = 0;
    long long top = first_item / per_group * n;
    for (int part = static_cast<int>(first_item % per_group); top < rows;
         top += step_groups, part += step_parts) {
      if (part >= per_group) {
        part -= per_group;
        top += n;
        if (top >= rows) break;
      }
      const int asked = part * together + lane / asking;
      const Group group{distances + top * kLanes, now + top, limit};
      // Some lanes ask for each vertex, and the first of them keeps its books.
      long long begin = 0, end = 0;
      bool hit = false, books = false;
      KL_TYPE key = none;
      if (asked < n) {
        begin = offsets[asked];
        end = offsets[asked + 1];
        if (!in.is_hub(begin, end)) {
          hit = end - begin > kMostAsked * asking;
          for (long long i = begin + lane % asking; i < end && !hit; i += asking) {
            hit = kl_load(group.fired + neighbors[i]) != 0;
          }
          books = lane % asking == 0;
          if (books && kl_load(group.fired + asked) == 0) key = keys[top + asked];
        }
      }
      for (unsigned hits = __ballot_sync(kAllLanes, hit); hits != 0;) {
        const int teller = (__ffs(hits) - 1) / asking * asking;
        hits &= ~(((1u << asking) - 1) << teller);
        const long long vertex = top + __shfl_sync(kAllLanes, asked, teller);
        Best best{distances[vertex * kLanes + lane], -1};
        group.along(neighbors, lengths, __shfl_sync(kAllLanes, begin, teller),
                    __shfl_sync(kAllLanes, end, teller), lane, best);
        const KL_TYPE low = outcome.keep(vertex, lane, best);
        if (lane == teller && low < key) key = low;
      }
      if (books) news |= outcome.mark(key, keys, next, top + asked);
    }
    for (long long item = this_warp(); item < static_cast<long long>(groups) * hub_count;
         item += all_warps()) {
      const long long g = item / hub_count;
      const int h = static_cast<int>(item % hub_count);
      const long long vertex = g * n + hubs[h];
      Best best{distances[vertex * kLanes + lane], -1};
      for (long long part = g * segments + first[h]; part < g * segments + first[h + 1]; ++part) {
        if (kl_load(part_found + part) == 0) continue;
        best.take(__ldcg(part_values + part * kLanes + lane),
                  __ldcg(part_from + part * kLanes + lane));
      }
      const KL_TYPE low = outcome.keep(vertex, lane, best);
      if (lane == 0) {
        KL_TYPE key = kl_load(now + vertex) == 0 ? keys[vertex] : none;
        if (low < key) key = low;
        news |= outcome.mark(key, keys, next, vertex);
      }
    }
    const int fires = __syncthreads_or(news & kFires), waits = __syncthreads_or(news & kWaits);
    if (threadIdx.x == 0 && (fires || waits)) {
      rounds.tell((fires ? kFires : 0) | (waits ? kWaits : 0));
    }
    const int told = rounds.end();
    finished = told == 0;
    if ((told & kFires) != 0) {
      rise = least;
    } else {
      outcome.threshold += rise;
      rise *= 2;  // there may be a wide gap
    }
  }
  rounds.leave(finished);
  if (blockIdx.x == 0 && threadIdx.x == 0) {
    thresholds[0] = outcome.threshold;
    thresholds[1] = rise;
  }
}

// Turns groups of lanes into rows of the answer, 32 x 32 numbers at a time; kThreads threads.
namespace {

template <class T>
__device__ __forceinline__ void turn(const T* from, T* to, T (*tile)[kLanes + 1], int n,
                                     int count) {
  const int lane = kl_lane(), warp = threadIdx.x / 32;
  const long long chunks = (n + 31) / 32, tiles = chunks * ((count + kLanes - 1) / kLanes);
  for (long long at = blockIdx.x; at < tiles; at += gridDim.x) {
    const long long g = at / chunks;
    const int v = static_cast<int>(at % chunks) * 32;
    for (int i = warp; i < 32 && v + i < n; i += kWarps) {
      tile[i][lane] = from[(g * n + v + i) * kLanes + lane];
    }
    __syncthreads();
    for (int i = warp; i < kLanes && g * kLanes + i < count && v + lane < n; i += kWarps) {
      to[(g * kLanes + i) * n + v + lane] = tile[lane][i];
    }
    __syncthreads();
  }
}

}  // namespace

KL_KERNEL(apsp_batched_distances, const KL_TYPE* from, KL_TYPE* to, int n, int count) {
  __shared__ KL_TYPE tile[32][kLanes + 1];
  turn(from, to, tile, n, count);
}

KL_KERNEL(apsp_batched_predecessors, const int* from, int* to, int n, int count) {
  __shared__ int tile[32][kLanes + 1];
  turn(from, to, tile, n, count);
}
