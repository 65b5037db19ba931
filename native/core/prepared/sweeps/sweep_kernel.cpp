#include "prepared/sweeps/sweep_kernel.hpp"

#include "simd/levels.hpp"

namespace kleene::prepared {

#define KLEENE_LEVELS(LEVEL)             \
  namespace LEVEL {                      \
  template <class T>                     \
  SweepKernel<T> kernel(Semiring, bool); \
  template <class T, class Out>          \
  WriteRows<T, Out>* write_rows();       \
  }
KLEENE_LEVELS(baseline)
KLEENE_LEVELS(avx2)
KLEENE_LEVELS(avx512)
#undef KLEENE_LEVELS

template <class T>
SweepKernel<T> sweep_kernel(Semiring semiring, bool negative, [[maybe_unused]] int level) {
#ifdef KLEENE_X86_LEVELS
  level = simd::resolve(level);
  if (level == 2) return avx512::kernel<T>(semiring, negative);
  if (level == 1) return avx2::kernel<T>(semiring, negative);
#endif
  return baseline::kernel<T>(semiring, negative);
}

template <class T, class Out>
WriteRows<T, Out>* write_rows([[maybe_unused]] int level) {
#ifdef KLEENE_X86_LEVELS
  level = simd::resolve(level);
  if (level == 2) return avx512::write_rows<T, Out>();
  if (level == 1) return avx2::write_rows<T, Out>();
#endif
  return baseline::write_rows<T, Out>();
}

template SweepKernel<float> sweep_kernel(Semiring, bool, int);
template SweepKernel<double> sweep_kernel(Semiring, bool, int);
template SweepKernel<std::int32_t> sweep_kernel(Semiring, bool, int);
template SweepKernel<std::int64_t> sweep_kernel(Semiring, bool, int);
template SweepKernel<std::uint8_t> sweep_kernel(Semiring, bool, int);

#define KLEENE_WRITE(T, Out) template WriteRows<T, Out>* write_rows(int);
KLEENE_WRITE(float, float)
KLEENE_WRITE(double, double)
KLEENE_WRITE(std::int32_t, std::int32_t)
KLEENE_WRITE(std::int32_t, std::int64_t)
KLEENE_WRITE(std::int32_t, bool)
KLEENE_WRITE(std::int64_t, std::int64_t)
KLEENE_WRITE(std::int64_t, std::int32_t)
KLEENE_WRITE(std::uint8_t, bool)
#undef KLEENE_WRITE

}  // namespace kleene::prepared
