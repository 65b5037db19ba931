// Compiled for AVX2 on x86-64, and empty elsewhere.
#ifdef __AVX2__
#define KLEENE_LEVEL avx2
#define KLEENE_BYTES 32
#include "prepared/customization/front_kernel.inl"
#endif
