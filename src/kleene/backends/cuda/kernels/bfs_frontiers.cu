// BFS with frontiers: a launch has threads for the vertices of the last level alone, and they make
// the next level's queue. After Hwu, Kirk and El Hajj, Programming Massively Parallel Processors,
// 4th edition, sections 15.5 to 15.7: one queue for all; a queue for each block in shared memory,
// joined to the common one at the end; a single block that goes through many levels by itself.
//
// A thread that changes a depth from -1 is the only one to do so: it puts the vertex into a queue
// and says whose neighbour it is.
#include "bfs.cuh"

namespace {

// Calls put(v) for each neighbour of u that this thread is the first to reach.
template <class Put>
__device__ __forceinline__ void expand(int u, int depth, const long long* offsets,
                                       const int* neighbors, int* depths, int* parents, Put put) {
  const long long end = offsets[u + 1ll];
  for (long long i = offsets[u]; i < end; ++i) {
    const int v = neighbors[i];
    if (kl_load(depths + v) >= 0 || atomicCAS(depths + v, -1, depth) >= 0) continue;
    if (parents != nullptr) parents[v] = u;
    put(v);
  }
}

}  // namespace

// One thread.
KL_KERNEL(bfs_frontiers_begin, int source, int* depths, int* queue, int* tail, int* spent) {
  depths[source] = 0;
  queue[0] = source;
  *tail = *spent = 0;
}

// A thread for each of the `size` vertices in the queue. *tail is zero before, and how many were
// found after; *spent, which the launch before counted with, becomes zero for the next one.
KL_KERNEL(bfs_frontier_level, const long long* offsets, const int* neighbors, const int* queue,
          int size, int depth, int* depths, int* parents, int* next, int* tail, int* spent) {
  const long long i = own_index();
  if (i == 0) *spent = 0;
  if (i >= size) return;
  expand(queue[i], depth, offsets, neighbors, depths, parents,
         [&](int v) { next[atomicAdd(tail, 1)] = v; });
}

// The same with a queue of `capacity` in the shared memory of each block. What does not fit goes to
// the common queue one by one.
KL_KERNEL(bfs_privatized_level, const long long* offsets, const int* neighbors, const int* queue,
          int size, int depth, int* depths, int* parents, int* next, int* tail, int* spent,
          int capacity) {
  KL_DYNAMIC_SHARED(int, own);
  __shared__ int count, first;
  const long long i = own_index();
  if (i == 0) *spent = 0;
  if (threadIdx.x == 0) count = 0;
  __syncthreads();
  if (i < size) {
    expand(queue[i], depth, offsets, neighbors, depths, parents, [&](int v) {
      const int at = atomicAdd(&count, 1);
      if (at < capacity) {
        own[at] = v;
      } else {
        next[atomicAdd(tail, 1)] = v;
      }
    });
  }
  __syncthreads();
  const int held = min(count, capacity);
  if (threadIdx.x == 0 && held > 0) first = atomicAdd(tail, held);
  __syncthreads();
  for (int k = threadIdx.x; k < held; k += blockDim.x) next[first + k] = own[k];
}

// One block: goes through levels as long as they fit into `capacity`, at most `levels` of them.
// Leaves the last one in next, and says how large and how deep it is. A level that does not fit is
// whole in next all the same, for a launch of many blocks to go on from.
KL_KERNEL(bfs_single_block_levels, const long long* offsets, const int* neighbors, const int* queue,
          int size, int depth, int levels, int* depths, int* parents, int* next, int* last_size,
          int* last_depth, int capacity) {
  KL_DYNAMIC_SHARED(int, queues);
  // Of three counters one counts, one may still be read by slow threads, one is made ready: so a
  // level has one barrier.
  __shared__ int counts[3];
  int* current = queues;
  int* fresh = queues + capacity;
  for (int k = threadIdx.x; k < size; k += blockDim.x) current[k] = queue[k];
  if (threadIdx.x == 0) counts[0] = 0;
  __syncthreads();
  const int deepest = depth + levels;
  for (int turn = 0;; turn = (turn + 1) % 3) {
    if (threadIdx.x == 0) counts[(turn + 1) % 3] = 0;
    ++depth;
    for (int k = threadIdx.x; k < size; k += blockDim.x) {
      expand(current[k], depth, offsets, neighbors, depths, parents, [&](int v) {
        const int at = atomicAdd(counts + turn, 1);
        (at < capacity ? fresh : next)[at] = v;
      });
    }
    __syncthreads();
    size = counts[turn];
    if (size == 0 || size > capacity || depth == deepest) break;
    int* const spent = current;
    current = fresh;
    fresh = spent;
  }
  for (int k = threadIdx.x; k < min(size, capacity); k += blockDim.x) next[k] = fresh[k];
  if (threadIdx.x == 0) {
    *last_size = size;
    *last_depth = depth;
  }
}
