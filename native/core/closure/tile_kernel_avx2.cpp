// Compiled for AVX2 on x86-64, and empty elsewhere.
#ifdef __AVX2__
#define KLEENE_LEVEL avx2
#define KLEENE_BYTES 32
#define KLEENE_ROWS 6
#define KLEENE_VECTORS 2
#define KLEENE_PATH_ROWS 6
#define KLEENE_PATH_VECTORS 1
#include "closure/tile_kernel.inl"
#endif
