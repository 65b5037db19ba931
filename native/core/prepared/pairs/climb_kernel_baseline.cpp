// For any machine of the architecture.
#define KLEENE_LEVEL baseline
#include "prepared/pairs/climb_kernel.inl"
