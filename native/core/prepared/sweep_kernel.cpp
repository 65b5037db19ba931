#include "prepared/sweep_kernel.hpp"

#include "simd/levels.hpp"

namespace kleene::prepared {

namespace baseline {
template <class T>
SweepKernel<T> kernel(Semiring, bool);
}
namespace avx2 {
template <class T>
SweepKernel<T> kernel(Semiring, bool);
}
namespace avx512 {
template <class T>
SweepKernel<T> kernel(Semiring, bool);
}

template <class T>
SweepKernel<T> sweep_kernel(Semiring semiring, bool negative, [[maybe_unused]] int level) {
#ifdef KLEENE_X86_LEVELS
  level = simd::resolve(level);
  if (level == 2) return avx512::kernel<T>(semiring, negative);
  if (level == 1) return avx2::kernel<T>(semiring, negative);
#endif
  return baseline::kernel<T>(semiring, negative);
}

template SweepKernel<float> sweep_kernel(Semiring, bool, int);
template SweepKernel<double> sweep_kernel(Semiring, bool, int);
template SweepKernel<std::int32_t> sweep_kernel(Semiring, bool, int);
template SweepKernel<std::int64_t> sweep_kernel(Semiring, bool, int);
template SweepKernel<std::uint8_t> sweep_kernel(Semiring, bool, int);

}  // namespace kleene::prepared
