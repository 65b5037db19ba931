#include "sssp/lane_kernel.hpp"

#include "simd/levels.hpp"

namespace kleene::sssp {

namespace baseline {
template <class T>
RelaxLanes<T>* relax_lanes();
template <class T>
TightLanes<T>* tight_lanes();
}  // namespace baseline
namespace avx2 {
template <class T>
RelaxLanes<T>* relax_lanes();
template <class T>
TightLanes<T>* tight_lanes();
}  // namespace avx2
namespace avx512 {
template <class T>
RelaxLanes<T>* relax_lanes();
template <class T>
TightLanes<T>* tight_lanes();
}  // namespace avx512

template <class T>
RelaxLanes<T>* relax_lanes([[maybe_unused]] int level) {
#ifdef KLEENE_X86_LEVELS
  level = simd::resolve(level);
  if (level == 2) return avx512::relax_lanes<T>();
  if (level == 1) return avx2::relax_lanes<T>();
#endif
  return baseline::relax_lanes<T>();
}

template <class T>
TightLanes<T>* tight_lanes([[maybe_unused]] int level) {
#ifdef KLEENE_X86_LEVELS
  level = simd::resolve(level);
  if (level == 2) return avx512::tight_lanes<T>();
  if (level == 1) return avx2::tight_lanes<T>();
#endif
  return baseline::tight_lanes<T>();
}

template RelaxLanes<float>* relax_lanes(int);
template RelaxLanes<double>* relax_lanes(int);
template RelaxLanes<std::int32_t>* relax_lanes(int);
template RelaxLanes<std::int64_t>* relax_lanes(int);
template TightLanes<double>* tight_lanes(int);
template TightLanes<std::int32_t>* tight_lanes(int);
template TightLanes<std::int64_t>* tight_lanes(int);

}  // namespace kleene::sssp
