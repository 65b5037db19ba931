// CSR graphs from what is in order already: a dense matrix, or another CSR graph turned round or
// joined with its own reverse. Nothing is sorted, which is what most of the time of build_csr goes
// into. All results have sorted rows.
#pragma once

#include "csr.hpp"

namespace kleene {

// Rows become columns. Of a canonical graph, the result is canonical.
template <class Id, class Weight>
Csr<Id, Weight> csr_transpose(std::int64_t n, const std::int64_t* offsets, const Id* neighbors,
                              const Weight* weights, int threads, Monitor& monitor);

// Does every arc of a canonical graph have a twin in the other direction with the same weight?
template <class Id, class Weight>
bool csr_is_symmetric(std::int64_t n, const std::int64_t* offsets, const Id* neighbors,
                      const Weight* weights, int threads, Monitor& monitor);

// The arcs of two canonical graphs; where both have one, the lighter.
template <class Id, class Weight>
Csr<Id, Weight> csr_union(std::int64_t n, const std::int64_t* offsets, const Id* neighbors,
                          const Weight* weights, const std::int64_t* other_offsets,
                          const Id* other_neighbors, const Weight* other_weights, int threads,
                          Monitor& monitor);

// The canonical graph of an n x n matrix in which zero, NaN and both infinities are "no arc".
// Without `loops`, negative self-loops are left out as well.
Csr<std::int32_t, double> csr_from_matrix(std::int64_t n, const double* matrix, bool loops,
                                          int threads, Monitor& monitor);

}  // namespace kleene
