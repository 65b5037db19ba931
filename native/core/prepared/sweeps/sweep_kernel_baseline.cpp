// For any machine of the architecture: SSE2 on x86-64, NEON on ARM.
#define KLEENE_LEVEL baseline
#define KLEENE_BYTES 16
#include "prepared/sweeps/sweep_kernel.inl"
#include "prepared/sweeps/sweep_rows.inl"
