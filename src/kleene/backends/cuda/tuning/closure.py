"""Tuning of the dense closure on a GPU; the constants of its kernels are in ``kernels/tuning``."""

from __future__ import annotations

__all__ = [
    "BAND_TILES",
    "BLOCKS_PER_MULTIPROCESSOR",
    "CAPTURED_ROWS",
    "PRODUCT_TILES",
    "RECOVERY_SHARE",
    "ROUNDS_AHEAD",
    "ROUND_BLOCKS",
    "STAGED_LEAST",
    "STAGING_BUFFERS",
    "STREAMED_LEAST",
    "STREAMED_SHARE",
    "STRIPE_BYTES",
    "UNRESOLVED_SHARE",
]

#: Blocks of 128 vertices of a round, by the least number of tiles. More blocks amortise reading and
#: writing the tiles of the matrix; but the preparation of a round must overlap with the product of
#: the round before. NVIDIA H200, float32 >= 0, with 1, 2 and 4 blocks: 6.3, 7.4 and 7.8 ms at
#: n = 4096 (1024 tiles), 40.2, 38.4 and 37.8 ms at n = 8192, 307, 295 and 290 ms at n = 16384; with
#: 8 blocks 1 % less than with 4 at n = 16384, 7 % more at n = 8192.
ROUND_BLOCKS = ((16384, 8), (2304, 4), (0, 1))

#: Rounds queued on the device before the host waits. Not measured: at n = 1024 they last 1.1 ms on
#: an NVIDIA H200, long enough for any delay of the host, and Ctrl-C is noticed after them.
ROUNDS_AHEAD = 8

#: Blocks of threads per multiprocessor that go over all words of a matrix. Not measured: 8 blocks
#: of 256 threads fill one.
BLOCKS_PER_MULTIPROCESSOR = 8

#: Rows of a matrix whose rounds are captured once and launched together, on a placed graph. NVIDIA
#: H200, whole calls, launched one by one and captured: 0.95 and 0.58 ms at n = 512, 1.54 and 1.00
#: at 1024, 2.76 and 2.04 at 2048, 4.11 and 3.98 at 3072; 6.3 and 7.3 at 4096.
CAPTURED_ROWS = 3072

#: Tiles per band of a streamed matrix. Not measured: twice the 264 tiles that an NVIDIA H200
#: computes at once, since two bands are processed at once.
BAND_TILES = 512

#: Bytes of a host matrix that is streamed though the device could hold it, so that copies overlap
#: with computation. NVIDIA H200, float32, whole calls: 0.58 s either way at n = 16384 (1.1 GB),
#: 2.90 s streamed and 3.49 s copied as a whole at n = 32768 (4.3 GB).
STREAMED_LEAST = 2**31

#: Device memory of a streamed matrix, at most, as a part of the whole. NVIDIA H200, n = 32768: 2.8
#: of 4.3 GB, so that two panels are enough and the first is complete early.
STREAMED_SHARE = 2 / 3

#: Page-locked buffers per direction. Not measured: one is filled, one is copied, one between.
STAGING_BUFFERS = 3

#: Bytes of a matrix that is copied through page-locked buffers. NVIDIA H200, n = 8192 and 16384
#: (0.27 and 1.1 GB): pageable memory is copied at some 8 GB/s, page-locked memory at 55, stripes by
#: 8 or 16 threads at 35 to 38 in and 33 to 35 out.
STAGED_LEAST = 2**26

#: Bytes of a buffer for stripes of rows. NVIDIA H200, n = 8192, 16 threads, in and out: 17 and 22
#: GB/s with 4 MB, 38 and 34 with 8 MB; more is not kept for the next call, and page-locked memory
#: takes 0.3 ms a MB to allocate.
STRIPE_BYTES = 2**23

#: Entries that the search for predecessors may visit and still be faster than carrying them along,
#: as a part of the n^3 relaxations (NVIDIA H200, float32, n = 8192: 0.7 T scattered entries a
#: second, and 14 T relaxations).
RECOVERY_SHARE = 1 / 16

#: Entries that the search by heights may leave open, as a part of all. Not measured: the host
#: attaches what is open, one search per row that has any; more than this means cycles of length
#: zero, for which predecessors are carried along.
UNRESOLVED_SHARE = 1 / 4096

#: Tiles of a launch of a product, at least. Not measured: those of n = 8192, 16 times the 264 that
#: an NVIDIA H200 computes at once, so that the last of them cost little; 0.3 s of work at
#: n = 65536, after which Ctrl-C is noticed.
PRODUCT_TILES = 4096
