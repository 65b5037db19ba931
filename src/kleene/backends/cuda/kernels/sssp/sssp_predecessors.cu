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

// ---- shared with the host -----------------------------------------------------------------------

struct TreeParams {
  const long long* offsets;  // outgoing arcs
  const int* neighbors;
  const KL_TYPE* lengths;
  const KL_TYPE* distances;
  int* predecessors;
  KL_TYPE* sums;    // receives the sums of lengths along the tree, 0 at the source; or null
  long long* even;  // queues of even and odd layers
  long long* odd;
  unsigned long long* sizes;  // layer `round` has sizes[round % 3] entries
  unsigned* barrier;
  long long round;  // the first of this launch
  int rounds;       // of this launch, at most
  int n;
  int source;
  KL_TYPE bias;  // of the search
};

// ---- distances ----------------------------------------------------------------------------------

KL_KERNEL(sssp_init_distances, KL_TYPE* distances, int n, int source) {
  const int v = blockIdx.x * blockDim.x + threadIdx.x;
  if (v < n) distances[v] = v == source ? 0 : KlLimits<KL_TYPE>::none();
}

KL_KERNEL(sssp_apply_limit, KL_TYPE* distances, int n, KL_TYPE limit) {
  const int v = blockIdx.x * blockDim.x + threadIdx.x;
  if (v < n && distances[v] > limit) distances[v] = KlLimits<KL_TYPE>::none();
}

// ---- predecessors -------------------------------------------------------------------------------

KL_KERNEL(sssp_predecessors_nearer, const TreeParams params) {
  const KL_TYPE* const __restrict__ distances = params.distances;
  kl_for_arcs(params.offsets, params.n, [&](bool active, int u, long long arc) {
    if (!active) return;
    const KL_TYPE tail_distance = distances[u], none = KlLimits<KL_TYPE>::none();
    if (tail_distance == none) return;
    const int v = __ldg(params.neighbors + arc);
    const KL_TYPE head_distance = distances[v];
    if (tail_distance < head_distance && head_distance != none &&
        tail_distance + __ldg(params.lengths + arc) == head_distance)
      kl_store(params.predecessors + v, u);
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

KL_KERNEL(sssp_predecessors_first_layer, const TreeParams params) {
  const KL_TYPE* const __restrict__ distances = params.distances;
  kl_for_arcs(params.offsets, params.n, [&](bool active, int u, long long arc) {
    int v = 0;
    bool attached = false;
    if (active && distances[u] != KlLimits<KL_TYPE>::none() &&
        (u == params.source || kl_load(params.predecessors + u) >= 0)) {
      v = __ldg(params.neighbors + arc);
      const KL_TYPE length = __ldg(params.lengths + arc);
      attached = is_tight(distances[u], length, distances[v], static_cast<KL_TYPE>(0)) &&
                 attach(v, u, params.source, params.predecessors);
    }
    kl_enqueue(attached, v, params.offsets, params.even, params.sizes);
  });
}

// Attaches the heads of tight arcs of one layer; they are the next one.
__device__ __forceinline__ void attach_layer(const TreeParams& params, long long round,
                                             long long size) {
  const KL_TYPE* const __restrict__ distances = params.distances;
  long long* const next = round % 2 == 0 ? params.odd : params.even;
  kl_expand(
      round % 2 == 0 ? params.even : params.odd, size, params.offsets,
      [&](int u) { return distances[u]; },
      [&](bool active, int u, KL_TYPE tail_distance, long long arc) {
        int v = 0;
        bool attached = false;
        if (active) {
          v = __ldg(params.neighbors + arc);
          const KL_TYPE length = __ldg(params.lengths + arc);
          attached = is_tight(tail_distance, length, distances[v], params.bias) &&
                     attach(v, u, params.source, params.predecessors);
          if (attached && params.sums != nullptr) {
            kl_store(params.sums + v, kl_load(params.sums + u) + length);
          }
        }
        kl_enqueue(attached, v, params.offsets, next, params.sizes + (round + 1) % 3);
      });
}

// Layer `round` is in queue round % 2; the size of the next layer is being counted, and the one
// after that is cleared.
KL_KERNEL_BOUNDS(256, 4, sssp_predecessors_layers, const TreeParams params) {
  long long round = params.round;
  for (const long long end = round + params.rounds; round < end; ++round) {
    const long long size = static_cast<long long>(kl_load(params.sizes + round % 3));
    if (kl_global_warp() == 0 && kl_lane() == 0) kl_store(params.sizes + (round + 2) % 3, 0ull);
    if (size == 0) return;  // all three sizes are zero now
    attach_layer(params, round, size);
    kl_grid_sync(params.barrier);
  }
}
