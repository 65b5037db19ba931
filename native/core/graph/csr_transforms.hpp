// CSR graphs from sorted input: a dense matrix, the transpose of a graph, its union with another.
// Nothing is sorted, which is most of the time of build_csr. All results have sorted rows.
#pragma once

#include "graph/arcs.hpp"

namespace kleene::graph {

// Rows become columns. The transpose of a canonical graph is canonical.
template <class Id, class Weight>
Csr<Id, Weight> transpose(const Arcs<Id, Weight>& arcs, int threads, Monitor& monitor);

// Does every arc of a canonical graph have a twin in the other direction with the same weight?
template <class Id, class Weight>
bool is_symmetric(const Arcs<Id, Weight>& arcs, int threads, Monitor& monitor);

// The arcs of two canonical graphs; where both have one, the lighter.
template <class Id, class Weight>
Csr<Id, Weight> unite(const Arcs<Id, Weight>& arcs, const Arcs<Id, Weight>& other, int threads,
                      Monitor& monitor);

// The canonical graph of an n x n matrix in which zero, NaN and both infinities are "no arc".
// Without `loops`, negative self-loops are left out as well.
Csr<std::int32_t, double> csr_from_matrix(std::int64_t n, const double* matrix, bool loops,
                                          int threads, Monitor& monitor);

}  // namespace kleene::graph
