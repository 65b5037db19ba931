// The vector instruction sets of this machine.
//
// Vector kernels (files *.each_level.cpp) are written once with the compiler's vector types,
// compiled once for each instruction set, and chosen at run time by level. CMake defines
// KLEENE_LEVEL, a namespace, and KLEENE_BYTES, the size of a vector.
//
// Rule for such files: they may contain templates in anonymous namespaces, and nothing that other
// files could share. The linker keeps one copy of an inline function or template with external
// linkage, and that copy may use instructions that the machine lacks. So they include their kernel
// header, tile_arithmetic.inl and <cstdint>/<type_traits>/<immintrin.h>, and no other header.
#pragma once

#include <string>
#include <vector>

namespace kleene::simd {

// Names of the instruction sets that kernels are compiled for and this machine has, best last; an
// index into it is a level.
const std::vector<std::string>& levels();

// The level itself, or the best one for -1.
int resolve(int level);

// Whether additions, minima and comparisons of floats share two of four pipes, as on AMD's
// processors since Zen, while multiply-adds use the other two, and comparisons of integers all
// four. Kernels then add by multiply-add, or compare floats as integers. (On Intel's, that gains
// nothing.)
bool has_zen_pipes();

// The widest vector instructions of the machine: "AVX-512", "AVX2", "SSE2", "NEON" or "scalar".
const char* widest();

}  // namespace kleene::simd
