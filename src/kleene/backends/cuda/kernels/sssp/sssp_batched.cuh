// The batched searches: parameters and state, rows of distances, and one round.
//
// A row is the distances of one vertex from the sources of a group. Each lane of a warp holds 16
// bytes of it, so that a row is loaded by one instruction: 128 sources of 4 bytes, or 64 of 8.
#pragma once
#include "common/multi_source.cuh"
#include "common/warp.cuh"
#include "tuning/sssp.cuh"

const int kLaneBytes = 16;  // of a row
constexpr int kPerLane = kLaneBytes / sizeof(KL_TYPE);
constexpr int kSources = 32 * kPerLane;  // of a group

// ---- shared with the host -----------------------------------------------------------------------

// Kept between launches.
struct BatchedState {
  int rounds_done;   // the control words of Rounds
  int finished;      // no row fires or waits
  int targets_left;  // not used
  int events[3];
  double threshold;  // rows with a smaller new distance fire
  double increment;  // of the threshold, the next time that no row fires
};

struct BatchedParams {
  const long long* offsets;  // incoming arcs
  const int* neighbors;
  const KL_TYPE* lengths;
  const int* hubs;         // vertices with more than `segment` incoming arcs
  const int* first;        // segment of each hub; then the number of segments
  const int* segment_hub;  // hub of each segment
  int hub_count;
  int segment;
  int n;
  int groups;
  int vertices_per_warp;  // 8, 16 or 32
  int rounds;             // of this launch, at most
  KL_TYPE* distances;     // [group][vertex][source]
  int* predecessors;      // the same, or null
  KL_TYPE* keys;          // [group][vertex]: smallest new distance since it last fired, or no_path
  unsigned char* fired;   // [round % 2][group]: a bit for each vertex
  KL_TYPE* part_values;   // [group][segment][source]: best distances of hub segments
  int* part_predecessors;
  unsigned char* part_found;  // [group][segment]: whether the segment improves a distance
  KL_TYPE limit;
  double increment;  // of the threshold, at least
  BatchedState* state;
  unsigned* barrier;
};

// Bytes of the fired bits of a group; whole words, for atomics.
__device__ __forceinline__ long long fired_bytes(int n) { return (n + 31ll) / 32 * 4; }

// ---- rows ---------------------------------------------------------------------------------------

// Integers are added and compared without sign: no_path is the largest one, and no_path plus a
// length does not wrap.
template <class T>
struct KlUnsigned {
  using Type = T;
};
template <>
struct KlUnsigned<int> {
  using Type = unsigned;
};
template <>
struct KlUnsigned<long long> {
  using Type = unsigned long long;
};
using Distance = KlUnsigned<KL_TYPE>::Type;

// The part of a row that a lane holds.
struct alignas(kLaneBytes) RowPart {
  Distance values[kPerLane];
};

// The best distances found for one vertex; with predecessors if kPaths.
template <bool kPaths>
struct Best {
  RowPart row;
  int predecessors[kPaths ? kPerLane : 1];

  __device__ __forceinline__ void clear() {
#pragma unroll
    for (int i = 0; i < kPerLane; ++i) row.values[i] = KlLimits<KL_TYPE>::none();
  }

  __device__ __forceinline__ void take(int i, Distance value, int predecessor) {
    if constexpr (kPaths) {
      if (value < row.values[i]) predecessors[i] = predecessor;
    }
    row.values[i] = min(row.values[i], value);
  }

  // Relaxes the arcs from a tail with these distances.
  __device__ __forceinline__ void relax(const RowPart& tail_row, Distance length, int tail) {
#pragma unroll
    for (int i = 0; i < kPerLane; ++i) take(i, tail_row.values[i] + length, tail);
  }
};

// The smallest value of all lanes; the bits of non-negative numbers are in their order.
__device__ __forceinline__ Distance warp_lowest(Distance value) {
  if constexpr (sizeof(Distance) == 4) {
    union {
      Distance number;
      unsigned bits;
    } word = {value};
    word.bits = __reduce_min_sync(kAllLanes, word.bits);
    return word.number;
  } else {
    for (int step = 16; step > 0; step /= 2) {
      value = min(value, __shfl_xor_sync(kAllLanes, value, step));
    }
    return value;
  }
}

// ---- arcs ---------------------------------------------------------------------------------------

// An incoming arc whose tail fired: 16 bytes, which one instruction loads.
struct alignas(16) FiredArc {
  int tail;
  int head;                               // relative to the vertices of the warp
  Distance length[8 / sizeof(Distance)];  // the first counts
};

