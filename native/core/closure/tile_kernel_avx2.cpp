// Compiled for AVX2 on x86-64, and empty elsewhere.
#ifdef __AVX2__
#define KLEENE_LEVEL avx2
#define KLEENE_BYTES 32
#define KLEENE_FLOAT_ROWS 12
#define KLEENE_FLOAT_VECTORS 1
#define KLEENE_INTEGER_ROWS 6
#define KLEENE_INTEGER_VECTORS 2
#define KLEENE_PATH_ROWS 6
#include "closure/tile_kernel.inl"
#endif
