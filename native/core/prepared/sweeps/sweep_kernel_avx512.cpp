// Compiled for AVX-512 (F, BW, DQ, VL) on x86-64, and empty elsewhere.
#ifdef __AVX512BW__
#define KLEENE_LEVEL avx512
#define KLEENE_BYTES 64
#include "prepared/sweeps/sweep_kernel.inl"
#include "prepared/sweeps/sweep_rows.inl"
#endif
