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
#include "common/distances.cuh"
#include "common/load_balance.cuh"

KL_KERNEL(sssp_init_distances, KL_TYPE* distances, int n, int source) {
  const int v = blockIdx.x * blockDim.x + threadIdx.x;
  if (v < n) distances[v] = v == source ? 0 : KlLimits<KL_TYPE>::none();
}

KL_KERNEL(sssp_apply_limit, KL_TYPE* distances, int n, KL_TYPE limit) {
  const int v = blockIdx.x * blockDim.x + threadIdx.x;
  if (v < n && distances[v] > limit) distances[v] = KlLimits<KL_TYPE>::none();
}

KL_KERNEL(sssp_predecessors_nearer, const long long* offsets, const int* neighbors,
          const KL_TYPE* lengths, const KL_TYPE* distances, int n, int* predecessors) {
  kl_for_arcs(offsets, n, [&](bool active, int u, long long arc) {
    if (!active) return;
    const KL_TYPE tail_distance = distances[u], none = KlLimits<KL_TYPE>::none();
    if (tail_distance == none) return;
    const int v = neighbors[arc];
    const KL_TYPE head_distance = distances[v];
    if (tail_distance < head_distance && head_distance != none &&
        tail_distance + lengths[arc] == head_distance)
      kl_store(predecessors + v, u);
  });
}

KL_KERNEL(sssp_predecessors_count_missing, const KL_TYPE* distances, const int* predecessors, int n,
          int source, unsigned long long* missing) {
  const int v = blockIdx.x * blockDim.x + threadIdx.x;
  const bool is_missing =
      v < n && v != source && predecessors[v] < 0 && distances[v] != KlLimits<KL_TYPE>::none();
  const int count = __syncthreads_count(is_missing);
  if (threadIdx.x == 0 && count > 0) atomicAdd(missing, static_cast<unsigned long long>(count));
}

// Is the arc tight, in sums that rise? They do not unless a search said so.
template <class T>
__device__ __forceinline__ bool is_tight(T tail_distance, T length, T head_distance, T bias) {
  return head_distance != KlLimits<T>::none() &&
         kl_biased_term(tail_distance, bias) + kl_biased_term(length, bias) == head_distance;
}

// Hangs v on u if it hangs nowhere. Predecessors never change again: so v is not above u.
__device__ __forceinline__ bool attach(int v, int u, int source, int* predecessors) {
  return v != source && kl_load(predecessors + v) < 0 && atomicCAS(predecessors + v, -1, u) == -1;
}

KL_KERNEL(sssp_predecessors_first_layer, const long long* offsets, const int* neighbors,
          const KL_TYPE* lengths, const KL_TYPE* distances, int n, int source, int* predecessors,
          long long* queue, unsigned long long* sizes) {
  kl_for_arcs(offsets, n, [&](bool active, int u, long long arc) {
    int v = 0;
    bool attached = false;
    if (active && distances[u] != KlLimits<KL_TYPE>::none() &&
        (u == source || kl_load(predecessors + u) >= 0)) {
      v = neighbors[arc];
      attached = is_tight(distances[u], lengths[arc], distances[v], static_cast<KL_TYPE>(0)) &&
                 attach(v, u, source, predecessors);
    }
    kl_enqueue(attached, v, offsets, queue, sizes);
  });
}

// Layer `round` is in queues[round % 2]; sizes[round % 3] is its size, the next one's is being
// counted, and the one after that is set to zero. With `sums`, lengths are added up there along the
// tree; the source has its 0.
KL_KERNEL_BOUNDS(256, 4, sssp_predecessors_layers, const long long* offsets, const int* neighbors,
                 const KL_TYPE* lengths, const KL_TYPE* distances, int source, KL_TYPE bias,
                 int* predecessors, KL_TYPE* sums, long long* even, long long* odd,
                 unsigned long long* sizes, long long round, int rounds, unsigned* barrier) {
  for (const long long end = round + rounds; round < end; ++round) {
    const long long size = static_cast<long long>(kl_load(sizes + round % 3));
    if (kl_global_warp() == 0 && kl_lane() == 0) kl_store(sizes + (round + 2) % 3, 0ull);
    if (size == 0) return;  // and now all three sizes are zero
    long long* const next = round % 2 == 0 ? odd : even;
    kl_expand(
        round % 2 == 0 ? even : odd, size, offsets, [&](int u) { return distances[u]; },
        [&](bool active, int u, KL_TYPE tail_distance, long long arc) {
          int v = 0;
          bool attached = false;
          if (active) {
            v = neighbors[arc];
            attached = is_tight(tail_distance, lengths[arc], distances[v], bias) &&
                       attach(v, u, source, predecessors);
            if (attached && sums != nullptr) kl_store(sums + v, kl_load(sums + u) + lengths[arc]);
          }
          kl_enqueue(attached, v, offsets, next, sizes + (round + 1) % 3);
        });
    kl_grid_sync(barrier);
  }
}
