// Chooses among the tile kernels, and measures them.
#include "dense_kernel.hpp"

#include <chrono>

#include "buffer.hpp"
#include "dense.hpp"

namespace kleene {

namespace baseline {
template <class T>
TileKernel<T> kernel(Algebra);
}
namespace avx2 {
template <class T>
TileKernel<T> kernel(Algebra);
}
namespace avx512 {
template <class T>
TileKernel<T> kernel(Algebra);
}

const std::vector<std::string>& dense_levels() {
  static const std::vector<std::string> levels = [] {
    std::vector<std::string> names{"baseline"};
#ifdef KLEENE_X86_LEVELS
    __builtin_cpu_init();
    if (__builtin_cpu_supports("avx2")) {
      names.emplace_back("AVX2");
      if (__builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
          __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512vl")) {
        names.emplace_back("AVX-512");
      }
    }
#endif
    return names;
  }();
  return levels;
}

template <class T>
TileKernel<T> tile_kernel(Algebra algebra, int level) {
  if (level < 0) level = static_cast<int>(dense_levels().size()) - 1;
#ifdef KLEENE_X86_LEVELS
  if (level == 2) return avx512::kernel<T>(algebra);
  if (level == 1) return avx2::kernel<T>(algebra);
#endif
  return baseline::kernel<T>(algebra);
}

template <class T>
double dense_ceiling(Algebra algebra, bool paths, int level, double seconds) {
  using Clock = std::chrono::steady_clock;
  constexpr std::int64_t kDepth = 96, kCalls = 1000;
  const TileKernel<T> kernel = tile_kernel<T>(algebra, level);
  const std::int64_t rows = paths ? kernel.path_rows : kernel.rows;
  const std::int64_t columns = paths ? kernel.path_columns : kernel.columns;
  const auto filled = [](std::int64_t size, auto value) {
    AlignedBuffer<decltype(value)> buffer(size);
    for (std::int64_t i = 0; i < size; ++i) buffer[i] = value;
    return buffer;
  };
  auto a = filled(rows * kDepth, T{1}), b = filled(columns * kDepth, T{1});
  auto c = filled(rows * columns, T{1});
  auto via = filled(columns * kDepth, std::int32_t{0});
  auto last = filled(rows * columns, std::int32_t{0});
  std::int64_t calls = 0;
  const auto began = Clock::now();
  std::chrono::duration<double> spent{};
  do {
    for (std::int64_t i = 0; i < kCalls; ++i) {
      if (paths) {
        kernel.multiply_paths(kDepth, a.data(), b.data(), via.data(), c.data(), columns,
                              last.data(), columns);
      } else {
        kernel.multiply(kDepth, a.data(), b.data(), c.data(), columns);
      }
    }
    calls += kCalls;
    spent = Clock::now() - began;
  } while (spent.count() < seconds);
  return static_cast<double>(calls * rows * columns * kDepth * kPacked<T>) / spent.count();
}

#define KLEENE_INSTANTIATE(T)                       \
  template TileKernel<T> tile_kernel(Algebra, int); \
  template double dense_ceiling<T>(Algebra, bool, int, double);
KLEENE_INSTANTIATE(float)
KLEENE_INSTANTIATE(double)
KLEENE_INSTANTIATE(std::int16_t)
KLEENE_INSTANTIATE(std::int32_t)
KLEENE_INSTANTIATE(std::int64_t)
KLEENE_INSTANTIATE(std::uint64_t)
#undef KLEENE_INSTANTIATE

}  // namespace kleene
