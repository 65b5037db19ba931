// Shortest paths from batches of sources, for non-negative weights.
//
// Sources form groups of 32, one per lane: distances[group][vertex][lane]. A round pulls: the warp
// of a vertex reads the rows of neighbours that fired, 32 distances at a time, and keeps the
// smallest sums. Only this warp writes the row, so nothing is atomic; a concurrent reader sees the
// old or the new row, and the vertex fires again in the next round if it changed.
//
// A vertex whose row has changed fires only when the smallest of its new distances is below a
// threshold, so that distances that will still improve are not propagated far. The threshold is
// raised when no vertex fires (near-far sets, Davidson et al. 2014).
//
// The vertex that last improved a distance is its predecessor, and predecessors form no cycle: let
// u be the predecessor of v. If the distance of u is not smaller than that of v, both are equal and
// final, and u had its distance before v; so along predecessors the distances decrease, or the
// times at which they were set.
#include "apsp.cuh"
#include "common/multi_source.cuh"

constexpr int kLanes = 32;
constexpr int kMinBlocks =
    sizeof(KL_TYPE) == 8 ? 3 : 4;  // blocks per multiprocessor, as registers allow
constexpr int kMaxProbedArcs = 8;  // arcs per testing lane; vertices with more are not tested first
constexpr int kFires = 1, kWaits = 2;  // events of a round

namespace {

__device__ __forceinline__ KL_TYPE lowest(KL_TYPE value) {
  for (int step = 16; step > 0; step /= 2) {
    const KL_TYPE other = __shfl_xor_sync(kAllLanes, value, step);
    if (other < value) value = other;
  }
  return value;
}

// The best distance of one lane for one vertex.
struct Best {
  KL_TYPE value;
  int predecessor;  // -1: not improved

  __device__ void take(KL_TYPE sum, int u) {
    if (sum < value) {
      value = sum;
      predecessor = u;
    }
  }
};

// One round. A row is the 32 distances of a vertex in a group; the rows of a group are contiguous.
struct Round {
  const Incoming& in;
  const KL_TYPE* lengths;
  int n, groups, vertices_per_warp;
  KL_TYPE* distances;
  int* predecessors;
  KL_TYPE* keys;  // smallest new distance of a row since it last fired, or no_path
  const unsigned char* fired;
  unsigned char* next;
  KL_TYPE* part_values;
  int* part_predecessors;
  unsigned char* part_found;
  KL_TYPE limit;
  double threshold;

  // Hubs, step 1: every segment stores its best distances.
  __device__ void relax_segments() const {
    const int lane = kl_lane();
    const long long segments = in.segments();
    for (long long item = global_warp(); item < groups * segments; item += total_warps()) {
      const long long top = item / segments * n;
      const int s = static_cast<int>(item % segments), h = in.segment_hub[s];
      Best best{kl_load(distances + (top + in.hubs[h]) * kLanes + lane), -1};
      long long begin, end;
      in.segment_arcs(s, h, &begin, &end);
      relax(top, begin, end, best);
      const bool any = __any_sync(kAllLanes, best.predecessor >= 0);
      if (any) {
        part_values[item * kLanes + lane] = best.value;
        part_predecessors[item * kLanes + lane] = best.predecessor;
      }
      if (lane == 0) part_found[item] = any;
    }
  }

  // Hubs, step 2, after a grid barrier: combines the segments; returns events.
  __device__ int join_segments() const {
    const int lane = kl_lane();
    const long long segments = in.segments(), items = static_cast<long long>(groups) * in.hub_count;
    int events = 0;
    for (long long item = global_warp(); item < items; item += total_warps()) {
      const long long g = item / in.hub_count;
      const int h = static_cast<int>(item % in.hub_count);
      const long long row = g * n + in.hubs[h];
      Best best{distances[row * kLanes + lane], -1};
      const long long begin = g * segments + in.first[h], end = g * segments + in.first[h + 1];
      for (long long at = begin; at < end; at += 32) {
        const bool found = at + lane < end && kl_load(part_found + at + lane) != 0;
        for (unsigned left = __ballot_sync(kAllLanes, found); left != 0; left &= left - 1) {
          const long long part = (at + __ffs(left) - 1) * kLanes + lane;
          const KL_TYPE value = kl_load(part_values + part);
          best.take(value, kl_load(part_predecessors + part));
        }
      }
      const KL_TYPE low = keep(row, best);
      if (lane == 0) events |= mark(row, low, kept(row));
    }
    return events;
  }

