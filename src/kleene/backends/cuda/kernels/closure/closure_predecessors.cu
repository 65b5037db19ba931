// Predecessors from shortest distances, without those of shorter paths on the way.
//
// An arc is tight if it is itself a shortest path: only tight arcs can end one. Even in a dense
// graph few arcs are tight, so it is cheaper to recover predecessors from the distances than to
// compute them along. If the arc (i, j) is tight, the predecessor of j from i is i; otherwise some
// tight arc (k, j) has d[i, k] + length = d[i, j], and k is chosen if it is nearer to i than j, so
// that predecessors form no cycle. Rounding may change the sum a little: then the k with the
// smallest sum is taken. Where a k that is no nearer has a smaller one, the entry stays -1.
//
// If every length is positive, "nearer" compares distances. If not, it compares d[i, v] - h[v],
// where the height h[v] is the mean of d[u, v] over all u. From k to j this grows by the mean of
// d[u, k] + length - d[u, j], of which no term is negative, and the one of u = j is the length of a
// cycle through the arc: it stays the same only on cycles of length zero.
//
//   1. closure_predecessors_heights   the heights, if lengths may be negative
//   2. closure_predecessors_count     the number of tight arcs of kListedRows rows in each column
//   3. closure_predecessors_list      lists them by column; i precedes j where (i, j) is tight
//   4. closure_predecessors_search    searches the lists for the others; ..._search_by_height if
//                                     lengths may be negative
#include "tuning/closure_predecessors.cuh"

struct RecoveryParams {
  const KL_TYPE* arcs;       // n x n lengths
  const KL_TYPE* distances;  // n x n
  long long stride;          // from one row of a matrix to the next
  int n;
  const double* heights;     // null if every length is positive
  int* counts;               // of tight arcs, by part of kListedRows rows and column
  const long long* offsets;  // of their lists, likewise
  const long long* begins;   // of the lists of whole columns, and the end
  int* tails;                // of the tight arcs in the lists
  KL_TYPE* lengths;          // of the tight arcs in the lists
  int* predecessors;         // n x n; may be the memory of `arcs`
  int* unresolved;           // entries that stay -1 though there is a path
};

// Infinity, and for integers half of their range, as in closure_semiring.cuh.
__device__ __forceinline__ KL_TYPE no_path() { return KlLimits<KL_TYPE>::none() / 2; }

__device__ __forceinline__ int own_column() { return blockIdx.x * blockDim.x + threadIdx.x; }

// ---- 1. heights ---------------------------------------------------------------------------------

// A thread per column. A column with no_path has an infinite height.
KL_KERNEL(closure_predecessors_heights, const KL_TYPE* distances, long long stride, int n,
          double* heights) {
  const int j = own_column();
  if (j >= n) return;
  double sum = 0;
#pragma unroll 8
  for (int i = 0; i < n; ++i) {
    const KL_TYPE distance = distances[i * stride + j];
    sum += distance < no_path() ? static_cast<double>(distance) : KlLimits<double>::none();
  }
  heights[j] = sum / n;
}

// ---- 2. and 3. lists of tight arcs --------------------------------------------------------------

// Calls body(k, length, tight) for the arcs (k, j) of the block's rows.
template <class Body>
__device__ __forceinline__ void each_arc(const RecoveryParams& p, int j, Body body) {
  const int first = blockIdx.y * kListedRows, end = min(first + kListedRows, p.n);
  for (int k = first; k < end; ++k) {
    const KL_TYPE length = p.arcs[k * p.stride + j], distance = p.distances[k * p.stride + j];
    body(k, length, k != j && length == distance && distance < no_path());
  }
}

KL_KERNEL(closure_predecessors_count, const RecoveryParams params) {
  const int j = own_column();
  if (j >= params.n) return;
  int count = 0;
  each_arc(params, j, [&](int, KL_TYPE, bool tight) { count += tight; });
  params.counts[blockIdx.y * static_cast<long long>(params.n) + j] = count;
}

// Each thread reads an arc before it writes the predecessor to the same memory.
KL_KERNEL(closure_predecessors_list, const RecoveryParams params) {
  const int j = own_column();
  if (j >= params.n) return;
  long long position = params.offsets[blockIdx.y * static_cast<long long>(params.n) + j];
  each_arc(params, j, [&](int k, KL_TYPE length, bool tight) {
    params.predecessors[k * params.stride + j] = tight ? k : -1;
    if (!tight) return;
    params.tails[position] = k;
    params.lengths[position++] = length;
  });
}

// ---- 4. the search ------------------------------------------------------------------------------

// One entry (i, j) of the matrix.
struct Search {
  KL_TYPE target;     // d[i, j]
  double height;      // target - h[j], if lengths may be negative
  KL_TYPE best;       // the smallest sum by way of a nearer k
  KL_TYPE swallowed;  // the smallest sum by way of a k that is no nearer
  int predecessor;

  __device__ __forceinline__ bool exact() const { return best == target; }
  __device__ __forceinline__ bool found() const {
    return predecessor >= 0 && (exact() || best <= swallowed);
  }

  __device__ __forceinline__ void visit(int k, KL_TYPE sum, bool nearer) {
    if (!nearer) {
      if (sum < swallowed) swallowed = sum;
    } else if (sum < best) {
      best = sum;
      predecessor = k;
    }
  }
};

// Searches for kSearchedRows entries of column j at a time.
template <bool by_height>
__device__ __forceinline__ void search_list(const RecoveryParams& p, int j) {
  const KL_TYPE* const distances = p.distances;
  const long long stride = p.stride;
  const int first = blockIdx.y * kSearchedRows;
  Search search[kSearchedRows];
  unsigned wanted = 0;  // one bit per entry
#pragma unroll
  for (int r = 0; r < kSearchedRows; ++r) {
    const int i = first + r;
    if (i >= p.n || i == j || p.predecessors[i * stride + j] >= 0) continue;
    const KL_TYPE target = distances[i * stride + j];
    search[r] = {target, by_height ? target - p.heights[j] : 0, no_path(), no_path(), -1};
    if (target < no_path()) wanted |= 1u << r;
  }
  unsigned missing = wanted;
  for (long long at = p.begins[j]; at < p.begins[j + 1] && missing != 0; ++at) {
    const int k = p.tails[at];
    const KL_TYPE length = p.lengths[at];
    const double height = by_height ? p.heights[k] : 0;
#pragma unroll
    for (int r = 0; r < kSearchedRows; ++r) {
      if ((missing >> r & 1) == 0) continue;
      const KL_TYPE distance = distances[(first + r) * stride + k];
      const bool nearer = by_height ? distance - height < search[r].height  //
                                    : distance < search[r].target;
      search[r].visit(k, distance + length, nearer);
      if (search[r].exact()) missing &= ~(1u << r);
    }
  }
#pragma unroll
  for (int r = 0; r < kSearchedRows; ++r) {
    if ((wanted >> r & 1) == 0 || !search[r].found()) continue;
    p.predecessors[(first + r) * stride + j] = search[r].predecessor;
    wanted &= ~(1u << r);
  }
  if (wanted != 0) atomicAdd(p.unresolved, __popc(wanted));
}

KL_KERNEL(closure_predecessors_search, const RecoveryParams params) {
  const int j = own_column();
  if (j < params.n) search_list<false>(params, j);
}

KL_KERNEL(closure_predecessors_search_by_height, const RecoveryParams params) {
  const int j = own_column();
  if (j < params.n) search_list<true>(params, j);
}
