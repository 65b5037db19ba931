"""Tuning of launches that share arcs evenly, for SSSP and spmv.

The kernels' share is in ``kernels/tuning/load_balance.cuh``.
"""

from __future__ import annotations

#: Threads of a block. Not measured: eight warps, so that a block fits beside others.
THREADS = 256

#: Queue entries up to which a block is one warp. Not measured: it is for the emulator, which runs a
#: thread after the other.
ONE_WARP_ENTRIES = 512

#: Queue entries that are worth one more block of a launch that runs rounds. Not measured: one and a
#: half per thread, so that rounds of a small graph have few blocks at the grid barrier.
ENTRIES_PER_BLOCK = 384

#: Blocks per multiprocessor of a launch that runs rounds: more slow down the grid barrier, which
#: takes 1.0 us with one block of 512 threads per multiprocessor of an H200, and gain little.
BLOCKS_PER_SM = 4
