// Parameters and state of the batched searches, and the relaxation of rows by a warp.
//
// A row is the distances of one vertex from the 32 sources of a group, one for each lane.
#pragma once
#include "common/multi_source.cuh"
#include "common/warp.cuh"
#include "tuning/sssp.cuh"

const int kLanes = 32;
constexpr bool kInteger = static_cast<KL_TYPE>(0.5) == 0;
constexpr int kPrefetchRows = sizeof(KL_TYPE) == 8 ? kLongRowsAtOnce : kRowsAtOnce;

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
  int groups;             // of 32 sources
  int vertices_per_warp;  // 8, 16 or 32
  int rounds;             // of this launch, at most
  KL_TYPE* distances;     // [group][vertex][lane]
  int* predecessors;      // the same, or null
  KL_TYPE* keys;          // [group][vertex]: smallest new distance since it last fired, or no_path
  unsigned char* fired;   // [round % 2][group]: a bit for each vertex
  KL_TYPE* part_values;   // [group][segment][lane]: best distances of hub segments
  int* part_predecessors;
  unsigned char* part_found;  // [group][segment]: whether the segment improves a distance
  KL_TYPE limit;
  double increment;  // of the threshold, at least
  BatchedState* state;
  unsigned* barrier;
};

// ---- one row ------------------------------------------------------------------------------------

// Bytes of the fired bits of a group; whole words, for atomics.
__device__ __forceinline__ long long fired_bytes(int n) { return (n + 31ll) / 32 * 4; }

// The smallest value of all lanes; the bits of non-negative numbers are in their order.
__device__ __forceinline__ KL_TYPE warp_lowest(KL_TYPE value) {
  if constexpr (sizeof(KL_TYPE) == 4) {
    union {
      KL_TYPE number;
      unsigned bits;
    } word = {value};
    word.bits = __reduce_min_sync(kAllLanes, word.bits);
    return word.number;
  } else {
    for (int step = 16; step > 0; step /= 2) {
      const KL_TYPE other = __shfl_xor_sync(kAllLanes, value, step);
      if (other < value) value = other;
    }
    return value;
  }
}

// The best distance of one lane for one vertex.
struct Best {
  KL_TYPE value;
  int predecessor;  // -1: not improved

  __device__ __forceinline__ void take(KL_TYPE sum, int u) {
    if (sum < value) {
      value = sum;
      predecessor = u;
    }
  }
};

// An incoming arc whose tail fired.
struct FiredArc {
  int tail;
  int head;  // relative to the vertices of the warp
  KL_TYPE length;
};

// Relaxes up to 32 arcs in `arcs`, in shared memory, which are in the order of their heads. `best`
// belongs to `head`, the head of the last arc before; finish(head, best) is called for every head
// that is complete.
template <class Finish>
__device__ __forceinline__ void relax_arcs(const FiredArc* arcs, int count, const KL_TYPE* rows,
                                           int first_vertex, KL_TYPE limit, int& head, Best& best,
                                           Finish finish) {
  const KL_TYPE none = KlLimits<KL_TYPE>::none();
  for (int first = 0; first < count; first += kPrefetchRows) {
    KL_TYPE value[kPrefetchRows], old[kPrefetchRows];
    int previous = head;
#pragma unroll
    for (int k = 0; k < kPrefetchRows; ++k) {
      const FiredArc& arc = arcs[min(first + k, count - 1)];  // the last one again
      value[k] = kl_load_cached(rows + static_cast<long long>(arc.tail) * kLanes);
      old[k] = none;
      if (arc.head != previous) {
        previous = arc.head;
        old[k] = kl_load_cached(rows + static_cast<long long>(first_vertex + previous) * kLanes);
      }
    }
#pragma unroll
    for (int k = 0; k < kPrefetchRows; ++k) {
      const FiredArc* const place = arcs + min(first + k, count - 1);
      const FiredArc arc = {kl_load(&place->tail), kl_load(&place->head), kl_load(&place->length)};
      if (arc.head != head) {
        finish(head, best);
        head = arc.head;
        best = {old[k], -1};
      }
      const KL_TYPE offered = kInteger && value[k] == none ? none : value[k] + arc.length;
      if (offered <= limit) best.take(offered, arc.tail);
    }
  }
}
