// Tuning of delta-stepping, each number with where it was measured. "Highways" are those of the
// world, 0.56 M vertices and 1.6 M arcs.
#pragma once

#include <cstddef>
#include <cstdint>

namespace kleene::sssp {

// The width of a bucket is so many mean lengths / degree^2: among the best powers of two on R-MAT
// and uniform graphs of 2^20 vertices (degree 30: 1 to 8 are alike), a 2048 x 2048 grid (64 to 128)
// and highways (4 to 16 km). One Sapphire Rapids core, while other work was running.
constexpr double kDeltaFactor = 16;

// A span is settled by the root of its entries over kShare threads; kBusy entries keep a thread
// busy between two synchronisations: highways, sixteen Xeon cores.
constexpr std::int64_t kShare = 16;
constexpr std::int64_t kBusy = 1024;

// Buckets between two synchronisations, at most: 8 to 64 are alike on highways, sixteen Xeon cores.
constexpr int kMostSpan = 16;

// Entries of a bucket worth an early end of the round when others wait: 4 and 64 are worse on
// highways, sixteen Xeon cores (13 ms, and 12).
constexpr std::int64_t kWorthSharing = 16;

// Slots of the window where vertices have few arcs. A slot that is used again has its memory
// already: highways on 2, 8 and 16 of sixteen Xeon cores take 15.7, 9.9 and 9.7 ms, with 1,024
// slots 19, 12.2 and 11.8. Where they have many, entries beyond the window would cost more.
constexpr int kFewSlots = 128;

// Where vertices have many arcs: the entries, or the arcs, of a bucket worth sharing; where a
// thread goes back to be shared; and how far ahead memory is prefetched, in entries and arcs: R-MAT
// graphs of 2^20 vertices, two Sapphire Rapids cores.
constexpr std::int64_t kManyEntries = 256;
constexpr std::int64_t kManyArcs = 8192;
constexpr std::size_t kFused = 1024;
constexpr std::size_t kPiece = 64;  // entries that a thread takes at a time, at most
constexpr std::size_t kAhead = 4;
constexpr std::int64_t kAheadArcs = 16;

}  // namespace kleene::sssp
