// Building and checking CSR graphs.
//
// build_csr turns a list of arcs in any order into the canonical form that all methods rely on:
// rows sorted by head, no parallel arcs, no self-loops except negative ones, no infinite weights.
// Arcs of infinite weight go first, then parallel arcs are combined, then self-loops go.
//
// Arcs are first partitioned into buckets of consecutive tails, each small enough for a core's
// cache; then one thread per bucket sorts them into rows, sorts each row and combines its parallel
// arcs. (Scattering straight into rows with one atomic cursor each is simpler and takes twice as
// long on two threads as on one: every atomic waits for a cache miss.) The result does not depend
// on the number of threads or on the order of the arcs.
#pragma once

#include "graph/arcs.hpp"

namespace kleene::graph {

// How the weights of parallel arcs are combined.
enum class Combine { kMin, kMax, kSum };

// The first arc, in input order, that cannot be part of a graph.
struct BadArc {
  // An id out of [0, n); NaN or -inf; arrays that changed while they were read.
  enum class Fault { kTail, kHead, kWeight, kChanged };
  Fault fault;
  std::int64_t position;
};

// Building takes more than the memory that the caller has.
struct MemoryNeeded {
  std::int64_t bytes;
};

// Throws BadArc, and MemoryNeeded if it would hold more than `available` bytes at once beside its
// input. With `symmetric` every arc is entered in both directions. The input may change during the
// call: the result is then a graph or BadArc.
template <class InId, class Id, class Weight>
Csr<Id, Weight> build_csr(std::int64_t n, std::int64_t arcs, const InId* tails, const InId* heads,
                          const Weight* weights, bool symmetric, Combine combine,
                          std::int64_t available, int threads, Monitor& monitor);

// Is this CSR canonical, as build_csr would have made it? Throws BadArc for an id or a weight that
// build_csr would refuse. Offsets must be known to rise from 0 to the number of arcs.
template <class Id, class Weight>
bool is_canonical(const Arcs<Id, Weight>& arcs, int threads, Monitor& monitor);

// ---- from sorted input (csr_transforms.cpp) -----------------------------------------------------
//
// A dense matrix, the transpose of a graph, its union with another. Nothing is sorted, which is
// most of the time of build_csr. All results have sorted rows.

// Rows become columns. The transpose of a canonical graph is canonical.
template <class Id, class Weight>
Csr<Id, Weight> transpose(const Arcs<Id, Weight>& arcs, int threads, Monitor& monitor);

// Does every arc of a canonical graph have a twin in the other direction with the same weight?
template <class Id, class Weight>
bool is_symmetric(const Arcs<Id, Weight>& arcs, int threads, Monitor& monitor);

// The same, found out by one pass over the arcs in order (symmetry.cpp). "No" is certain; "yes" is
// wrong for one graph in 2^64, which depends on the seed. is_symmetric, which is certain both ways,
// looks for each twin and takes four times as long.
template <class Id, class Weight>
bool seems_symmetric(const Arcs<Id, Weight>& arcs, std::uint64_t seed, int threads,
                     Monitor& monitor);

// The arcs of two canonical graphs; where both have one, the lighter.
template <class Id, class Weight>
Csr<Id, Weight> unite(const Arcs<Id, Weight>& arcs, const Arcs<Id, Weight>& other, int threads,
                      Monitor& monitor);

// The canonical graph of an n x n matrix in which zero, NaN and both infinities are "no arc".
// Without `loops`, negative self-loops are left out as well.
Csr<std::int32_t, double> csr_from_matrix(std::int64_t n, const double* matrix, bool loops,
                                          int threads, Monitor& monitor);

}  // namespace kleene::graph
