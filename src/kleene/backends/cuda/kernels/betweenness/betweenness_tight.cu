// Betweenness with lengths: the arcs that are tight, distance[tail] + length == distance[head].
//
// Distances come from sssp_batched: [batch group][vertex][source], with as many sources in a group
// of the batch as 512 bytes hold. A warp compares the row of a vertex with those of its neighbours,
// a lane to each of 32 sources, and stores a lane mask for each arc: for outgoing arcs, and for
// incoming ones, which it counts as well.
#include "common/multi_source.cuh"
#include "common/warp.cuh"

struct TightParams {
  const long long* offsets;  // of one direction
  const int* neighbors;
  const KL_TYPE* lengths;
  const int* hubs;  // see Incoming
  const int* first;
  const int* segment_hub;
  int hub_count;
  int segment;
  int n;
  long long m;
  int groups;                // of 32 sources
  int width;                 // sources of a group of the batch
  const KL_TYPE* distances;  // [batch group][vertex][source]
  unsigned* tight;           // [group][arc]
  int* missing;              // [row][lane]: tight arcs are added; null for outgoing arcs
};

namespace {

// The rows of one group of 32 sources.
struct GroupRows {
  const TightParams& params;
  const long long group;

  __device__ KL_TYPE distance(int v) const {
    const long long source = group * 32;
    const long long row = source / params.width * params.n + v;
    return params.distances[row * params.width + source % params.width + kl_lane()];
  }

  // Whether an arc is tight in this lane; no_path is not a distance.
  __device__ bool is_tight(KL_TYPE tail, KL_TYPE length, KL_TYPE head) const {
    if (tail == KlLimits<KL_TYPE>::none() || head == KlLimits<KL_TYPE>::none()) return false;
    return tail + length == head;
  }

  __device__ void mark(int v, long long begin, long long end) const {
    const KL_TYPE own = distance(v);
    int count = 0;
    for (long long at = begin; at < end; at += 32) {
      const int size = static_cast<int>(min(end - at, 32ll));
      unsigned mine = 0;  // the mask of arc at + lane
      for (int k = 0; k < size; ++k) {
        const KL_TYPE other = distance(__ldg(params.neighbors + at + k));
        const KL_TYPE length = __ldg(params.lengths + at + k);
        const bool tight =
            params.missing != nullptr ? is_tight(other, length, own) : is_tight(own, length, other);
        const unsigned lanes = __ballot_sync(kAllLanes, tight);
        if (static_cast<int>(kl_lane()) == k) mine = lanes;
        count += tight ? 1 : 0;
      }
      const int lane = static_cast<int>(kl_lane());
      if (lane < size) params.tight[group * params.m + at + lane] = mine;
    }
    if (params.missing != nullptr && count != 0) {
      atomicAdd(params.missing + (group * params.n + v) * 32 + kl_lane(), count);
    }
  }
};

}  // namespace

// A warp for each row that is no hub, and for each segment of a hub. Counts are zero before.
KL_KERNEL_BOUNDS(kThreads, 4, betweenness_tight_arcs, const TightParams params) {
  const Incoming arcs{params.offsets,     params.neighbors, params.hubs,   params.first,
                      params.segment_hub, params.hub_count, params.segment};
  const long long segments = arcs.segments(), items = params.n + segments;
  for (long long i = kl_global_warp(); i < params.groups * items; i += kl_total_warps()) {
    const long long group = i / items, item = i % items;
    const GroupRows rows{params, group};
    long long begin, end;
    int v;
    if (item < params.n) {
      v = static_cast<int>(item);
      begin = params.offsets[v], end = params.offsets[v + 1];
      if (arcs.is_hub(begin, end)) continue;
    } else {
      const int s = static_cast<int>(item - params.n), h = arcs.segment_hub[s];
      v = arcs.hubs[h];
      arcs.segment_arcs(s, h, &begin, &end);
    }
    rows.mark(v, begin, end);
  }
}

// Stores the number of some row and lane whose arcs were not all settled, plus one, in *found: it
// lies on a cycle of arcs that add nothing to a distance, or behind one.
KL_KERNEL(betweenness_tight_unsettled, const int* missing, long long count,
          unsigned long long* found) {
  const long long step = gridDim.x * static_cast<long long>(blockDim.x);
  for (long long i = blockIdx.x * static_cast<long long>(blockDim.x) + threadIdx.x; i < count;
       i += step) {
    if (missing[i] > 0) atomicMax(found, static_cast<unsigned long long>(i + 1));
  }
}
