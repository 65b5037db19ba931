// Betweenness: parameters and state of a batch, and the sums over arcs that both passes share.
//
// Sources form groups of 32, a lane of a warp to each. A row is what one vertex has from the
// sources of one group: row = group * n + vertex. A lane mask has a bit for each source of a group.
#pragma once
#include "betweenness/betweenness_count.cuh"
#include "common/multi_source.cuh"
#include "common/warp.cuh"
#include "tuning/betweenness.cuh"

// ---- shared with the host -----------------------------------------------------------------------

// Kept between launches.
struct BetweennessState {
  int level;     // the next one of the pass; at the end of the forward pass, the last level
  int finished;  // the forward pass
  int overflow;  // a count exceeds kLargestCount
  unsigned long long entries;  // of all levels so far
};

struct BetweennessParams {
  const long long* offsets;  // outgoing arcs
  const int* neighbors;
  const int* hubs;  // see Incoming
  const int* first;
  const int* segment_hub;
  int hub_count;
  const long long* in_offsets;  // incoming arcs
  const int* in_neighbors;
  const int* in_hubs;
  const int* in_first;
  const int* in_segment_hub;
  int in_hub_count;
  int segment;
  int n;
  long long m;
  int groups;
  int levels;                       // of this launch, at most
  int limit;                        // the last level
  int endpoints;                    // whether ends of paths count
  const unsigned char* is_target;   // of each vertex; null if all are
  unsigned* tight;                  // [group][arc]: lanes in which an outgoing arc is tight
  unsigned* in_tight;               // and an incoming one
  int* missing;                     // [row][lane]: tight incoming arcs whose tails are not settled
  unsigned* seen;                   // [row]: lanes that have been in a level
  unsigned* ready;                  // [row]: lanes of the next level; zero between levels
  unsigned* frontier;               // [level % 3][row]: lanes of three levels
  int* entry_row;                   // the rows of each level, one level after the other
  unsigned* entry_lanes;            // and their lanes
  unsigned long long* level_begin;  // the first entry of each level, and the end of the last
  double* paths;                    // [row][lane]: numbers of shortest paths
  int* paths_exponents;
  double* rest;  // [row][lane]: what goes on from here or ends here, for each path that arrives
  int* rest_exponents;
  double* parts;  // [group][segment][lane]: sums of segments of hubs
  int* parts_exponents;
  int* reached;     // [group][lane]: targets
  double* through;  // [row]: sums of all batches
  double* along;    // [group][arc], or null
  BetweennessState* state;
  unsigned* barrier;
};

// ---- which arcs count ---------------------------------------------------------------------------

using Arcs = Incoming;  // of either direction

// Paths of fewest arcs: an arc counts in lanes where it leads from a level to the next.
struct HopPaths {
  const unsigned* tails;  // frontier of the lower level
  const unsigned* heads;  // and of the upper one

  __device__ HopPaths(const BetweennessParams& params, int level)
      : tails(params.frontier + level % 3 * rows(params)),
        heads(params.frontier + (level + 1) % 3 * rows(params)) {}

  static __device__ long long rows(const BetweennessParams& params) {
    return static_cast<long long>(params.groups) * params.n;
  }
  __device__ unsigned incoming(long long, int tail_row) const { return tails[tail_row]; }
  __device__ unsigned outgoing(long long, int head_row) const { return heads[head_row]; }
};

// Paths of least length: an arc counts in lanes where it is tight. Arcs are numbered over all
// groups.
struct TightPaths {
  const unsigned* tight;
  const unsigned* in_tight;

  __device__ TightPaths(const BetweennessParams& params, int)
      : tight(params.tight), in_tight(params.in_tight) {}

  __device__ unsigned incoming(long long arc, int) const { return in_tight[arc]; }
  __device__ unsigned outgoing(long long arc, int) const { return tight[arc]; }
};

// ---- rows and their arcs ------------------------------------------------------------------------

// What both passes know of a level.
template <class Paths>
struct Level {
  const BetweennessParams& params;
  const Arcs out, in;
  const Paths paths;
  const CountRows counts, rest, parts;
  const int level;

