// Tuning of the recovery of predecessors: constants of its kernels, and where each was measured.
#pragma once

#include "common/kleene.cuh"

// Rows of a block of threads that counts or lists tight arcs. Not measured: at n = 8192 there are
// 32 x 32 blocks, enough for every multiprocessor of an NVIDIA H200, and one count per 256 entries.
const int kListedRows = 256;

// Entries of a column that share one pass over its list, so that an arc is read once for four
// distances. Not measured on its own: with four, an NVIDIA H200 recovers n = 8192 in 16 ms.
const int kSearchedRows = 4;
