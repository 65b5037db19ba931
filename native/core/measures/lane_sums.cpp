#include "measures/lane_sums.hpp"

#include "simd/levels.hpp"

namespace kleene::measures {

namespace baseline {
template <int kLanes>
LaneSums<kLanes> lane_sums();
}
namespace avx2 {
template <int kLanes>
LaneSums<kLanes> lane_sums();
}
namespace avx512 {
template <int kLanes>
LaneSums<kLanes> lane_sums();
}

template <int kLanes>
LaneSums<kLanes> lane_sums([[maybe_unused]] int level) {
#ifdef KLEENE_X86_LEVELS
  level = simd::resolve(level);
  if (level == 2) return avx512::lane_sums<kLanes>();
  if (level == 1) return avx2::lane_sums<kLanes>();
#endif
  return baseline::lane_sums<kLanes>();
}

template LaneSums<4> lane_sums(int);
template LaneSums<8> lane_sums(int);
template LaneSums<16> lane_sums(int);
template LaneSums<32> lane_sums(int);
template LaneSums<64> lane_sums(int);

}  // namespace kleene::measures