  __device__ Level(const BetweennessParams& p, int at)
      : params(p),
        out{p.offsets, p.neighbors, p.hubs, p.first, p.segment_hub, p.hub_count, p.segment},
        in{p.in_offsets,     p.in_neighbors, p.in_hubs, p.in_first,
           p.in_segment_hub, p.in_hub_count, p.segment},
        paths(p, at),
        counts{p.paths, p.paths_exponents},
        rest{p.rest, p.rest_exponents},
        parts{p.parts, p.parts_exponents},
        level(at) {}

  __device__ unsigned* frontier(int of_level) const {
    return params.frontier + of_level % 3 * HopPaths::rows(params);
  }

  // Removes a level from the frontiers: its masks are not needed any more.
  __device__ void clear_frontier(int of_level, unsigned long long begin,
                                 unsigned long long end) const {
    const unsigned long long step = static_cast<unsigned long long>(gridDim.x) * blockDim.x;
    for (unsigned long long i = begin + blockIdx.x * blockDim.x + threadIdx.x; i < end; i += step) {
      frontier(of_level)[params.entry_row[i]] = 0;
    }
  }

  __device__ static bool has(unsigned lanes) { return (lanes >> kl_lane() & 1) != 0; }

  __device__ double target_weight(int v) const {
    return params.is_target == nullptr || params.is_target[v] != 0 ? 1 : 0;
  }

  // Calls visit(k, count) for those of 32 arcs, a lane to each, that have lanes in a mask, in their
  // order: `count` is that of the row at the other end of the k-th arc, zero in other lanes.
  // Several rows are loaded at once.
  template <class Visit>
  __device__ void for_rows(const CountRows& rows, unsigned own_mask, int own_row,
                           Visit visit) const {
    unsigned left = __ballot_sync(kAllLanes, own_mask != 0);
    while (left != 0) {
      int arc[kPrefetch];
      Count count[kPrefetch];
#pragma unroll
      for (int i = 0; i < kPrefetch; ++i, left &= left - 1) {
        arc[i] = __ffs(left) - 1;  // -1 after the last one
        if (arc[i] < 0) continue;
        const bool counted = has(__shfl_sync(kAllLanes, own_mask, arc[i]));
        const int row = __shfl_sync(kAllLanes, own_row, arc[i]);
        count[i] = counted ? rows.load(row) : make_count(0);
      }
#pragma unroll
      for (int i = 0; i < kPrefetch; ++i) {
        if (arc[i] >= 0) visit(arc[i], count[i]);
      }
    }
  }

  // The sum over all segments of a hub, in their order.
  __device__ Count join_segments(const Arcs& arcs, int group, int v) const {
    const int h = arcs.hub(v);
    const long long top = static_cast<long long>(group) * arcs.segments();
    Count sum = make_count(0);
    for (int s = arcs.first[h]; s < arcs.first[h + 1]; ++s) add(sum, parts.load(top + s));
    return sum;
  }

  // Calls visit(item, group, v, lanes, begin, end) for the segments of hubs that have lanes in a
  // mask, a warp for each. Few have: the lanes look for them, 32 at a time.
  template <class Visit>
  __device__ void for_segments(const Arcs& arcs, const unsigned* masks, Visit visit) const {
    const long long segments = arcs.segments(), items = params.groups * segments;
    const long long step = kl_total_warps();
    for (long long first = kl_global_warp(); first < items; first += 32 * step) {
      const long long own = first + kl_lane() * step;
      unsigned mask = 0;
      int row = 0;
      if (own < items) {
        const int group = static_cast<int>(own / segments);
        row = group * params.n + arcs.hubs[arcs.segment_hub[own % segments]];
        mask = masks[row];
      }
      for (unsigned left = __ballot_sync(kAllLanes, mask != 0); left != 0; left &= left - 1) {
        const int of = __ffs(left) - 1;
        const long long item = first + of * step;
        const int group = static_cast<int>(item / segments), s = static_cast<int>(item % segments);
        const int v = __shfl_sync(kAllLanes, row, of) - group * params.n;
        const unsigned lanes = __shfl_sync(kAllLanes, mask, of);
        long long begin, end;
        arcs.segment_arcs(s, arcs.segment_hub[s], &begin, &end);
        visit(item, group, v, lanes, begin, end);
      }
    }
  }
};

// The sum over all lanes, in a fixed order.
__device__ __forceinline__ double warp_sum(double value) {
#pragma unroll
  for (int step = 16; step > 0; step /= 2) value += __shfl_xor_sync(kAllLanes, value, step);
  return value;
}
