#include "prepared/pairs/climb_kernel.hpp"

#include "simd/levels.hpp"

namespace kleene::prepared {

namespace baseline {
template <class T, PathKind kind>
ClimbKernel<T> climb_kernel(bool with_tails);
}
namespace avx2 {
template <class T, PathKind kind>
ClimbKernel<T> climb_kernel(bool with_tails);
}
namespace avx512 {
template <class T, PathKind kind>
ClimbKernel<T> climb_kernel(bool with_tails);
}

template <class T, PathKind kind>
ClimbKernel<T> climb_kernel(bool with_tails, [[maybe_unused]] int level) {
#ifdef KLEENE_X86_LEVELS
  level = simd::resolve(level);
  if (level == 2) return avx512::climb_kernel<T, kind>(with_tails);
  if (level == 1) return avx2::climb_kernel<T, kind>(with_tails);
#endif
  return baseline::climb_kernel<T, kind>(with_tails);
}

#define KLEENE_CLIMB_KERNEL(T, kind) \
  template ClimbKernel<T> climb_kernel<T, PathKind::kind>(bool, int);
KLEENE_CLIMB_KERNEL(std::int32_t, kMinPlus)
KLEENE_CLIMB_KERNEL(std::int64_t, kMinPlus)
KLEENE_CLIMB_KERNEL(float, kMinPlus)
KLEENE_CLIMB_KERNEL(double, kMinPlus)
KLEENE_CLIMB_KERNEL(std::int32_t, kSignedMinPlus)
KLEENE_CLIMB_KERNEL(std::int64_t, kSignedMinPlus)
KLEENE_CLIMB_KERNEL(std::uint8_t, kMaxMin)
KLEENE_CLIMB_KERNEL(std::int32_t, kMaxMin)
KLEENE_CLIMB_KERNEL(std::int64_t, kMaxMin)
KLEENE_CLIMB_KERNEL(float, kMaxMin)
KLEENE_CLIMB_KERNEL(double, kMaxMin)
KLEENE_CLIMB_KERNEL(float, kMaxTimes)
KLEENE_CLIMB_KERNEL(double, kMaxTimes)

}  // namespace kleene::prepared
