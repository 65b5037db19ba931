// Compiled for AVX-512 (F, BW, DQ, VL) on x86-64, and empty elsewhere.
#ifdef __AVX512BW__
#define KLEENE_LEVEL avx512
#define KLEENE_BYTES 64
#define KLEENE_FLOAT_ROWS 12
#define KLEENE_FLOAT_VECTORS 2
#define KLEENE_INTEGER_ROWS 12
#define KLEENE_INTEGER_VECTORS 2
#define KLEENE_PATH_ROWS 8
#include "closure/tile_kernel.inl"
#endif