// Relaxes up to 32 arcs in `arcs`, in shared memory, which are in the order of their heads. `best`
// belongs to `head`, the head of the last arc before; finish(head, best) is called for every head
// that is complete. If kOneHead, all arcs have the same head. `rows` are those of the group, the
// part of this lane.
template <bool kOneHead, bool kPaths, class Finish>
__device__ __forceinline__ void relax_arcs(const FiredArc* arcs, int count, const RowPart* rows,
                                           int& head, Best<kPaths>& best, Finish finish) {
  for (int first = 0; first < count; first += kRowsAtOnce) {
    FiredArc arc[kRowsAtOnce];
    RowPart row[kRowsAtOnce];
#pragma unroll
    for (int k = 0; k < kRowsAtOnce; ++k) {
      arc[k] = arcs[min(first + k, count - 1)];  // the last one again
      row[k] = kl_load_cached(rows + static_cast<long long>(arc[k].tail) * 32);
    }
#pragma unroll
    for (int k = 0; k < kRowsAtOnce; ++k) {
      if (!kOneHead && arc[k].head != head) {
        finish(head, best);
        head = arc[k].head;
        best.clear();
      }
      best.relax(row[k], arc[k].length[0], arc[k].tail);
    }
  }
}

// ---- one round: hubs, the other vertices, and who fires next ------------------------------------

constexpr int kFires = 1, kWaits = 2;  // events of a round

template <bool kPaths>
struct Round {
  const BatchedParams& params;
  const Incoming in;
  const unsigned char* fired;
  unsigned char* next;
  double threshold;
  FiredArc* arcs;  // of this warp, in shared memory

  // ---- 1. hubs ----

  // Every segment stores its best distances.
  __device__ __forceinline__ void relax_segments() const {
    const long long segments = in.segments();
    for (long long item = kl_global_warp(); item < params.groups * segments;
         item += kl_total_warps()) {
      const long long group = item / segments;
      const int lane = kl_lane(), s = static_cast<int>(item % segments), h = in.segment_hub[s];
      Best<kPaths> best;
      best.clear();
      long long begin, end;
      in.segment_arcs(s, h, &begin, &end);
      int head = 0;
      for (long long at = begin; at < end; at += 32) {
        const int count = list_fired(group, at + lane < end ? at + lane : -1, 0);
        relax_arcs<true>(arcs, count, rows_of(group), head, best, [](int, const Best<kPaths>&) {});
      }
      store_segment(item, kl_load_cached(rows_of(group) + in.hubs[h] * 32ll), best);
    }
  }

  // Stores what improves a distance of the hub.
  __device__ __forceinline__ void store_segment(long long item, const RowPart& old,
                                                const Best<kPaths>& best) const {
    bool better = false;
#pragma unroll
    for (int i = 0; i < kPerLane; ++i) better |= best.row.values[i] < old.values[i];
    const bool any = __any_sync(kAllLanes, better);
    const long long place = item * kSources + kl_lane() * kPerLane;
    if (any) {
      *reinterpret_cast<RowPart*>(params.part_values + place) = best.row;
      if constexpr (kPaths) {
#pragma unroll
        for (int i = 0; i < kPerLane; ++i) {
          params.part_predecessors[place + i] = best.predecessors[i];
        }
      }
    }
    if (kl_lane() == 0) params.part_found[item] = any;
  }

  // The best distances of a hub, from its segments.
  __device__ __forceinline__ Best<kPaths> join_segments(long long group, int v) const {
    const int lane = kl_lane(), h = in.hub(v);
    const long long top = group * in.segments(), end = top + in.first[h + 1];
    Best<kPaths> best;
    best.clear();
    for (long long at = top + in.first[h]; at < end; at += 32) {
      const bool found = at + lane < end && params.part_found[at + lane] != 0;
      for (unsigned left = __ballot_sync(kAllLanes, found); left != 0; left &= left - 1) {
        const long long place = (at + __ffs(left) - 1) * kSources + lane * kPerLane;
        const RowPart row = *reinterpret_cast<const RowPart*>(params.part_values + place);
#pragma unroll
        for (int i = 0; i < kPerLane; ++i) {
          best.take(i, row.values[i], kPaths ? params.part_predecessors[place + i] : 0);
        }
      }
    }
    return best;
  }

  // ---- 2. vertices ----

  // A warp takes some vertices of a group at once; their arcs are shared by its lanes. Returns
  // events.
  __device__ __forceinline__ int relax_vertices() const {
    const int per_group = (params.n - 1) / params.vertices_per_warp + 1;
    const long long items = static_cast<long long>(params.groups) * per_group;
    int events = 0;
    for (long long item = kl_global_warp(); item < items; item += kl_total_warps()) {
      const long long group = item / per_group;
      const int part = static_cast<int>(item - group * per_group);
      events |= relax_some(group, part * params.vertices_per_warp);
    }
    return events;
  }

