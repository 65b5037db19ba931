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
#include "parallel/function_ref.hpp"
#include "parallel/monitor.hpp"
#include "prepared/elimination/elimination.hpp"

namespace kleene::prepared {

// What one supernode, the source, offers to another: triangles over its own vertices between upward
// neighbors of its own, of which the first is in the target.
struct Source {
  std::int64_t heads;     // where that upward neighbor is among those of the last vertex
  std::int32_t size;      // upward neighbors from there on
  std::int32_t skipped;   // and before
  std::int32_t first;     // vertex of the source
  std::int32_t vertices;  // of the source
};

// Supernode s has the ranks starts[s] .. starts[s + 1] - 1; the upward neighbors of its last vertex
// are its own.
struct Supernodes {
  parallel::Buffer<std::int32_t> starts;          // count + 1
  parallel::Buffer<std::int32_t> firsts;          // the lowest supernode of the subtree
  parallel::Buffer<std::int64_t> work;            // count + 1: triangles of those before, about
  parallel::Buffer<std::int64_t> source_offsets;  // count + 1
  parallel::Buffer<Source> sources;               // by target, in ascending order

  std::int64_t count() const { return firsts.size(); }
};

Supernodes find_supernodes(const Elimination& elimination);

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

// Call body(begin, end) with ranges of ranks that are all of them, on several threads: descendants
// before ancestors, or after. Inside a range the body keeps that order.
void bottom_up(const Supernodes& supernodes, int threads, parallel::Monitor& monitor,
               parallel::FunctionRef<void(std::int32_t begin, std::int32_t end)> body);
void top_down(const Supernodes& supernodes, int threads, parallel::Monitor& monitor,
              parallel::FunctionRef<void(std::int32_t begin, std::int32_t end)> body);

}  // namespace kleene::prepared
