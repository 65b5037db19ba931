// Parameters and state of the batched searches, and rows of distances.
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
