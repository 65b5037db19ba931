// Kernels for the emulator's own tests: right ones first, then wrong ones, each in its own way.
#include "common/kleene.cuh"

// The sum of each block's part of `in`, by halving.
KL_KERNEL(block_sum, const int* in, int* out, int n) {
  KL_DYNAMIC_SHARED(int, part);
  const int t = threadIdx.x, i = blockIdx.x * blockDim.x + t;
  part[t] = i < n ? in[i] : 0;
  __syncthreads();
  for (int half = blockDim.x / 2; half > 0; half /= 2) {
    if (t < half) part[t] += part[t + half];
    __syncthreads();
  }
  if (t == 0) out[blockIdx.x] = part[0];
}

// The same by shuffles, and across warps by static shared memory.
KL_KERNEL_BOUNDS(256, 1, warp_sum, const int* in, int* out, int n) {
  __shared__ int part[32];
  const int t = threadIdx.x, i = blockIdx.x * blockDim.x + t;
  int sum = i < n ? in[i] : 0;
  for (int step = 16; step > 0; step /= 2) sum += __shfl_down_sync(0xffffffffu, sum, step);
  if (t % 32 == 0) part[t / 32] = sum;
  __syncthreads();
  if (t < 32) {
    sum = t < static_cast<int>(blockDim.x) / 32 ? part[t] : 0;
    sum = __reduce_add_sync(0xffffffffu, sum);
    if (t == 0) out[blockIdx.x] = sum;
  }
}

// Inclusive prefix sums within each block.
KL_KERNEL(block_scan, const int* in, int* out, int n) {
  KL_DYNAMIC_SHARED(int, part);
  const int t = threadIdx.x, i = blockIdx.x * blockDim.x + t;
  part[t] = i < n ? in[i] : 0;
  __syncthreads();
  for (int step = 1; step < static_cast<int>(blockDim.x); step *= 2) {
    const int before = t >= step ? part[t - step] : 0;
    __syncthreads();
    part[t] += before;
    __syncthreads();
  }
  if (i < n) out[i] = part[t];
}

// out[0]: how many are positive; out[1], out[2]: whether any, whether all are.
KL_KERNEL(block_votes, const int* in, int* out) {
  const int positive = in[threadIdx.x] > 0;
  const int count = __syncthreads_count(positive);
  const int any = __syncthreads_or(positive);
  const int all = __syncthreads_and(positive);
  if (threadIdx.x == 0) {
    out[0] = count;
    out[1] = any;
    out[2] = all;
  }
}

// One warp: each output is a different operation's.
KL_KERNEL(warp_zoo, const int* in, long long* out) {
  const unsigned all = 0xffffffffu;
  const int lane = threadIdx.x, v = in[lane];
  out[lane] = __ballot_sync(all, v & 1);
  out[32 + lane] = __shfl_xor_sync(all, v, 5);
  out[64 + lane] = __shfl_up_sync(all, v, 3, 16);
  out[96 + lane] = __match_any_sync(all, v % 3);
  out[128 + lane] = __reduce_min_sync(all, v);
  out[160 + lane] = __shfl_sync(all, 1ll * v << 33, lane / 2);
  if (lane < 8) {
    out[192 + lane] = __any_sync(0xffu, v > 100) + 2 * __all_sync(0xffu, v > -100);
  } else {
    out[192 + lane] = __reduce_max_sync(0xffffff00u, v);
  }
  __syncwarp();
  int same;
  out[224 + lane] = __match_all_sync(all, v, &same) + same;
}

// All blocks add up rounds of their neighbour's values, with a grid-wide barrier between rounds.
KL_KERNEL(grid_rounds, int* a, int* b, int rounds, unsigned* state) {
  const int n = gridDim.x * blockDim.x, i = blockIdx.x * blockDim.x + threadIdx.x;
  for (int round = 0; round < rounds; ++round) {
    b[i] = a[i] + a[(i + blockDim.x) % n];
    kl_grid_sync(state);
    a[i] = b[i];
    kl_grid_sync(state);
  }
}

// Counts by atomic operations; each block waits for the one before it.
KL_KERNEL(block_chain, int* sum, int* turn) {
  if (threadIdx.x == 0) {
    while (kl_load(turn) != static_cast<int>(blockIdx.x)) __nanosleep(100);
  }
  __syncthreads();
  atomicAdd(sum, static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x));
  __threadfence();
  __syncthreads();
  if (threadIdx.x == 0) atomicAdd(turn, 1);
}

// Copies two tiles ahead of use.
KL_KERNEL(copy_pipeline, const int4* in, int4* out, int tiles) {
  KL_DYNAMIC_SHARED(int4, stage);
  const int t = threadIdx.x, width = blockDim.x;
  kl_copy_async16(stage + t, in + t);
  kl_copy_commit();
  for (int tile = 0; tile < tiles; ++tile) {
    if (tile + 1 < tiles) {
      kl_copy_async16(stage + (tile + 1) % 2 * width + t, in + (tile + 1) * width + t);
    }
    kl_copy_commit();
    kl_copy_wait<1>();
    __syncthreads();
    out[tile * width + t] = stage[tile % 2 * width + (t + 1) % width];
    __syncthreads();
  }
}

// ---- wrong on purpose ---------------------------------------------------------------------------

KL_KERNEL(bad_early_exit, int* out, int n) {
  if (static_cast<int>(threadIdx.x) >= n) return;
  out[threadIdx.x] = 1;
  __syncthreads();
  out[threadIdx.x] = 2;
}

KL_KERNEL(bad_two_places, int* out) {
  if (threadIdx.x % 2 == 0) {
    __syncthreads();
  } else {
    out[threadIdx.x] = 1;
    __syncthreads();
  }
}

KL_KERNEL(bad_uneven_loop, int* out) {
  for (unsigned i = 0; i < 2 + threadIdx.x / 32; ++i) __syncthreads();
  out[threadIdx.x] = 1;
}

KL_KERNEL(bad_warp_mask, int* out) {
  if (threadIdx.x < 16) out[threadIdx.x] = __shfl_sync(0xffffffffu, 1, 0);
  __syncthreads();
}

KL_KERNEL(bad_own_lane, int* out) { out[threadIdx.x] = __ballot_sync(0x0000ffffu, 1); }

KL_KERNEL(bad_masks_differ, int* out) {
  out[threadIdx.x] = __any_sync(threadIdx.x < 16 ? 0xffffffffu : 0xfffffffeu, 1);
}

KL_KERNEL(bad_gone_lane, int* out) {
  if (threadIdx.x == 7) return;
  out[threadIdx.x] = __shfl_sync(0xffffffffu, 1, 7);
}

KL_KERNEL(bad_spin, int* flag) {
  while (kl_load(flag) == 0) __nanosleep(10);
}

KL_KERNEL(bad_spin_atomic, int* flag) {
  while (atomicAdd(flag, 0) == 0) {
  }
}

KL_KERNEL(bad_grid_exit, int* out, unsigned* state) {
  if (blockIdx.x == 1) return;
  kl_grid_sync(state);
  out[blockIdx.x] = 1;
}

KL_KERNEL(bad_trap, int* out) {
  if (out[threadIdx.x] == 0) __trap();
}

KL_KERNEL(bad_missing_wait, const int4* in, int4* out) {
  KL_DYNAMIC_SHARED(int4, stage);
  kl_copy_async16(stage + threadIdx.x, in + threadIdx.x);
  kl_copy_commit();
  __syncthreads();
  out[threadIdx.x] = stage[threadIdx.x];
}
