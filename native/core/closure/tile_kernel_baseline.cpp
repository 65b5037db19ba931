// For any machine of the architecture: SSE2 on x86-64, NEON on ARM.
#define KLEENE_LEVEL baseline
#define KLEENE_BYTES 16
#define KLEENE_FLOAT_ROWS 12
#define KLEENE_FLOAT_VECTORS 1
#define KLEENE_INTEGER_ROWS 6
#define KLEENE_INTEGER_VECTORS 2
#define KLEENE_PATH_ROWS 6
#include "closure/tile_kernel.inl"
