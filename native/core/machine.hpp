// What the processor we run on offers.
#pragma once

namespace kleene {

// The widest vector instructions at hand: "AVX-512", "AVX2", "SSE2", "NEON" or "scalar".
inline const char* simd_level() {
#if defined(__x86_64__) && defined(__GNUC__)
  __builtin_cpu_init();
  if (__builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw")) return "AVX-512";
  if (__builtin_cpu_supports("avx2")) return "AVX2";
  return "SSE2";
#elif defined(__aarch64__)
  return "NEON";
#else
  return "scalar";
#endif
}

}  // namespace kleene
