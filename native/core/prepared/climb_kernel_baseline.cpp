// For any machine of the architecture.
#define KLEENE_LEVEL baseline
#include "prepared/climb_kernel.inl"
