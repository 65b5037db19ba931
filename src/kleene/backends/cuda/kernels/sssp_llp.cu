// Shortest paths as a lattice-linear predicate: lower bounds rise to the distances.
//
// bounds[j] (G in the papers) is a lower bound on the distance of j; it only rises. offers[j] is
// the length of the best path to j found so far through fixed vertices. When they are equal, j is
// fixed. A round, with a grid barrier after each step:
//
//   beta = the least offer of all open vertices: a minimum per block, then over all blocks
//   for all open j: bounds[j] = max(beta, min of bounds[i] + length over incoming arcs)    (alpha)
//                   j is fixed if its offer is at most that; otherwise it stays open
//   for all newly fixed j: make offers along the outgoing arcs, which open their heads
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

constexpr int kMostWarps = 8;                 // of a block
constexpr long long kMany = 1024;             // arcs that keep a block busy
enum State : int { kUnseen, kOpen, kFixed };  // of a vertex
enum StateWord {
  kOpenSize,
  kNewlySize = 2,
  kRound = 3
};  // indices of `state`; there are two sizes of open

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

struct Search {
  const long long* offsets;
  const int* neighbors;
  const KL_TYPE* lengths;
  const long long* incoming_offsets;
  const int* incoming_tails;
  const KL_TYPE* incoming_lengths;
  KL_TYPE* offers;
  KL_TYPE* bounds;
  int* states;
};

// The minimum over this thread's incoming arcs of a vertex, which are `stride` apart.
__device__ __forceinline__ KL_TYPE least_of(const Search& s, long long begin, long long end,
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

// Raises the bounds of open vertices, one per warp.
__device__ __forceinline__ void raise_bounds(const Search& s, const int* open, int size,
                                             KL_TYPE beta, KL_TYPE* minima, int* many, int* next,
                                             long long* newly_fixed, unsigned long long* state,
                                             unsigned long long* next_size) {
  const int warps = warps_per_block(), warp = threadIdx.x / 32, lane = static_cast<int>(kl_lane());
  for (int first = blockIdx.x * warps; first < size; first += gridDim.x * warps) {
    const int j = first + warp < size ? __ldcg(open + first + warp) : -1;
    const long long begin = j < 0 ? 0 : s.incoming_offsets[j],
                    end = j < 0 ? 0 : s.incoming_offsets[j + 1];
    KL_TYPE least = KlLimits<KL_TYPE>::none();
    if (lane == 0) many[warp] = end - begin > kMany ? j : -1;
    if (end - begin <= kMany) least = warp_min(least_of(s, begin + lane, end, 32, beta));
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
      if (fixed) kl_store(s.states + j, int{kFixed});
    }
    kl_enqueue(fixed, j, s.offsets, newly_fixed, state + kNewlySize);
    kl_append(decides && !fixed, j, next, next_size);
  }
}

__device__ __forceinline__ void make_offers(const Search& s, const long long* newly_fixed,
                                            long long size, int* next,
                                            unsigned long long* next_size) {
  kl_expand(
      newly_fixed, size, s.offsets, [&](int i) { return kl_load(s.offers + i); },
      [&](bool active, int, KL_TYPE distance, long long arc) {
        int j = 0;
        bool opens = false;
        if (active) {
          j = s.neighbors[arc];
          const KL_TYPE through = distance + s.lengths[arc];
          if (through < kl_load(s.offers + j)) {
            kl_atomic_min(s.offers + j, through);
            opens = kl_load(s.states + j) == kUnseen &&
                    atomicCAS(s.states + j, int{kUnseen}, int{kOpen}) == kUnseen;
          }
        }
        kl_append(opens, j, next, next_size);
      });
}

// betas[round % 2] is the beta of a round, no_path before it begins; the open vertices are in even
// or odd, and state[kOpenSize + round % 2] is their number. Ends when beta is beyond the limit, and
// sets that number to 0.
KL_KERNEL_BOUNDS(256, 4, sssp_llp_rounds, const long long* offsets, const int* neighbors,
                 const KL_TYPE* lengths, const long long* incoming_offsets,
                 const int* incoming_tails, const KL_TYPE* incoming_lengths, KL_TYPE* offers,
                 KL_TYPE* bounds, int* states, KL_TYPE limit, int* even, int* odd,
                 long long* newly_fixed, KL_TYPE* betas, unsigned long long* state, long long round,
                 int rounds, unsigned* barrier) {
  __shared__ KL_TYPE minima[kMostWarps];
  __shared__ int many[kMostWarps];
  const Search s{offsets, neighbors, lengths, incoming_offsets, incoming_tails, incoming_lengths,
                 offers,  bounds,    states};
  const bool first = blockIdx.x == 0 && threadIdx.x == 0;
  const int stride = static_cast<int>(gridDim.x * blockDim.x);
  for (const long long end = round + rounds; round < end; ++round) {
    const int parity = static_cast<int>(round % 2);
    const int* const open = parity == 0 ? even : odd;
    int* const next = parity == 0 ? odd : even;
    unsigned long long* const next_size = state + kOpenSize + (1 - parity);
    const int size = static_cast<int>(kl_load(state + kOpenSize + parity));
    if (size == 0) break;
    if (first) {
      kl_store(next_size, 0ull);
      kl_store(state + kNewlySize, 0ull);
    }
    KL_TYPE least = KlLimits<KL_TYPE>::none();
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < size; i += stride) {
      least = min(least, kl_load(offers + __ldcg(open + i)));
    }
    least = block_min(least, minima);
    if (threadIdx.x == 0) kl_atomic_min(betas + parity, least);
    kl_grid_sync(barrier);

    const KL_TYPE beta = kl_load(betas + parity);
    if (beta > limit) {
      if (first) kl_store(state + kOpenSize + parity, 0ull);
      break;
    }
    if (first) kl_store(betas + (1 - parity), KlLimits<KL_TYPE>::none());
    raise_bounds(s, open, size, beta, minima, many, next, newly_fixed, state, next_size);
    kl_grid_sync(barrier);

    make_offers(s, newly_fixed, static_cast<long long>(kl_load(state + kNewlySize)), next,
                next_size);
    kl_grid_sync(barrier);
  }
  if (first) kl_store(state + kRound, static_cast<unsigned long long>(round));
}
