// Chooses among the inner loops for several sources.
#include "dense.hpp"
#include "sssp_lanes_kernel.hpp"

namespace kleene {

namespace baseline {
template <class T>
RelaxLanes<T>* relax_lanes();
}
namespace avx2 {
template <class T>
RelaxLanes<T>* relax_lanes();
}
namespace avx512 {
template <class T>
RelaxLanes<T>* relax_lanes();
}

template <class T>
RelaxLanes<T>* relax_lanes(int level) {
  if (level < 0) level = static_cast<int>(dense_levels().size()) - 1;
#ifdef KLEENE_X86_LEVELS
  if (level == 2) return avx512::relax_lanes<T>();
  if (level == 1) return avx2::relax_lanes<T>();
#endif
  return baseline::relax_lanes<T>();
}

template RelaxLanes<float>* relax_lanes(int);
template RelaxLanes<double>* relax_lanes(int);
template RelaxLanes<std::int32_t>* relax_lanes(int);
template RelaxLanes<std::int64_t>* relax_lanes(int);

}  // namespace kleene
