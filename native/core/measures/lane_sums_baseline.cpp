// For any machine of the architecture.
#define KLEENE_LEVEL baseline
#include "measures/lane_sums.inl"