  // Relaxes the vertices from first_vertex on; lane i holds the key of the i-th one.
  __device__ __forceinline__ int relax_some(long long group, int first_vertex) const {
    const int lane = kl_lane(), v = first_vertex + lane;
    const bool active = lane < params.vertices_per_warp && v < params.n;
    const long long begin = active ? __ldg(in.offsets + v) : 0;
    const long long end = active ? __ldg(in.offsets + v + 1) : 0;
    const bool is_hub = in.is_hub(begin, end);
    const int degree = is_hub ? 0 : static_cast<int>(end - begin);
    Distance key = KlLimits<KL_TYPE>::none();  // a row that has just fired has none
    if (active && !has_fired(group, v)) key = params.keys[group * params.n + v];

    const auto finish = [&](int head, const Best<kPaths>& best) {
      if (head < 0) return;
      const Distance low = store_row(group, first_vertex + head, best);
      if (lane == head && low < key) key = low;
    };
    const int sum = kl_warp_scan(degree), total = __shfl_sync(kAllLanes, sum, 31);
    const long long origin = begin - (sum - degree);
    int head = -1;
    Best<kPaths> best;
    best.clear();
    for (int i = lane; i - lane < total; i += 32) {
      const int of = kl_warp_upper_bound(sum, i);
      const long long arc = __shfl_sync(kAllLanes, origin, of) + i;
      const int count = list_fired(group, i < total ? arc : -1, of);
      relax_arcs<false>(arcs, count, rows_of(group), head, best, finish);
    }
    finish(head, best);
    for (unsigned left = __ballot_sync(kAllLanes, is_hub); left != 0; left &= left - 1) {
      const int of = __ffs(left) - 1;
      finish(of, join_segments(group, first_vertex + of));
    }
    return mark(group, v, active, key);
  }

  // Stores the improved distances of a row; returns the smallest of them.
  __device__ __forceinline__ Distance store_row(long long group, int v,
                                                const Best<kPaths>& best) const {
    const RowPart old = kl_load_cached(rows_of(group) + v * 32ll);
    const long long place = (group * params.n + v) * kSources + kl_lane() * kPerLane;
    const Distance limit = params.limit;
    Distance low = KlLimits<KL_TYPE>::none();
#pragma unroll
    for (int i = 0; i < kPerLane; ++i) {
      const Distance value = best.row.values[i];
      if (!(value < old.values[i]) || value > limit) continue;
      low = min(low, value);
      kl_store(params.distances + place + i, static_cast<KL_TYPE>(value));
      if constexpr (kPaths) params.predecessors[place + i] = best.predecessors[i];
    }
    const bool any = __any_sync(kAllLanes, low != KlLimits<KL_TYPE>::none());
    return any ? warp_lowest(low) : low;
  }

  // ---- 3. who fires ----

  // Makes rows fire in the next round, or wait, by their keys; returns events.
  __device__ __forceinline__ int mark(long long group, int v, bool active, Distance key) const {
    const int lane = kl_lane();
    const bool waits = active && key != KlLimits<KL_TYPE>::none();
    const bool fires = waits && static_cast<double>(key) < threshold;
    if (active) params.keys[group * params.n + v] = key;
    const unsigned bits = __ballot_sync(kAllLanes, fires);
    if (active && lane % 8 == 0) {
      next[group * fired_bytes(params.n) + v / 8] = static_cast<unsigned char>(bits >> lane);
    }
    return fires ? kFires : waits ? kWaits : 0;
  }

  __device__ __forceinline__ bool has_fired(long long group, int v) const {
    return (fired[group * fired_bytes(params.n) + v / 8] >> (v % 8) & 1) != 0;
  }

  // Lists the arcs of all lanes whose tails fired, in shared memory; -1 is no arc.
  __device__ __forceinline__ int list_fired(long long group, long long arc, int head) const {
    const int tail = arc >= 0 ? __ldg(in.neighbors + arc) : 0;
    const bool on = arc >= 0 && has_fired(group, tail);
    const unsigned lanes = __ballot_sync(kAllLanes, on);
    if (lanes == 0) return 0;
    __syncwarp();  // all lanes have read the last arcs
    if (on) {
      const Distance length = __ldg(params.lengths + arc);
      arcs[kl_rank(lanes)] = {tail, head, {length}};
    }
    __syncwarp();
    return __popc(lanes);
  }

  // This lane's parts of the rows of a group; that of the next vertex is 32 on.
  __device__ __forceinline__ const RowPart* rows_of(long long group) const {
    return reinterpret_cast<const RowPart*>(params.distances) + group * params.n * 32 + kl_lane();
  }
};