  // All other vertices; returns events. An item of a warp is some vertices of a group.
  __device__ int relax_vertices() const {
    const int lane = kl_lane(), lanes_per_vertex = 32 / vertices_per_warp,
              per_group = (n - 1) / vertices_per_warp + 1;
    const int own = lane / lanes_per_vertex, nth = lane % lanes_per_vertex;
    const long long rows = static_cast<long long>(groups) * n;
    const long long step_rows = total_warps() / per_group * n;
    const int step = static_cast<int>(total_warps() % per_group);
    int events = 0, part = static_cast<int>(global_warp() % per_group);
    for (long long top = global_warp() / per_group * n; top < rows;
         top += step_rows, part += step) {
      if (part >= per_group) {
        part -= per_group;
        top += n;
        if (top >= rows) break;
      }
      // Some lanes test each vertex; the first of them is its leader.
      const int v = part * vertices_per_warp + own;
      long long begin = 0, end = 0;
      bool hit = false, is_leader = false;
      KL_TYPE key = KlLimits<KL_TYPE>::none();
      if (v < n) {
        begin = in.offsets[v];
        end = in.offsets[v + 1];
        if (!in.is_hub(begin, end)) {
          hit = end - begin > kMaxProbedArcs * lanes_per_vertex;
          for (long long i = begin + nth; i < end && !hit; i += lanes_per_vertex) {
            hit = kl_load(fired + top + in.neighbors[i]) != 0;
          }
          is_leader = nth == 0;
          if (is_leader) key = kept(top + v);
        }
      }
      for (unsigned hits = __ballot_sync(kAllLanes, hit); hits != 0;) {
        const int first = (__ffs(hits) - 1) & ~(lanes_per_vertex - 1);
        hits &= ~(((1u << lanes_per_vertex) - 1) << first);
        const long long row = top + __shfl_sync(kAllLanes, v, first);
        Best best{distances[row * kLanes + lane], -1};
        relax(top, __shfl_sync(kAllLanes, begin, first), __shfl_sync(kAllLanes, end, first), best);
        const KL_TYPE low = keep(row, best);
        if (lane == first && low < key) key = low;
      }
      if (is_leader) events |= mark(top + v, key, key);
    }
    return events;
  }

 private:
  // Relaxes these incoming arcs from neighbours that fired.
  __device__ void relax(long long top, long long begin, long long end, Best& best) const {
    const KL_TYPE none = KlLimits<KL_TYPE>::none();
    const int lane = kl_lane();
    const KL_TYPE* const own = distances + top * kLanes + lane;
    for (long long at = begin; at < end; at += 32) {
      const long long arc = at + lane;
      const int u = arc < end ? in.neighbors[arc] : -1;
      const bool on = u >= 0 && kl_load(fired + top + u) != 0;
      const KL_TYPE length = on ? lengths[arc] : 0;
      for (unsigned left = __ballot_sync(kAllLanes, on); left != 0;) {
        int predecessor[kPrefetch], who = 0;
        KL_TYPE along[kPrefetch], value[kPrefetch];
        for (int k = 0; k < kPrefetch; ++k) {
          if (left != 0) who = __ffs(left) - 1;  // or repeat the last one
          left &= left - 1;
          predecessor[k] = __shfl_sync(kAllLanes, u, who);
          along[k] = __shfl_sync(kAllLanes, length, who);
          value[k] = kl_load(own + static_cast<long long>(predecessor[k]) * kLanes);
        }
        for (int k = 0; k < kPrefetch; ++k) {
          const KL_TYPE offered = kInteger && value[k] == none ? none : value[k] + along[k];
          if (offered <= limit) best.take(offered, predecessor[k]);
        }
      }
    }
  }

  // Stores the improved distances of a row; returns the smallest of them.
  __device__ KL_TYPE keep(long long row, const Best& best) const {
    const KL_TYPE none = KlLimits<KL_TYPE>::none();
    const long long at = row * kLanes + kl_lane();
    const bool better = best.predecessor >= 0;
    if (better) {
      kl_store(distances + at, best.value);
      if (predecessors != nullptr) predecessors[at] = best.predecessor;
    }
    return __any_sync(kAllLanes, better) ? lowest(better ? best.value : none) : none;
  }

  // The key of a row, unless it has just fired.
  __device__ KL_TYPE kept(long long row) const {
    return kl_load(fired + row) == 0 ? keys[row] : KlLimits<KL_TYPE>::none();
  }

