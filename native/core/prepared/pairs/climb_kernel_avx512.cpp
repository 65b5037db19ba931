// Compiled for AVX-512 (F, BW, DQ, VL) on x86-64, and empty elsewhere.
#ifdef __AVX512BW__
#define KLEENE_LEVEL avx512
#include "prepared/pairs/climb_kernel.inl"
#endif
