// For any machine of the architecture.
#define KLEENE_LEVEL baseline
#define KLEENE_BYTES 16
#include "prepared/customization/front_kernel.inl"
