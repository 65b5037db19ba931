// With 32-bit ids; delta_stepping_int64.cpp has the others, so that two cores compile them at once.
#include "sssp/delta_stepping.hpp"

namespace kleene::sssp {

KLEENE_SSSP_METHOD_OF(std::int32_t, delta_stepping)

}  // namespace kleene::sssp
