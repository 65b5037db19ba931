// Work-efficient BFS with prefix sums, after Padamata and Raveendran 2013, who follow Merrill,
// Garland and Grimshaw 2012. A level is a chain of launches, with their names:
//
//   degrees                    the degree of each vertex of the frontier
//   prefixscan, prefixscan2    the write position of each vertex
//   getNextFrontier            gathers the neighbours, a thread per vertex (serial gathering);
//   getNextFrontierBS          or a thread per neighbour (fine-grained gathering)
//   generateMask               marks unvisited vertices, which removes duplicates
//   prefixscan, compact        the marked vertices become the next frontier;
//   sequential                 or, if few were gathered, by one thread
//   setDepth                   sets the distances of marked vertices; reports if any is unvisited
//
// mask: an int per vertex, zero between levels. Predecessors are our addition: a thread that
// gathers an unvisited vertex writes its predecessor. All such writes are of the same level, so any
// is right.
#include "classic/bfs.cuh"
#include "common/prefix_scan.cuh"
#include "tuning/bfs.cuh"

namespace {

// Makes u the predecessor of v if v is unvisited.
__device__ __forceinline__ void set_predecessor(const LevelParams& params, int v, int u) {
  if (params.predecessors != nullptr && params.distances[v] < 0) {
    kl_store(params.predecessors + v, u);
  }
}

// The index of the last of the ascending values that is at most `value`; the first one is.
__device__ __forceinline__ int last_at_most(const long long* values, int size, long long value) {
  int low = 0, high = size;  // it is in [low, high)
  while (high - low > 1) {
    const int middle = low + (high - low) / 2;
    (values[middle] <= value ? low : high) = middle;
  }
  return low;
}

}  // namespace

// One thread.
KL_KERNEL(bfs_scan_init, int source, int* distances, int* frontier, long long* left) {
  distances[source] = 0;
  frontier[0] = source;
  *left = 0;
}

KL_KERNEL(bfs_scan_degrees, const int* frontier, int size, const long long* offsets,
          long long* degrees) {
  const long long i = global_thread();
  if (i < size) degrees[i] = offsets[frontier[i] + 1ll] - offsets[frontier[i]];
}

KL_KERNEL(bfs_scan_prefixscan, const long long* in, long long* out, long long* totals,
          long long n) {
  KL_DYNAMIC_SHARED(long long, shared);
  scan_blocks(in, out, totals, n, shared);
}

KL_KERNEL(bfs_scan_prefixscan_mask, const int* mask, long long* out, long long* totals,
          long long n) {
  KL_DYNAMIC_SHARED(long long, shared);
  scan_blocks(mask, out, totals, n, shared);
}

KL_KERNEL(bfs_scan_prefixscan2, long long* out, const long long* block_offsets, long long n) {
  scan_add(out, block_offsets, n);
}

// A thread per vertex of the frontier; `starts` are the write positions.
KL_KERNEL(bfs_scan_get_next_frontier, const LevelParams params, const int* frontier, int size,
          const long long* starts, int* gathered) {
  const long long i = global_thread();
  if (i >= size) return;
  const int u = frontier[i];
  int* to = gathered + starts[i];
  for (long long j = params.offsets[u], end = params.offsets[u + 1ll]; j < end; ++j, ++to) {
    *to = params.neighbors[j];
    set_predecessor(params, *to, u);
  }
}

// A block per `tile` of the `total` neighbours. 1. Its first thread finds the vertex in which the
// tile begins. 2. A thread per vertex writes its arcs (and tail) to shared memory. 3. All threads
// share these arcs.
KL_KERNEL(bfs_scan_get_next_frontier_bs, const LevelParams params, const int* frontier, int size,
          const long long* starts, long long total, int tile, int* gathered) {
  KL_DYNAMIC_SHARED(long long, arcs);
  int* const tails = reinterpret_cast<int*>(arcs + tile);
  __shared__ int first;
  const long long begin = blockIdx.x * static_cast<long long>(tile);
  const long long end = min(begin + tile, total);
  if (threadIdx.x == 0) first = last_at_most(starts, size, begin);
  __syncthreads();
  for (long long i = first + static_cast<long long>(threadIdx.x); i < size; i += blockDim.x) {
    const long long start = starts[i];
    if (start >= end) break;
    const int u = frontier[i];
    const long long first_arc = params.offsets[u];
    const long long stop = min(start + (params.offsets[u + 1ll] - first_arc), end);
    for (long long position = max(start, begin); position < stop; ++position) {
      arcs[position - begin] = first_arc + (position - start);
      tails[position - begin] = u;
    }
  }
  __syncthreads();
  for (long long position = begin + threadIdx.x; position < end; position += blockDim.x) {
    const int v = params.neighbors[arcs[position - begin]];
    gathered[position] = v;
    set_predecessor(params, v, tails[position - begin]);
  }
}

// A thread per gathered vertex.
KL_KERNEL(bfs_scan_generate_mask, const int* gathered, long long total, const int* distances,
          int* mask) {
  const long long i = global_thread();
  if (i >= total) return;
  const int v = gathered[i];
  if (distances[v] < 0) kl_store(mask + v, 1);
}

// A thread per vertex of the graph.
KL_KERNEL(bfs_scan_compact, const int* mask, const long long* mask_scan, int n, int* frontier) {
  const long long v = global_thread();
  if (v < n && mask[v] != 0) frontier[mask_scan[v]] = static_cast<int>(v);
}

// One block with a thread per gathered vertex: the threads read the marks in parallel, then the
// first one compacts them in shared memory.
KL_KERNEL_BOUNDS(kSequential, 1, bfs_scan_sequential, const int* gathered, int total, int* mask,
                 int* frontier, long long* found) {
  __shared__ int kept[kSequential];
  const int i = threadIdx.x;
  if (i < total) {
    const int v = gathered[i];
    kept[i] = atomicCAS(mask + v, 1, 2) == 1 ? v : -1;  // the first of several duplicates wins
  }
  __syncthreads();
  if (i > 0) return;
  int size = 0;
  for (int k = 0; k < total; ++k) {
    if (kept[k] >= 0) frontier[size++] = kept[k];
  }
  *found = size;
}

// A thread per vertex of the graph. *left becomes the level if a vertex is unvisited.
KL_KERNEL(bfs_scan_set_depth, int n, int depth, int* mask, int* distances, long long* left) {
  const long long v = global_thread();
  if (v >= n) return;
  if (mask[v] != 0) {
    mask[v] = 0;
    distances[v] = depth;
  } else if (distances[v] < 0) {
    kl_store(left, static_cast<long long>(depth));
  }
}
