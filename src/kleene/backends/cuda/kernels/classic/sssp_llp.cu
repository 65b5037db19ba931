// Shortest paths as a lattice-linear predicate: lower bounds rise to the distances.
//
// bounds[j] (G in the papers) is a lower bound on the distance of j; it only rises. offers[j] is
// the length of the best path to j found so far through fixed vertices. When they are equal, j is
// fixed. A round, with a grid barrier after each step:
//
//   1. lower_beta      beta = the least offer of all open vertices
//   2. raise_bounds    for all open j: bounds[j] = max(beta, min of bounds[i] + length over
//   incoming
//                      arcs) (alpha); j is fixed if its offer is at most that, or stays open
//   3. make_offers     for all newly fixed j, along the outgoing arcs, which open their heads
//   when no vertex is open, the vertices that are not fixed are unreachable
//
// The vertex whose offer is beta is always fixed, so the search ends. An unfixed vertex has a bound
// of at least beta even if it was never visited, so only open ones are visited. Bounds that are
// read while others raise them are valid, old or new.
//
// A warp reads the incoming arcs of a vertex, or the whole block if they are many.
//
// V. K. Garg, "Predicate detection to solve combinatorial optimization problems", 2020.
#include "common/distances.cuh"
#include "common/load_balance.cuh"
#include "tuning/sssp.cuh"

// ---- shared with the host -----------------------------------------------------------------------

// States of a vertex.
const int kUnseen = 0;
const int kOpen = 1;
const int kFixed = 2;

// Words of `state`: two sizes of open, then these.
const int kOpenSize = 0;
const int kNewlySize = 2;
const int kRound = 3;  // the next one

struct LlpParams {
  const long long* offsets;  // outgoing arcs
  const int* neighbors;
  const KL_TYPE* lengths;
  const long long* incoming_offsets;
  const int* incoming_tails;
  const KL_TYPE* incoming_lengths;
  KL_TYPE* offers;  // the distances at the end
  KL_TYPE* bounds;
  int* states;  // of vertices
  int* even;    // open vertices of even and odd rounds
  int* odd;
  long long* newly_fixed;  // a queue
  KL_TYPE* betas;          // betas[round % 2] is that of a round, no_path before it begins
  unsigned long long* state;
  unsigned* barrier;
  long long round;  // the first of this launch
  int rounds;       // of this launch, at most
  KL_TYPE limit;    // the largest distance
};

// ---- steps --------------------------------------------------------------------------------------

template <class T>
__device__ __forceinline__ T warp_min(T value) {
#pragma unroll
  for (int step = 16; step > 0; step /= 2) {
    value = min(value, __shfl_xor_sync(kAllLanes, value, step));
  }
  return value;
}

__device__ __forceinline__ int warps_per_block() { return static_cast<int>(blockDim.x) / 32; }

// The minimum over the block, for all its threads. `shared` holds one value per warp.
__device__ __forceinline__ KL_TYPE block_min(KL_TYPE value, KL_TYPE* shared) {
  value = warp_min(value);
  if (warps_per_block() == 1) return value;
  if (kl_lane() == 0) shared[threadIdx.x / 32] = value;
  __syncthreads();
  value = warp_min(shared[static_cast<int>(kl_lane()) % warps_per_block()]);
  __syncthreads();
  return value;
}

// The open vertices of a round, and those of the next, to which vertices are appended.
struct OpenLists {
  const int* open;
  int size;
  int* next;
  unsigned long long* next_size;
};

__device__ __forceinline__ OpenLists open_lists(const LlpParams& s, long long round) {
  const int parity = static_cast<int>(round % 2);
  return {parity == 0 ? s.even : s.odd, static_cast<int>(kl_load(s.state + kOpenSize + parity)),
          parity == 0 ? s.odd : s.even, s.state + kOpenSize + (1 - parity)};
}

// 1. The least offer of the open vertices of this block, into `beta`.
__device__ __forceinline__ void lower_beta(const LlpParams& s, const OpenLists& lists,
                                           KL_TYPE* minima, KL_TYPE* beta) {
  const int stride = static_cast<int>(gridDim.x * blockDim.x);
  KL_TYPE least = KlLimits<KL_TYPE>::none();
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < lists.size; i += stride) {
    least = min(least, kl_load(s.offers + __ldcg(lists.open + i)));
  }
  least = block_min(least, minima);
  if (threadIdx.x == 0) kl_atomic_min(beta, least);
}

// The minimum over this thread's incoming arcs of a vertex, which are `stride` apart.
__device__ __forceinline__ KL_TYPE least_of(const LlpParams& s, long long begin, long long end,
                                            int stride, KL_TYPE beta) {
  KL_TYPE least = KlLimits<KL_TYPE>::none();
  for (long long arc = begin; arc < end; arc += stride) {
    const int i = s.incoming_tails[arc];
    const KL_TYPE bound = kl_load(s.bounds + i);
    const bool fixed = kl_load(s.states + i) == kFixed;
    least = min(least, (fixed ? bound : max(bound, beta)) + s.incoming_lengths[arc]);
  }
  return least;
}

