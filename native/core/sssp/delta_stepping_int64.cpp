#include "sssp/delta_stepping.hpp"

namespace kleene::sssp {

KLEENE_SSSP_METHOD_OF(std::int64_t, delta_stepping)

}  // namespace kleene::sssp
