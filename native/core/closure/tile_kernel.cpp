#include "closure/tile_kernel.hpp"

#include <chrono>

#include "closure/closure.hpp"
#include "parallel/buffer.hpp"
#include "simd/levels.hpp"

namespace kleene::closure {

namespace baseline {
template <class T>
TileKernel<T> kernel(Semiring, KernelTraits);
}
namespace avx2 {
template <class T>
TileKernel<T> kernel(Semiring, KernelTraits);
}
namespace avx512 {
template <class T>
TileKernel<T> kernel(Semiring, KernelTraits);
}

template <class T>
TileKernel<T> tile_kernel(Semiring semiring, [[maybe_unused]] int level, KernelTraits traits) {
#ifdef KLEENE_X86_LEVELS
  level = simd::resolve(level);
  if (level == 2) return avx512::kernel<T>(semiring, traits);
  if (level == 1) return avx2::kernel<T>(semiring, traits);
#endif
  return baseline::kernel<T>(semiring, traits);
}

template <class T>
double peak_rate(Semiring semiring, bool paths, int level, double seconds) {
  using Clock = std::chrono::steady_clock;
  constexpr std::int64_t kDepth = 96, kCalls = 1000;
  const TileKernel<T> kernel = tile_kernel<T>(semiring, level, {simd::has_zen_pipes(), true});
  const std::int64_t rows = paths ? kernel.path_rows : kernel.rows;
  const std::int64_t columns = paths ? kernel.path_columns : kernel.columns;
  const auto filled = [](std::int64_t size, auto value) {
    AlignedBuffer<decltype(value)> buffer(size);
    // untestable (= 0 to = 1, < to >=): any operands will do
    for (std::int64_t i = 0; i < size; ++i) buffer[i] = value;
    return buffer;
  };
  auto a = filled(rows * kDepth, T{1}), b = filled(columns * kDepth, T{1});
  auto c = filled(rows * columns, T{1});
  auto b_predecessors = filled(columns * kDepth, std::int32_t{0});
  auto predecessors = filled(rows * columns, std::int32_t{0});
  std::int64_t calls = 0;
  const auto began = Clock::now();
  std::chrono::duration<double> spent{};
  do {
    // untestable (= 0 to = 1, < to <=): a speed that is off by a thousandth
    for (std::int64_t i = 0; i < kCalls; ++i) {
      if (paths) {
        kernel.multiply_paths(kDepth, a.data(), b.data(), b_predecessors.data(), c.data(),
                              predecessors.data(), columns);
      } else {
        kernel.multiply(kDepth, a.data(), b.data(), c.data(), columns);
      }
    }
    calls += kCalls;
    spent = Clock::now() - began;
  } while (spent.count() < seconds);  // untestable (< to <=): how long it measures
  return static_cast<double>(calls * rows * columns * kDepth * kPacked<T>) / spent.count();
}

#define KLEENE_INSTANTIATE(T)                                      \
  template TileKernel<T> tile_kernel(Semiring, int, KernelTraits); \
  template double peak_rate<T>(Semiring, bool, int, double);
KLEENE_INSTANTIATE(float)
KLEENE_INSTANTIATE(double)
KLEENE_INSTANTIATE(std::int16_t)
KLEENE_INSTANTIATE(std::int32_t)
KLEENE_INSTANTIATE(std::int64_t)
KLEENE_INSTANTIATE(std::uint64_t)
#undef KLEENE_INSTANTIATE

}  // namespace kleene::closure
