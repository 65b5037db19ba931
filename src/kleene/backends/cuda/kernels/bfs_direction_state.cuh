// What the kernels of bfs_direction.cu share with each other and with the host.
#pragma once
#include "common/warp.cuh"
#include "tuning/bfs.cuh"

const int kRunning = 0;
const int kExhausted = 1;  // every reachable vertex is visited
const int kEarlyExit = 2;  // stopped at the limit or the targets

// State between launches.
struct State {
  unsigned long long arcs;          // of the frontier; an estimate unless it is queued
  unsigned long long visited_arcs;  // of all visited vertices; an estimate
  int level;                        // of the frontier
  int done;
  int queued;        // whether the frontier is in the queue
  int writers;       // lists of the queue
  int longest;       // longest list
  int large;         // whether entries are to be split into ranges
  int seen_index;    // index of the current bitmap
  int targets_left;  // targets not yet visited
};

// The barrier of bfs_direction_narrow: two words alternate (kl_grid_barrier_add).
struct NarrowBarrier {
  unsigned long long words[2];
  unsigned long long values[2];  // of the words after their last use
  int index;                     // of the word to use next
};

// Totals of a level. Three alternate: one is read, one is added to, one is cleared.
struct Totals {
  unsigned long long arcs;  // outgoing arcs of the new frontier
  int found;                // vertices of the new frontier
  int longest;              // list of a block
  int large;                // vertices to split into ranges
  int ranges;               // of this level
  int targets;
};

// Parameters of a search; source and limit change from one to the next.
struct DirectionParams {
  const long long* offsets;  // outgoing arcs
  const int* neighbors;
  const long long* in_offsets;  // incoming arcs; null if no level can pull
  const int* in_neighbors;
  const unsigned* unreachable;  // a bit per vertex without incoming arcs
  const unsigned* target_bits;  // a bit per target; null without targets
  int* distances;
  int* predecessors;  // or null
  unsigned* bits;     // two bitmaps of visited vertices
  int4* entries;      // two queues of queue_capacity entries
  int* counts;        // lengths of the lists of each queue, max_lists
  int4* ranges;       // of vertices with many arcs, queue_capacity
  int* visited;       // number of visited vertices with arcs
  Totals* totals;     // three
  State* state;
  unsigned* barrier;  // of bfs_direction_wide
  NarrowBarrier* narrow_barrier;
  long long arcs;  // of the graph
  int n;
  int reachable;  // vertices with incoming arcs
  int mean_degree;
  int targets;  // how many there are
  int source;
  int limit;            // level at which the search ends
  int levels;           // of a launch at most
  int narrow_arcs;      // frontiers with fewer arcs suit bfs_direction_narrow
  int max_narrow_arcs;  // it returns when a frontier has more
  int pull_cost;        // of an arc, in sixteenths of that of a pushed arc
  int max_lists;
  int queue_capacity;
};

__device__ __forceinline__ int kl_words(const DirectionParams& params) {
  return (params.n + 31) / 32;
}

__device__ __forceinline__ bool kl_has(const unsigned* bits, int v) {
  return (bits[v >> 5] >> (v & 31)) & 1;
}

// Whether the search ends, and why.
__device__ __forceinline__ int kl_outcome(const DirectionParams& params, const State& state) {
  const bool all_targets = params.target_bits != nullptr && state.targets_left == 0;
  return state.level >= params.limit || all_targets ? kEarlyExit
         : state.arcs == 0                          ? kExhausted
                                                    : kRunning;
}
