// The order in which a first-in, first-out queue visits vertices, on one core.
#pragma once

#include "graph/stored_rows.hpp"
#include "parallel/monitor.hpp"

namespace kleene::bfs {

using namespace graph;

// Fills `order`, which has room for n, with the vertices reached and returns how many there are;
// fills all n predecessors, `none` where there is no predecessor. With `transposed`, its arcs
// are scanned after those of the same vertex. Throws BadRow.
template <class Offset, class Id>
std::int64_t visit_order(const StoredRows<Offset, Id>& rows,
                         const StoredRows<Offset, Id>* transposed, std::int32_t source,
                         std::int32_t none, std::int32_t* order, std::int32_t* predecessors,
                         Monitor& monitor);

// The rows of a tree given by predecessors, `none` where there is none, with the lengths of its
// arcs: fills `offsets`, `heads` and `lengths` and returns how many arcs there are. No arc may be
// stored twice. Throws BadRow.
template <class Offset, class Id>
std::int64_t tree_rows(const StoredRows<Offset, Id>& rows, const std::int32_t* predecessors,
                       std::int32_t* offsets, std::int32_t* heads, double* lengths);

}  // namespace kleene::bfs
