// Tuning of common/load_balance.cuh; the host's share is in tuning/load_balance.py.
#pragma once

// Arcs of a queue entry at most. Not measured: eight rounds of a warp, so that an entry outweighs
// its 8 bytes in the queue, and hubs have entries for many warps.
const int kArcsPerEntry = 256;

// Consecutive arcs of a warp in kl_for_arcs. Not measured: one binary search of a tail per 1024
// arcs.
const int kChunk = 1024;