  // Makes a row fire in the next round, or wait, by the smaller of two keys.
  __device__ int mark(long long row, KL_TYPE a, KL_TYPE b) const {
    const KL_TYPE key = a < b ? a : b;
    const bool waits = key != KlLimits<KL_TYPE>::none();
    const bool fires = waits && static_cast<double>(key) < threshold;
    keys[row] = key;
    next[row] = fires;
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

// One thread per source.
KL_KERNEL(apsp_batched_init, const int* sources, int count, int n, KL_TYPE* distances,
          unsigned char* fired, double increment, double* thresholds) {
  const int source = blockIdx.x * blockDim.x + threadIdx.x;
  if (source == 0) thresholds[0] = thresholds[1] = increment;
  if (source >= count) return;
  const long long vertex = static_cast<long long>(source / kLanes) * n + sources[source];
  distances[vertex * kLanes + source % kLanes] = 0;
  fired[vertex] = 1;
}

// Runs at most `most` rounds. A warp tests vertices_per_warp vertices at once, 4 to 32, for
// neighbours that fired. `fired` is double-buffered. The part_ arrays hold the results of hub
// segments.
KL_KERNEL_BOUNDS(256, kMinBlocks, apsp_batched_rounds, const long long* offsets,
                 const int* neighbors, const KL_TYPE* lengths, const int* hubs, const int* first,
                 const int* segment_hub, int hub_count, int segment, int n, int groups,
                 int vertices_per_warp, KL_TYPE* distances, int* predecessors, KL_TYPE* keys,
                 unsigned char* fired, KL_TYPE* part_values, int* part_predecessors,
                 unsigned char* part_found, KL_TYPE limit, double least, double* thresholds,
                 int most, int* control, unsigned* barrier) {
  if (control[kFinished] != 0) return;
  const Incoming in{offsets, neighbors, hubs, first, segment_hub, hub_count, segment};
  const long long rows = static_cast<long long>(groups) * n;
  Rounds rounds(control, barrier);
  double threshold = thresholds[0], increment = thresholds[1];
  bool finished = false;
  for (int i = 0; i < most && !finished; ++i) {
    rounds.begin();
    const long long parity = rounds.done() % 2;
    const Round round{in,
                      lengths,
                      n,
                      groups,
                      vertices_per_warp,
                      distances,
                      predecessors,
                      keys,
                      fired + parity * rows,
                      fired + (1 - parity) * rows,
                      part_values,
                      part_predecessors,
                      part_found,
                      limit,
                      threshold};
    int events = 0;
    if (hub_count != 0) {
      round.relax_segments();
      rounds.grid_barrier();
      events |= round.join_segments();
    }
    events |= round.relax_vertices();
    const int fires = __syncthreads_or(events & kFires), waits = __syncthreads_or(events & kWaits);
    if (threadIdx.x == 0 && (fires || waits)) {
      rounds.signal((fires ? kFires : 0) | (waits ? kWaits : 0));
    }
    const int events_all = rounds.end();
    finished = events_all == 0;
    if ((events_all & kFires) != 0) {
      increment = least;
    } else {
      threshold += increment;
      increment *= 2;  // the next distance may be far away
    }
  }
  rounds.finish(finished);
  if (blockIdx.x == 0 && threadIdx.x == 0) {
    thresholds[0] = threshold;
    thresholds[1] = increment;
  }
}

// Transposes groups of lanes into rows of the result, 32 x 32 numbers at a time; kThreads threads.
namespace {

template <class T>
__device__ __forceinline__ void transpose(const T* in, T* out, T (*tile)[kLanes + 1], int n,
                                          int count) {
  const int lane = kl_lane(), warp = threadIdx.x / 32;
  const long long chunks = (n + 31) / 32, tiles = chunks * ((count + kLanes - 1) / kLanes);
  for (long long at = blockIdx.x; at < tiles; at += gridDim.x) {
    const long long g = at / chunks;
    const int v = static_cast<int>(at % chunks) * 32;
    for (int i = warp; i < 32 && v + i < n; i += kWarps) {
      tile[i][lane] = in[(g * n + v + i) * kLanes + lane];
    }
    __syncthreads();
    for (int i = warp; i < kLanes && g * kLanes + i < count && v + lane < n; i += kWarps) {
      out[(g * kLanes + i) * n + v + lane] = tile[lane][i];
    }
    __syncthreads();
  }
}

}  // namespace

KL_KERNEL(apsp_batched_write_distances, const KL_TYPE* in, KL_TYPE* out, int n, int count) {
  __shared__ KL_TYPE tile[32][kLanes + 1];
  transpose(in, out, tile, n, count);
}

KL_KERNEL(apsp_batched_write_predecessors, const int* in, int* out, int n, int count) {
  __shared__ int tile[32][kLanes + 1];
  transpose(in, out, tile, n, count);
}