// 2. Raises the bounds of open vertices, one per warp. `minima` and `many` are shared by the block,
// an entry for each warp.
__device__ __forceinline__ void raise_bounds(const LlpParams& s, const OpenLists& lists,
                                             KL_TYPE beta, KL_TYPE* minima, int* many) {
  const int size = lists.size;
  const int warps = warps_per_block(), warp = threadIdx.x / 32, lane = static_cast<int>(kl_lane());
  for (int first = blockIdx.x * warps; first < size; first += gridDim.x * warps) {
    const int j = first + warp < size ? __ldcg(lists.open + first + warp) : -1;
    const long long begin = j < 0 ? 0 : s.incoming_offsets[j],
                    end = j < 0 ? 0 : s.incoming_offsets[j + 1];
    KL_TYPE least = KlLimits<KL_TYPE>::none();
    if (lane == 0) many[warp] = end - begin > kBlockArcs ? j : -1;
    if (end - begin <= kBlockArcs) least = warp_min(least_of(s, begin + lane, end, 32, beta));
    __syncthreads();
    for (int other = 0; other < warps; ++other) {
      const int k = many[other];
      if (k < 0) continue;
      const KL_TYPE own = least_of(s, s.incoming_offsets[k] + threadIdx.x,
                                   s.incoming_offsets[k + 1], static_cast<int>(blockDim.x), beta);
      const KL_TYPE of_all = block_min(own, minima);
      if (other == warp) least = of_all;
    }
    __syncthreads();
    const bool decides = j >= 0 && lane == 0;
    bool fixed = false;
    if (decides) {
      const KL_TYPE offer = kl_load(s.offers + j);
      const KL_TYPE alpha = begin == end ? beta : max(beta, least);
      fixed = alpha >= offer;
      kl_store(s.bounds + j, fixed ? offer : alpha);  // alpha exceeds the offer at the source only
      if (fixed) kl_store(s.states + j, kFixed);
    }
    kl_enqueue(fixed, j, s.offsets, s.newly_fixed, s.state + kNewlySize);
    kl_append(decides && !fixed, j, lists.next, lists.next_size);
  }
}

// 3. The newly fixed vertices make offers, which open the heads of their arcs.
__device__ __forceinline__ void make_offers(const LlpParams& s, const OpenLists& lists) {
  const long long size = static_cast<long long>(kl_load(s.state + kNewlySize));
  kl_expand(
      s.newly_fixed, size, s.offsets, [&](int i) { return kl_load(s.offers + i); },
      [&](bool active, int, KL_TYPE distance, long long arc) {
        int j = 0;
        bool opens = false;
        if (active) {
          j = s.neighbors[arc];
          const KL_TYPE through = distance + s.lengths[arc];
          if (through < kl_load(s.offers + j)) {
            kl_atomic_min(s.offers + j, through);
            opens = kl_load(s.states + j) == kUnseen &&
                    atomicCAS(s.states + j, kUnseen, kOpen) == kUnseen;
          }
        }
        kl_append(opens, j, lists.next, lists.next_size);
      });
}

// ---- kernel -------------------------------------------------------------------------------------

// Ends when no vertex is open, or when beta is beyond the limit; then the number of open vertices
// is set to 0.
KL_KERNEL_BOUNDS(256, 4, sssp_llp_rounds, const LlpParams params) {
  __shared__ KL_TYPE minima[kMostWarps];
  __shared__ int many[kMostWarps];
  const bool first = blockIdx.x == 0 && threadIdx.x == 0;
  long long round = params.round;
  for (const long long end = round + params.rounds; round < end; ++round) {
    const OpenLists lists = open_lists(params, round);
    KL_TYPE* const own_beta = params.betas + round % 2;
    if (lists.size == 0) break;
    if (first) {
      kl_store(lists.next_size, 0ull);
      kl_store(params.state + kNewlySize, 0ull);
    }
    lower_beta(params, lists, minima, own_beta);
    kl_grid_sync(params.barrier);
    const KL_TYPE beta = kl_load(own_beta);
    if (beta > params.limit) {
      if (first) kl_store(params.state + kOpenSize + round % 2, 0ull);
      break;
    }
    if (first) kl_store(params.betas + (round + 1) % 2, KlLimits<KL_TYPE>::none());
    raise_bounds(params, lists, beta, minima, many);
    kl_grid_sync(params.barrier);
    make_offers(params, lists);
    kl_grid_sync(params.barrier);
  }
  if (first) kl_store(params.state + kRound, static_cast<unsigned long long>(round));
}
