#include "simd/levels.hpp"

namespace kleene::simd {

// untestable below: all levels of instructions compute the same, and tests run them all

const std::vector<std::string>& levels() {
  static const std::vector<std::string> names = [] {
    std::vector<std::string> found{"baseline"};
#ifdef KLEENE_X86_LEVELS
    __builtin_cpu_init();
    if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma")) {
      found.emplace_back("AVX2");
      if (__builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
          __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512vl")) {
        found.emplace_back("AVX-512");
      }
    }
#endif
    return found;
  }();
  return names;
}

int resolve(int level) { return level < 0 ? static_cast<int>(levels().size()) - 1 : level; }

bool has_zen_pipes() {
#ifdef KLEENE_X86_LEVELS
  __builtin_cpu_init();
  return __builtin_cpu_is("amd");
#else
  return false;
#endif
}

const char* widest() {
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

}  // namespace kleene::simd
