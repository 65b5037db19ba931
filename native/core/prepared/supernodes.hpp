// Supernodes: runs of vertices that have the same upward neighbors but for themselves.
//
// Vertices v, v + 1, ... are one supernode if each is the parent of the one before and has all its
// other upward neighbors. What their pairs hold is then a dense panel (front_kernel.hpp), and most
// triangles are between such panels: on road networks five of six, on grids nearly all.
//
// C. Ashcraft, R. Grimes, J. Lewis, B. Peyton, H. Simon, "Progress in Sparse Matrix Methods for
// Large Linear Systems on Vector Supercomputers", 1987.
#pragma once

#include <cstdint>
#include <vector>

#include "parallel/buffer.hpp"
#include "prepared/elimination.hpp"

namespace kleene::prepared {

// Supernode s has the ranks starts[s] .. starts[s + 1] - 1; upward neighbors of its last vertex are
// its own. Sources of s are the supernodes below that offer it triangles, in ascending order, each
// with the place among the source's upward neighbors of the first that is in s.
struct Supernodes {
  std::int64_t count;
  const std::int32_t* starts;          // count + 1
  const std::int32_t* firsts;          // the lowest supernode of the subtree
  const std::int64_t* work;            // count + 1: triangles of all supernodes before, about
  const std::int64_t* source_offsets;  // count + 1
  const std::int32_t* sources;
  const std::int32_t* source_places;
};

// The same, owning its memory.
struct SupernodeArrays {
  parallel::Buffer<std::int32_t> starts, firsts;
  parallel::Buffer<std::int64_t> work, source_offsets;
  parallel::Buffer<std::int32_t> sources, source_places;
};

SupernodeArrays find_supernodes(const Elimination& elimination);

// Supernodes for threads to share: subtrees (ranges of supernodes) that do not depend on each
// other, and what is above them, in ascending order.
struct Shares {
  struct Range {
    std::int64_t begin, end;
  };
  std::vector<Range> subtrees;
  std::vector<std::int64_t> above;
};

Shares share_supernodes(const Supernodes& supernodes, int threads);

}  // namespace kleene::prepared
