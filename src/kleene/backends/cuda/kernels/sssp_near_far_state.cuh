// What the host and the near-far search for wide frontiers share: parameters, state and totals.
#pragma once
#include "sssp_near_far.cuh"

// Totals of a round. Three alternate: one is read, one is added to, one is cleared.
struct Totals {
  unsigned long long arcs;      // relaxed
  unsigned long long waiting;   // near entries + far entries * 2^32
  unsigned long long farthest;  // settled target
  unsigned unsettled;           // targets
  unsigned longest;             // list of a block
  unsigned near_spills;         // near vertices with a spill bit only
  unsigned far_spills;
};

// State of the search, kept in memory between launches.
struct State {
  unsigned long long threshold;
  unsigned long long horizon;      // largest final distance, at an early exit
  unsigned long long arcs;         // relaxed
  unsigned long long bucket_arcs;  // of the current bucket
  double delta;
  unsigned started;
  unsigned done;  // kRunning, kExhausted or kEarlyExit
  unsigned round;
  unsigned bucket;  // number of the bucket
  unsigned near_spills;
  unsigned far_spills;
  unsigned far;      // vertices at the start of the bucket
  unsigned checked;  // whether the last round checked the targets
  unsigned spills;   // in total
};

struct Control {
  State state;
  Totals totals[3];
  unsigned long long nearest[3];  // far distance, complemented; alternate as the totals do
  unsigned long long expanded;    // entries
  unsigned long long overflow;    // whether a sum overflowed
};

struct NearFarParams {
  const long long* offsets;  // outgoing arcs
  const int* neighbors;
  const KL_TYPE* lengths;
  Word* distances;
  int4* entries;  // two queues of all blocks
  int* counts;    // entries of each block, in each queue
  int* far_vertices;
  Word* far_distances;
  int* far_counts;    // of each block
  unsigned* spilled;  // a bit for each vertex
  const int* targets;
  Control* control;
  unsigned* barrier;
  int n;
  int capacity;      // of the queue of a block
  int far_capacity;  // of the far list of a block
  int target_count;
  int degree_mean;
  int rounds;  // of a launch, at most
  int source;
  unsigned long long limit;        // the largest distance
  unsigned long long low;          // delta is doubled if a bucket relaxes fewer arcs
  unsigned long long high;         // delta is halved if it relaxes more
  unsigned long long launch_arcs;  // after which a launch returns
  double least;                    // delta
  double most;
};

__device__ __forceinline__ Totals load_totals(const Totals* totals) {
  return {kl_load(&totals->arcs),      kl_load(&totals->waiting), kl_load(&totals->farthest),
          kl_load(&totals->unsettled), kl_load(&totals->longest), kl_load(&totals->near_spills),
          kl_load(&totals->far_spills)};
}
