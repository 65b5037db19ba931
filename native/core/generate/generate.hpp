// Random graphs: the parts that must be fast. Every result depends on its arguments and the seed
// alone, never on the number of threads.
#pragma once

#include <cstdint>
#include <span>
#include <utility>

#include "graph/arcs.hpp"

namespace kleene::generate {

using namespace parallel;
using namespace graph;

// Lengths of rows become their offsets, in place; the last entry becomes the sum.
inline void lengths_to_offsets(std::span<std::int64_t> lengths) {
  std::int64_t sum = 0;
  for (std::int64_t& length : lengths) sum += std::exchange(length, sum);
}

// Arcs in no particular order, as build_csr takes them.
template <class Id>
struct ArcList {
  Buffer<Id> tails;
  Buffer<Id> heads;
};

// Four levels of R-MAT in one draw: its 256 outcomes, four bits of the tail and four of the
// head, are chosen between by Walker's alias method (1977). Of the 64 bits of a draw the low 8
// choose a cell, and the rest choose between the cell's own outcome and its alias.
struct RmatStep {
  static constexpr int kLevels = 4;
  static constexpr int kOutcomes = 256;

  std::uint64_t own[kOutcomes];  // the chance of the cell's own outcome, in 2^-56
  std::uint64_t alias[kOutcomes];

  unsigned outcome(std::uint64_t draw) const {
    const unsigned cell = draw % kOutcomes;
    // untestable (< to <=): equal once in 2^56 draws
    const bool kept = draw / kOutcomes < own[cell];
    return kept ? cell : static_cast<unsigned>(alias[cell]);
  }
};

// R-MAT (Chakrabarti, Zhan and Faloutsos 2004): every arc descends through the levels, each of
// which chooses one bit of its tail and one of its head. With `relabel` the vertices are
// renumbered at random. n is the number of vertices, a power of two. These are the arcs
// [first, first + arcs): ranges that processes make one by one are those of one call.
template <class Id>
ArcList<Id> rmat_arcs(std::span<const RmatStep> steps, std::int64_t n, std::int64_t first,
                      std::int64_t arcs, bool relabel, std::uint64_t seed, int threads,
                      Monitor& monitor);

// Whether the new numbers of all vertices are written down, or computed for each arc: a table
// takes at most half the memory of the arcs.
inline bool rmat_writes_labels(std::int64_t n, std::int64_t arcs) { return n <= arcs; }

// `edges` distinct pairs of vertices, every set of them as likely as any other.
template <class Id>
ArcList<Id> uniform_edges(std::int64_t n, std::int64_t edges, std::uint64_t seed, int threads,
                          Monitor& monitor);

// `arcs` distinct arcs, at most `cap` from any vertex. With `connected` every vertex can be reached
// from vertex 0; that takes at least n - 1 arcs. With cap = n - 1 and without `connected` every set
// of arcs is as likely as any other.
template <class Id>
Csr<Id, NoWeight> capped_rows(std::int64_t n, std::int64_t arcs, std::int64_t cap, bool connected,
                              std::uint64_t seed, int threads, Monitor& monitor);

// The work of capped_rows, as its monitor counts it.
std::int64_t capped_units(std::int64_t n, std::int64_t arcs, std::int64_t cap);

// The path 0 -> 1 -> ... -> n - 1, and `extra` more arcs into every vertex.
template <class Id>
ArcList<Id> path_plus_arcs(std::int64_t n, std::int64_t extra, std::uint64_t seed, int threads,
                           Monitor& monitor);

// A ring in which every vertex is joined to the `reach` next ones, but each edge is replaced, with
// probability rewire / 2^64, by a random other one. n * reach distinct edges.
template <class Id>
ArcList<Id> small_world_edges(std::int64_t n, std::int64_t reach, std::uint64_t rewire,
                              std::uint64_t seed, int threads, Monitor& monitor);

// A grid in up to three dimensions. An arc is left out with probability drop / 2^64; when not
// `directed`, together with its opposite.
struct GridShape {
  std::int64_t layers, rows, columns;
  bool diagonals, directed;
};

template <class Id>
Csr<Id, NoWeight> grid_rows(const GridShape& shape, std::uint64_t drop, std::uint64_t seed,
                            int threads, Monitor& monitor);

// A random value for every arc, which depends on the seed and the ends of the arc alone; when
// `symmetric` an arc and its opposite have the same. Integers are of [low, low + count), floating
// point of [0, 1). The rows are those of the vertices [first, first + rows) of n.
template <class Id, class Value>
Buffer<Value> arc_values(std::int64_t n, std::int64_t first, std::int64_t rows,
                         const std::int64_t* offsets, const Id* neighbors, bool symmetric,
                         std::int64_t low, std::uint64_t count, std::uint64_t seed, int threads,
                         Monitor& monitor);

}  // namespace kleene::generate
