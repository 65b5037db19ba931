#include "prepared/customization/front_kernel.hpp"

#include "simd/levels.hpp"

namespace kleene::prepared {

namespace baseline {
template <class T>
FrontKernel<T> front_kernel(Semiring, bool);
}
namespace avx2 {
template <class T>
FrontKernel<T> front_kernel(Semiring, bool);
}
namespace avx512 {
template <class T>
FrontKernel<T> front_kernel(Semiring, bool);
}

template <class T>
FrontKernel<T> front_kernel(Semiring semiring, bool negative, [[maybe_unused]] int level) {
#ifdef KLEENE_X86_LEVELS
  level = simd::resolve(level);
  if (level == 2) return avx512::front_kernel<T>(semiring, negative);
  if (level == 1) return avx2::front_kernel<T>(semiring, negative);
#endif
  return baseline::front_kernel<T>(semiring, negative);
}

template FrontKernel<float> front_kernel(Semiring, bool, int);
template FrontKernel<double> front_kernel(Semiring, bool, int);
template FrontKernel<std::int32_t> front_kernel(Semiring, bool, int);
template FrontKernel<std::int64_t> front_kernel(Semiring, bool, int);
template FrontKernel<std::uint8_t> front_kernel(Semiring, bool, int);

}  // namespace kleene::prepared
