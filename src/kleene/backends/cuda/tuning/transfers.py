"""Copies between a device and the host, and the memory for them.

"H200" is an H200 on PCIe 5 in a server with 16 Xeon cores: copies to page-locked memory run at 55
GB/s there, copies to new pageable memory at 10.
"""

# ---- answers in page-locked memory --------------------------------------------------------------

#: Answers of fewer bytes are copied once more, to memory of their own: 64 KiB take some 6 us, an
#: allocation of page-locked memory 0.1 ms. Not measured: chosen by these two figures.
PINNED_LEAST = 2**16

#: Larger answers go to pageable memory. Page-locked memory takes 0.3 ms a MB to allocate (H200), so
#: the first answer of this size waits 40 ms; not measured: a bound for that wait.
PINNED_MOST = 2**27

#: Page-locked memory of all answers that are alive, as a part of the memory and in bytes. Not
#: measured: a safety cap, since no other process can use memory that is locked.
PINNED_PART, PINNED_CAP = 1 / 8, 2**32

#: Page-locked bytes that are kept for later answers. Not measured: four pairs of rows of an R-MAT
#: graph of scale 24.
PINNED_IDLE = 2**29

#: Bytes of a row from which its copy is worth a stream of its own, beside the recovery of
#: predecessors: a copy of 1 MB takes 20 us (H200), two events and a wait some 5. Not measured.
OVERLAP_LEAST = 2**20

# ---- answers in pageable memory -----------------------------------------------------------------

#: Bytes in all that are worth prefaulting; smaller arrays usually reuse mapped memory. Rows of 67
#: MB leave an H200 in 13 ms with it, in 49 without.
PREFAULT_LEAST = 2**25

#: Bytes that a thread touches at a time, and bytes of a page.
PREFAULT_PIECE, PAGE = 2**21, 2**12

#: Threads that touch pages, at most; more were not faster (H200, 67 MB).
PREFAULT_THREADS = 4

# ---- rows of batches ----------------------------------------------------------------------------

#: Threads that copy within the host, at most; more were not faster (H200, 7.7 GB of hop counts).
COPY_THREADS = 8

#: Bytes that are worth a thread.
COPY_PIECE = 2**20

#: Staging buffers: one is filled by the device, one is emptied by threads, one is between.
SLOTS = 3

#: Bytes of each; a copy takes 0.6 ms (H200).
SLOT_BYTES = 2**25

#: Answers of this size and above are staged: page-locked memory takes 0.3 ms a MB to allocate, and
#: copies to pageable memory run at 10 GB/s (H200).
STAGED_LEAST = 2**25

# ---- freed memory that is used again ------------------------------------------------------------

#: Bytes of device memory that are kept at most, per allocation and in all: an allocation from CUDA
#: and its release cost 0.1 to 0.3 ms, and synchronise the device (H200). Enough for the answers of
#: searches on 2^25 vertices, with keep="device".
POOL = 2**27, 2**28

#: The same of page-locked memory, which answers have a pool of their own for.
POOL_PINNED = 2**24, 2**26

# ---- workspaces of placed graphs ----------------------------------------------------------------

#: Searches of one kind that a placed graph keeps for later calls: one for each thread that calls at
#: the same time. Not measured: a cap for programs with many threads.
IDLE_SEARCHES = 4

#: Kinds of searches that a placed graph keeps: with and without predecessors, of two problems.
IDLE_KEYS = 4
