// Kernels for the tests of the checked emulator: what is wrong with memory, and what only looks so.
#include "common/kleene.cuh"

KL_KERNEL(good_transpose, const float* in, float* out, int n) {
  __shared__ float tile[16][17];
  const int x = blockIdx.x * 16, y = blockIdx.y * 16, i = threadIdx.x, j = threadIdx.y;
  if (x + i < n && y + j < n) tile[j][i] = in[(y + j) * n + x + i];
  __syncthreads();
  if (y + i < n && x + j < n) out[(x + j) * n + y + i] = tile[i][j];
}

// The last block to finish adds up what all have left behind.
KL_KERNEL(good_last_block, const int* in, int* part, int* sum, unsigned* ticket) {
  KL_DYNAMIC_SHARED(int, shared);
  int& last = shared[blockDim.x];
  shared[threadIdx.x] = in[blockIdx.x * blockDim.x + threadIdx.x];
  __syncthreads();
  if (threadIdx.x == 0) {
    int total = 0;
    for (unsigned i = 0; i < blockDim.x; ++i) total += shared[i];
    part[blockIdx.x] = total;
    __threadfence();
    last = atomicAdd(ticket, 1u) == gridDim.x - 1;
  }
  __syncthreads();
  if (last && threadIdx.x == 0) {
    int total = 0;
    for (unsigned i = 0; i < gridDim.x; ++i) total += part[i];
    *sum = total;
  }
}

// Lanes pass values through shared memory with nothing but __syncwarp.
KL_KERNEL(good_warp_exchange, int* out) {
  __shared__ int slot[64];
  slot[threadIdx.x] = threadIdx.x;
  __syncwarp();
  const int other = slot[threadIdx.x ^ 1];
  __syncwarp();
  slot[threadIdx.x] = other;
  out[threadIdx.x] = slot[threadIdx.x];
}

// All write the same.
KL_KERNEL(good_same_value, int* flag) { *flag = 7; }

KL_KERNEL(bad_past_end, int* out, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i <= n) out[i] = i;
}

KL_KERNEL(bad_before_start, const int* in, int* out) {
  out[threadIdx.x] = in[static_cast<int>(threadIdx.x) - 1];
}

KL_KERNEL(bad_shared_end, int* out) {
  KL_DYNAMIC_SHARED(int, shared);
  shared[threadIdx.x + 1] = threadIdx.x;
  out[threadIdx.x] = 1;
}

KL_KERNEL(bad_unwritten, int* out) {
  __shared__ int shared[64];
  if (threadIdx.x < 16) shared[threadIdx.x] = 1;
  __syncthreads();
  out[threadIdx.x] = shared[threadIdx.x];
}

KL_KERNEL(bad_missing_barrier, int* out) {
  __shared__ int shared[64];
  shared[threadIdx.x] = threadIdx.x;
  out[threadIdx.x] = shared[(threadIdx.x + 33) % 64];
}

KL_KERNEL(bad_missing_second_barrier, int* out) {
  KL_DYNAMIC_SHARED(int, shared);
  for (int round = 0; round < 3; ++round) {
    shared[threadIdx.x] = threadIdx.x + round;
    __syncthreads();
    out[threadIdx.x] = shared[(threadIdx.x + 1) % blockDim.x];
  }
}

KL_KERNEL(bad_missing_syncwarp, int* out) {
  __shared__ int slot[32];
  slot[threadIdx.x] = threadIdx.x;
  out[threadIdx.x] = slot[threadIdx.x ^ 1];
}

KL_KERNEL(bad_lost_update, int* sum) { *sum += 1; }

KL_KERNEL(bad_between_blocks, int* a) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  a[i] = a[(i + blockDim.x) % (gridDim.x * blockDim.x)] + 1;
}

KL_KERNEL(bad_half_atomic, int* sum, int* out) {
  atomicAdd(sum, 1);
  out[threadIdx.x] = *sum;
}

KL_KERNEL(bad_copy_barrier, const int4* in, int4* out) {
  KL_DYNAMIC_SHARED(int4, stage);
  kl_copy_async16(stage + threadIdx.x, in + threadIdx.x);
  kl_copy_commit();
  kl_copy_wait<0>();
  out[threadIdx.x] = stage[(threadIdx.x + 40) % blockDim.x];
}
