// CUDA's DPX instructions: fused additions and minima or maxima, on 32-bit values and on pairs of
// 16-bit halves. Sums wrap, as on the GPU.
#pragma once

template <class T>
constexpr T kl_dpx_add(T a, T b) {
  return static_cast<T>(static_cast<unsigned>(a) + static_cast<unsigned>(b));
}
template <class T>
constexpr T kl_dpx_min(T a, T b) {
  return a < b ? a : b;
}
template <class T>
constexpr T kl_dpx_max(T a, T b) {
  return a < b ? b : a;
}

// Applies an operation to both halves of each operand.
template <class Half, class Operation, class... Words>
constexpr unsigned kl_dpx_halves(Operation operation, Words... words) {
  const Half low = operation(static_cast<Half>(words & 0xffffu)...);
  const Half high = operation(static_cast<Half>(words >> 16)...);
  return static_cast<unsigned>(static_cast<unsigned short>(low)) |
         static_cast<unsigned>(static_cast<unsigned short>(high)) << 16;
}

#define KL_DPX(suffix, T)                                                                    \
  constexpr T __viaddmin_##suffix(T a, T b, T c) { return kl_dpx_min(kl_dpx_add(a, b), c); } \
  constexpr T __viaddmax_##suffix(T a, T b, T c) { return kl_dpx_max(kl_dpx_add(a, b), c); } \
  constexpr T __vimin3_##suffix(T a, T b, T c) { return kl_dpx_min(kl_dpx_min(a, b), c); }   \
  constexpr T __vimax3_##suffix(T a, T b, T c) { return kl_dpx_max(kl_dpx_max(a, b), c); }   \
  inline T __vibmin_##suffix(T a, T b, bool* first) {                                        \
    *first = a <= b;                                                                         \
    return kl_dpx_min(a, b);                                                                 \
  }                                                                                          \
  inline T __vibmax_##suffix(T a, T b, bool* first) {                                        \
    *first = a >= b;                                                                         \
    return kl_dpx_max(a, b);                                                                 \
  }
KL_DPX(s32, int)
KL_DPX(u32, unsigned)
#undef KL_DPX

#define KL_DPX(suffix, Half)                                                              \
  constexpr unsigned __viaddmin_##suffix##x2(unsigned a, unsigned b, unsigned c) {        \
    return kl_dpx_halves<Half>(                                                           \
        [](Half x, Half y, Half z) { return kl_dpx_min(kl_dpx_add(x, y), z); }, a, b, c); \
  }                                                                                       \
  constexpr unsigned __viaddmax_##suffix##x2(unsigned a, unsigned b, unsigned c) {        \
    return kl_dpx_halves<Half>(                                                           \
        [](Half x, Half y, Half z) { return kl_dpx_max(kl_dpx_add(x, y), z); }, a, b, c); \
  }                                                                                       \
  constexpr unsigned __vimin3_##suffix##x2(unsigned a, unsigned b, unsigned c) {          \
    return kl_dpx_halves<Half>(                                                           \
        [](Half x, Half y, Half z) { return kl_dpx_min(kl_dpx_min(x, y), z); }, a, b, c); \
  }                                                                                       \
  constexpr unsigned __vimax3_##suffix##x2(unsigned a, unsigned b, unsigned c) {          \
    return kl_dpx_halves<Half>(                                                           \
        [](Half x, Half y, Half z) { return kl_dpx_max(kl_dpx_max(x, y), z); }, a, b, c); \
  }
KL_DPX(s16, short)
KL_DPX(u16, unsigned short)
#undef KL_DPX

#define KL_SIMD(name, Half, operation)                                                \
  constexpr unsigned name(unsigned a, unsigned b) {                                   \
    return kl_dpx_halves<Half>([](Half x, Half y) { return operation(x, y); }, a, b); \
  }
KL_SIMD(__vmins2, short, kl_dpx_min)
KL_SIMD(__vmaxs2, short, kl_dpx_max)
KL_SIMD(__vminu2, unsigned short, kl_dpx_min)
KL_SIMD(__vmaxu2, unsigned short, kl_dpx_max)
KL_SIMD(__vadd2, unsigned short, kl_dpx_add)
#undef KL_SIMD
