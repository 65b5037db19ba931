// Every built-in function on numbers that the shim knows: that it exists by that name on a GPU is
// shown by compiling this there, what it computes by running it here.
#include "common/kleene.cuh"

KL_KERNEL(dpx_words, const int* a, const int* b, const int* c, int* out, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  const int x = a[i], y = b[i], z = c[i];
  const unsigned ux = x, uy = y, uz = z;
  int* const row = out + i;
  row[0 * n] = __viaddmin_s32(x, y, z);
  row[1 * n] = __viaddmax_s32(x, y, z);
  row[2 * n] = __vimin3_s32(x, y, z);
  row[3 * n] = __vimax3_s32(x, y, z);
  row[4 * n] = __viaddmin_u32(ux, uy, uz);
  row[5 * n] = __viaddmax_u32(ux, uy, uz);
  row[6 * n] = __vimin3_u32(ux, uy, uz);
  row[7 * n] = __vimax3_u32(ux, uy, uz);
  bool first;
  row[8 * n] = __vibmin_s32(x, y, &first);
  row[9 * n] = first;
  row[10 * n] = __vibmax_u32(ux, uy, &first);
  row[11 * n] = first;
}

KL_KERNEL(dpx_halves, const unsigned* a, const unsigned* b, const unsigned* c, unsigned* out,
          int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  const unsigned x = a[i], y = b[i], z = c[i];
  unsigned* const row = out + i;
  row[0 * n] = __viaddmin_s16x2(x, y, z);
  row[1 * n] = __viaddmax_s16x2(x, y, z);
  row[2 * n] = __vimin3_s16x2(x, y, z);
  row[3 * n] = __vimax3_s16x2(x, y, z);
  row[4 * n] = __viaddmin_u16x2(x, y, z);
  row[5 * n] = __viaddmax_u16x2(x, y, z);
  row[6 * n] = __vimin3_u16x2(x, y, z);
  row[7 * n] = __vimax3_u16x2(x, y, z);
  row[8 * n] = __vmins2(x, y);
  row[9 * n] = __vmaxs2(x, y);
  row[10 * n] = __vminu2(x, y);
  row[11 * n] = __vmaxu2(x, y);
  row[12 * n] = __vadd2(x, y);
}

KL_KERNEL(bit_tricks, const unsigned* a, const unsigned* b, unsigned* out, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  const unsigned x = a[i], y = b[i];
  const unsigned long long both = static_cast<unsigned long long>(x) << 32 | y;
  unsigned* const row = out + i;
  row[0 * n] = __popc(x) + 100 * __popcll(both);
  row[1 * n] = __clz(x) + 100 * __clzll(both);
  row[2 * n] = __ffs(x) + 100 * __ffsll(both);
  row[3 * n] = __brev(x) ^ static_cast<unsigned>(__brevll(both));
  row[4 * n] = __byte_perm(x, y, 0x6127);
  row[5 * n] = __funnelshift_l(x, y, 9);
  row[6 * n] = __funnelshift_r(x, y, 9);
  row[7 * n] = __umulhi(x, y);
  row[8 * n] = __float_as_uint(__uint_as_float(x & 0x3fffffffu));
  row[9 * n] = static_cast<unsigned>(__float_as_int(__int_as_float(7)));
  row[10 * n] = static_cast<unsigned>(__double_as_longlong(__longlong_as_double(y)));
  row[11 * n] = min(x, y) + max(1, 2) + static_cast<unsigned>(max(2.5f, 1.0f) + fminf(1.0f, 2.0f));
  row[12 * n] = __ldg(a + i) ^ __ldcg(a + i) ^ __ldcs(a + i) ^ __ldca(b + i) ^ y;
  __stcg(row + 13 * n, static_cast<unsigned>(__fadd_rn(1.5f, 2.5f) * __fmul_rn(2.0f, 3.0f)));
  __stcs(row + 14 * n, static_cast<unsigned>(__dadd_rn(1.5, 2.5) * __dmul_rn(2.0, 3.0)));
}

KL_KERNEL(atomics, int* i, unsigned* u, unsigned long long* l, float* f, double* d) {
  const int t = blockIdx.x * blockDim.x + threadIdx.x;
  atomicAdd(i + 0, t);
  atomicSub(i + 1, t);
  atomicMin(i + 2, -t);
  atomicMax(i + 3, t);
  atomicOr(i + 4, t);
  atomicXor(i + 5, t);
  atomicAnd(i + 6, ~t);
  atomicExch(i + 7, 5);
  atomicCAS(i + 8, 0, 9);
  atomicAdd(u + 0, 1u);
  atomicInc(u + 1, 4u);
  atomicMin(u + 2, 7u + t);
  atomicMax(u + 3, static_cast<unsigned>(t));
  atomicAdd(l + 0, 1ull << 33);
  atomicMax(l + 1, static_cast<unsigned long long>(t) << 33);
  atomicCAS(l + 2, 0ull, 11ull);
  atomicAdd(f, 0.5f);
  atomicAdd(d, 0.25);
}
