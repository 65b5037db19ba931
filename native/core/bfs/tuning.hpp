// Tuning of the searches, each number with where it was measured.
#pragma once

#include <cstdint>

namespace kleene::bfs {

// Pull when the frontier's arcs times kAlpha exceed those not yet explored, and times kGamma the
// vertices (a pull scans all of them, which does not pay for a late, small frontier). Push again
// when the frontier shrinks and has fewer than n / kBeta vertices. The first two are those of
// Beamer et al., measured on Xeons of 2012.
constexpr std::int64_t kAlpha = 15;
constexpr std::int64_t kBeta = 18;
constexpr std::int64_t kGamma = 8;

// A frontier is pushed by the root of its arcs over this: on sixteen Xeon cores, whose threads meet
// in some 0.3 us each, levels of 1,500 and 4,000 arcs (highways of the world, a 2048 x 2048 grid)
// are fastest by 5 to 8 threads.
constexpr std::int64_t kPushShare = 1 << 6;

// Arcs of a vertex of the frontier, on average, from which on threads steal small chunks: R-MAT 20
// has a level of 427 vertices and a million arcs.
constexpr std::int64_t kManyArcs = 16;

// Vertices to pull into, or to convert, that a thread is called for. Not measured: less than the
// smallest graphs that searches pull on have.
constexpr std::int64_t kPullShare = 1 << 13;

constexpr std::int64_t kPushGrain = 64;  // vertices of the frontier, at most
constexpr std::int64_t kPullGrain = 16;  // words of the bitmap
constexpr std::int64_t kConvertGrain = 256;
constexpr std::int64_t kAhead = 8;  // vertices between two steps of prefetching

}  // namespace kleene::bfs
