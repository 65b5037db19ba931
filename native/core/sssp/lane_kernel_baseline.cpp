// For any machine of the architecture.
#define KLEENE_LEVEL baseline
#include "sssp/lane_kernel.inl"
