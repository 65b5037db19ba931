// Compiled once for each type of ids, so that two cores compile both at once.
#include "sssp/delta_stepping.hpp"

namespace kleene::sssp {

KLEENE_SSSP_METHOD_OF(KLEENE_ID, delta_stepping)

}  // namespace kleene::sssp
