// BFS of linear work by prefix sums, after Padamata and Raveendran 2013, who follow Merrill,
// Garland and Grimshaw 2012. A level is a chain of launches, named as theirs are:
//
//   degrees                    how many neighbours each vertex of the frontier has
//   prefixscan, prefixscan2    where each begins to write them
//   getNextFrontier            writes them, a thread for each vertex: serial gathering;
//   getNextFrontierBS          or a thread for each neighbour: fine-grained gathering
//   generateMask               marks those that have no depth yet; one mark for several of a kind
//   prefixscan, compact        the marked ones become the next frontier;
//   sequential                 or, if few were gathered, by one thread
//   setDepth                   gives the marked ones their depth, and tells if any is left
//
// mask: a number for each vertex, zero between levels. Parents are ours: a gatherer that meets a
// vertex without depth writes itself down. All that do are of the same level, so whichever stays is
// right.
#include "bfs.cuh"
#include "scan.cuh"

constexpr int kSequential = 512;  // the most that one thread goes through: their threshold

// One thread.
KL_KERNEL(bfs_scan_begin, int source, int* depths, int* frontier, long long* left) {
  depths[source] = 0;
  frontier[0] = source;
  *left = 0;
}

KL_KERNEL(bfs_scan_degrees, const int* frontier, int size, const long long* offsets,
          long long* degrees) {
  const long long i = own_index();
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

KL_KERNEL(bfs_scan_prefixscan2, long long* out, const long long* before, long long n) {
  scan_add(out, before, n);
}

// A thread for each vertex of the frontier; `starts` is where the neighbours of each go.
KL_KERNEL(bfs_scan_get_next_frontier, const int* frontier, int size, const long long* starts,
          const long long* offsets, const int* neighbors, const int* depths, int* parents,
          int* gathered) {
  const long long i = own_index();
  if (i >= size) return;
  const int u = frontier[i];
  int* to = gathered + starts[i];
  for (long long j = offsets[u], end = offsets[u + 1ll]; j < end; ++j, ++to) {
    const int v = neighbors[j];
    *to = v;
    if (parents != nullptr && depths[v] < 0) kl_store(parents + v, u);
  }
}

// A block for each `tile` of the neighbours, of which there are `total`. Its first thread looks up
// the vertex that the tile begins in. Then threads take vertices, and write into shared memory
// where in the graph their neighbours stand (and whose they are); then each takes its share of
// these.
KL_KERNEL(bfs_scan_get_next_frontier_bs, const int* frontier, int size, const long long* starts,
          long long total, int tile, const long long* offsets, const int* neighbors,
          const int* depths, int* parents, int* gathered) {
  KL_DYNAMIC_SHARED(long long, places);
  int* const owners = reinterpret_cast<int*>(places + tile);
  __shared__ int first;
  const long long begin = blockIdx.x * static_cast<long long>(tile);
  const long long end = min(begin + tile, total);
  if (threadIdx.x == 0) {
    int low = 0, high = size;  // the last vertex that starts at begin or before is in [low, high)
    while (high - low > 1) {
      const int middle = low + (high - low) / 2;
      (starts[middle] <= begin ? low : high) = middle;
    }
    first = low;
  }
  __syncthreads();
  for (long long i = first + static_cast<long long>(threadIdx.x); i < size; i += blockDim.x) {
    const long long start = starts[i];
    if (start >= end) break;
    const int u = frontier[i];
    const long long from = offsets[u];
    const long long stop = min(start + (offsets[u + 1ll] - from), end);
    for (long long at = max(start, begin); at < stop; ++at) {
      places[at - begin] = from + (at - start);
      owners[at - begin] = u;
    }
  }
  __syncthreads();
  for (long long at = begin + threadIdx.x; at < end; at += blockDim.x) {
    const int v = neighbors[places[at - begin]];
    gathered[at] = v;
    if (parents != nullptr && depths[v] < 0) kl_store(parents + v, owners[at - begin]);
  }
}

// A thread for each vertex gathered.
KL_KERNEL(bfs_scan_generate_mask, const int* gathered, long long total, const int* depths,
          int* mask) {
  const long long i = own_index();
  if (i >= total) return;
  const int v = gathered[i];
  if (depths[v] < 0) kl_store(mask + v, 1);
}

// A thread for each vertex of the graph.
KL_KERNEL(bfs_scan_compact, const int* mask, const long long* mask_scan, int n, int* frontier) {
  const long long v = own_index();
  if (v < n && mask[v] != 0) frontier[mask_scan[v]] = static_cast<int>(v);
}

// One block with a thread for each vertex gathered: each looks at its mark, so that one thread can
// go through them without waiting for memory.
KL_KERNEL_BOUNDS(kSequential, 1, bfs_scan_sequential, const int* gathered, int total, int* mask,
                 int* frontier, long long* found) {
  __shared__ int kept[kSequential];
  const int i = threadIdx.x;
  if (i < total) {
    const int v = gathered[i];
    kept[i] = atomicCAS(mask + v, 1, 2) == 1 ? v : -1;  // the first of several takes the mark
  }
  __syncthreads();
  if (i > 0) return;
  int size = 0;
  for (int k = 0; k < total; ++k) {
    if (kept[k] >= 0) frontier[size++] = kept[k];
  }
  *found = size;
}

// A thread for each vertex of the graph. *left becomes the depth if a vertex still has none.
KL_KERNEL(bfs_scan_set_depth, int n, int depth, int* mask, int* depths, long long* left) {
  const long long v = own_index();
  if (v >= n) return;
  if (mask[v] != 0) {
    mask[v] = 0;
    depths[v] = depth;
  } else if (depths[v] < 0) {
    kl_store(left, static_cast<long long>(depth));
  }
}
