// BFS with frontier queues: a launch has a thread per vertex of the frontier, and they fill the
// next queue. After Hwu, Kirk and El Hajj, Programming Massively Parallel Processors, 4th edition,
// sections 15.5 to 15.7: one global queue; a queue per block in shared memory, appended to the
// global one at the end; a single block that runs many levels.
//
// The one thread that changes a distance from -1 enqueues the vertex and sets its predecessor.
#include "classic/bfs.cuh"

namespace {

// Calls put(v) for each neighbour of u that this thread visits first.
template <class Put>
__device__ __forceinline__ void expand(const LevelParams& params, int u, int level, Put put) {
  const long long end = params.offsets[u + 1ll];
  for (long long i = params.offsets[u]; i < end; ++i) {
    const int v = params.neighbors[i];
    int* const distance = params.distances + v;
    if (kl_load(distance) >= 0 || atomicCAS(distance, -1, level) >= 0) continue;
    if (params.predecessors != nullptr) params.predecessors[v] = u;
    put(v);
  }
}

}  // namespace

// One thread.
KL_KERNEL(bfs_frontiers_init, int source, int* distances, int* queue, int* tail,
          int* previous_tail) {
  distances[source] = 0;
  queue[0] = source;
  *tail = *previous_tail = 0;
}

// A thread per vertex of the queue. *tail is zero before, and the size of the next queue after;
// *previous_tail, used by the previous launch, is cleared for the next one.
KL_KERNEL(bfs_frontier_level, const LevelParams params, const int* queue, int size, int level,
          int* next, int* tail, int* previous_tail) {
  const long long i = global_thread();
  if (i == 0) *previous_tail = 0;
  if (i >= size) return;
  expand(params, queue[i], level, [&](int v) { next[atomicAdd(tail, 1)] = v; });
}

// The same with a queue of `capacity` entries in shared memory per block. Vertices that do not fit
// go to the global queue one by one.
KL_KERNEL(bfs_privatized_level, const LevelParams params, const int* queue, int size, int level,
          int* next, int* tail, int* previous_tail, int capacity) {
  KL_DYNAMIC_SHARED(int, local_queue);
  __shared__ int count, first;
  const long long i = global_thread();
  if (i == 0) *previous_tail = 0;
  if (threadIdx.x == 0) count = 0;
  __syncthreads();
  if (i < size) {
    expand(params, queue[i], level, [&](int v) {
      const int slot = atomicAdd(&count, 1);
      if (slot < capacity) {
        local_queue[slot] = v;
      } else {
        next[atomicAdd(tail, 1)] = v;
      }
    });
  }
  __syncthreads();
  const int held = min(count, capacity);
  if (threadIdx.x == 0 && held > 0) first = atomicAdd(tail, held);
  __syncthreads();
  for (int k = threadIdx.x; k < held; k += blockDim.x) next[first + k] = local_queue[k];
}

// One block runs levels while they fit into `capacity`, at most `levels` of them. The last level is
// in `next`, complete even if it did not fit; its size and number are in `last`.
KL_KERNEL(bfs_single_block_levels, const LevelParams params, const int* queue, int size, int level,
          int levels, int* next, int* last, int capacity) {
  KL_DYNAMIC_SHARED(int, queues);
  // Three counters alternate: one counts, one may still be read by slow threads, one is cleared. So
  // a level has a single barrier.
  __shared__ int counts[3];
  int* current = queues;
  int* next_local = queues + capacity;
  for (int k = threadIdx.x; k < size; k += blockDim.x) current[k] = queue[k];
  if (threadIdx.x == 0) counts[0] = 0;
  __syncthreads();
  const int deepest = level + levels;
  for (int counter = 0;; counter = (counter + 1) % 3) {
    if (threadIdx.x == 0) counts[(counter + 1) % 3] = 0;
    ++level;
    for (int k = threadIdx.x; k < size; k += blockDim.x) {
      expand(params, current[k], level, [&](int v) {
        const int slot = atomicAdd(counts + counter, 1);
        (slot < capacity ? next_local : next)[slot] = v;
      });
    }
    __syncthreads();
    size = counts[counter];
    if (size == 0 || size > capacity || level == deepest) break;
    int* const previous_tail = current;
    current = next_local;
    next_local = previous_tail;
  }
  for (int k = threadIdx.x; k < min(size, capacity); k += blockDim.x) next[k] = next_local[k];
  if (threadIdx.x == 0) {
    last[0] = size;
    last[1] = level;
  }
}
