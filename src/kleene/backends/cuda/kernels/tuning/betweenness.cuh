// Tuning of the kernels of betweenness; the host's share is in tuning/betweenness.py.
#pragma once

// Blocks of 256 threads per multiprocessor, for the compiler. Not measured: 64 registers a thread.
const int kBetweennessBlocks = 4;
