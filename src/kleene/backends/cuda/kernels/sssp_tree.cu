// The tree of shortest paths, from the distances alone: how a search begins and ends.
//
// Distances are final: every vertex that was reached, but the source, has a tight arc into it, one
// with distance[u] + length == distance[v] as the machine adds. Tight arcs that come from nearer
// vertices cannot form circles, so that any of them serves; sssp_tree_descend takes one for each
// vertex, in one pass over all arcs. It leaves out vertices at the end of tight arcs of length
// zero, or so short that rounding took them away; where lengths are negative it is of no use. What
// is left is hung on vertices that hang already, one layer after the other: a vertex gets its
// predecessor once and keeps it, so that no circle can close.
//
//   sssp_begin         distances before a search
//   sssp_cut           "no path" for what is farther than a limit
//   sssp_tree_descend  predecessors by tight arcs from nearer vertices
//   sssp_tree_left     counts the vertices without predecessor
//   sssp_tree_hang     the first layer of these
//   sssp_tree_spread   all other layers
#include "arcs.cuh"
#include "distances.cuh"

KL_KERNEL(sssp_begin, KL_TYPE* distances, int n, int source) {
  const int v = blockIdx.x * blockDim.x + threadIdx.x;
  if (v < n) distances[v] = v == source ? 0 : KlLimits<KL_TYPE>::none();
}

KL_KERNEL(sssp_cut, KL_TYPE* distances, int n, KL_TYPE limit) {
  const int v = blockIdx.x * blockDim.x + threadIdx.x;
  if (v < n && distances[v] > limit) distances[v] = KlLimits<KL_TYPE>::none();
}

KL_KERNEL(sssp_tree_descend, const long long* offsets, const int* neighbors, const KL_TYPE* lengths,
          const KL_TYPE* distances, int n, int* parents) {
  kl_for_arcs(offsets, n, [&](bool active, int u, long long arc) {
    if (!active) return;
    const KL_TYPE from = distances[u], none = KlLimits<KL_TYPE>::none();
    if (from == none) return;
    const int v = neighbors[arc];
    const KL_TYPE to = distances[v];
    if (from < to && to != none && from + lengths[arc] == to) kl_store(parents + v, u);
  });
}

KL_KERNEL(sssp_tree_left, const KL_TYPE* distances, const int* parents, int n, int source,
          unsigned long long* left) {
  const int v = blockIdx.x * blockDim.x + threadIdx.x;
  const bool is_left =
      v < n && v != source && parents[v] < 0 && distances[v] != KlLimits<KL_TYPE>::none();
  const int count = __syncthreads_count(is_left);
  if (threadIdx.x == 0 && count > 0) atomicAdd(left, static_cast<unsigned long long>(count));
}

// Is the arc tight, in sums that rise? They do not unless a search said so.
template <class T>
__device__ __forceinline__ bool is_tight(T from, T length, T to, T rise) {
  return to != KlLimits<T>::none() && kl_summand(from, rise) + kl_summand(length, rise) == to;
}

// Hangs v on u if it hangs nowhere. Predecessors never change again: so v is not above u.
__device__ __forceinline__ bool hang(int v, int u, int source, int* parents) {
  return v != source && kl_load(parents + v) < 0 && atomicCAS(parents + v, -1, u) == -1;
}

KL_KERNEL(sssp_tree_hang, const long long* offsets, const int* neighbors, const KL_TYPE* lengths,
          const KL_TYPE* distances, int n, int source, int* parents, long long* queue,
          unsigned long long* sizes) {
  kl_for_arcs(offsets, n, [&](bool active, int u, long long arc) {
    int v = 0;
    bool hung = false;
    if (active && distances[u] != KlLimits<KL_TYPE>::none() &&
        (u == source || kl_load(parents + u) >= 0)) {
      v = neighbors[arc];
      hung = is_tight(distances[u], lengths[arc], distances[v], static_cast<KL_TYPE>(0)) &&
             hang(v, u, source, parents);
    }
    kl_enqueue(hung, v, offsets, queue, sizes);
  });
}

// Layer `round` is in queues[round % 2]; sizes[round % 3] is its size, the next one's is being
// counted, and the one after that is set to zero. With `sums`, lengths are added up there along the
// tree; the source has its 0.
KL_KERNEL_BOUNDS(256, 4, sssp_tree_spread, const long long* offsets, const int* neighbors,
                 const KL_TYPE* lengths, const KL_TYPE* distances, int source, KL_TYPE rise,
                 int* parents, KL_TYPE* sums, long long* even, long long* odd,
                 unsigned long long* sizes, long long round, int rounds, unsigned* barrier) {
  for (const long long end = round + rounds; round < end; ++round) {
    const long long size = static_cast<long long>(kl_load(sizes + round % 3));
    if (kl_warp() == 0 && kl_lane() == 0) kl_store(sizes + (round + 2) % 3, 0ull);
    if (size == 0) return;  // and now all three sizes are zero
    long long* const next = round % 2 == 0 ? odd : even;
    kl_expand(
        round % 2 == 0 ? even : odd, size, offsets, [&](int u) { return distances[u]; },
        [&](bool active, int u, KL_TYPE from, long long arc) {
          int v = 0;
          bool hung = false;
          if (active) {
            v = neighbors[arc];
            hung = is_tight(from, lengths[arc], distances[v], rise) && hang(v, u, source, parents);
            if (hung && sums != nullptr) kl_store(sums + v, kl_load(sums + u) + lengths[arc]);
          }
          kl_enqueue(hung, v, offsets, next, sizes + (round + 1) % 3);
        });
    kl_grid_sync(barrier);
  }
}
