// Compiled for AVX2 on x86-64, and empty elsewhere.
#ifdef __AVX2__
#define KLEENE_LEVEL avx2
#include "prepared/pairs/climb_kernel.inl"
#endif
