// Predecessors from final distances, and the steps before and after every search.
//
// Every reached vertex except the source has a tight incoming arc: distance[u] + length ==
// distance[v] in floating-point arithmetic. Tight arcs from nearer vertices form no cycle, so any
// of them will do: sssp_predecessors_nearer takes one per vertex in one pass over all arcs. It
// misses heads of tight arcs of length zero, or lost to rounding; with negative lengths it does not
// apply. The missing vertices are attached to the tree layer by layer: a vertex gets its
// predecessor once and keeps it, so no cycle can form.
//
//   sssp_init_distances              distances before a search
//   sssp_apply_limit                 no_path for distances beyond a limit
//   sssp_predecessors_nearer         predecessors by tight arcs from nearer vertices
//   sssp_predecessors_count_missing  counts the vertices without predecessor
//   sssp_predecessors_first_layer    attaches the first layer of these
//   sssp_predecessors_layers         attaches all other layers
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

// Whether the arc is tight, in biased sums; the bias is 0 unless the search used one.
template <class T>
__device__ __forceinline__ bool is_tight(T tail_distance, T length, T head_distance, T bias) {
  return head_distance != KlLimits<T>::none() &&
         kl_biased_term(tail_distance, bias) + kl_biased_term(length, bias) == head_distance;
}

// Attaches v to u unless it is attached. Predecessors never change, so v is no ancestor of u.
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

// Layer `round` is in queue round % 2 and its size in sizes[round % 3]; the size of the next layer
// is being counted, and the one after that is cleared. `sums`, if given, receives the sums of
// lengths along the tree; it is 0 at the source.
KL_KERNEL_BOUNDS(256, 4, sssp_predecessors_layers, const long long* offsets, const int* neighbors,
                 const KL_TYPE* lengths, const KL_TYPE* distances, int source, KL_TYPE bias,
                 int* predecessors, KL_TYPE* sums, long long* even, long long* odd,
                 unsigned long long* sizes, long long round, int rounds, unsigned* barrier) {
  for (const long long end = round + rounds; round < end; ++round) {
    const long long size = static_cast<long long>(kl_load(sizes + round % 3));
    if (kl_global_warp() == 0 && kl_lane() == 0) kl_store(sizes + (round + 2) % 3, 0ull);
    if (size == 0) return;  // all three sizes are zero now
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
