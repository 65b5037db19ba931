// All pairs of a graph of dozens of vertices, by Floyd and Warshall's algorithm on one core: for
// calls so small that making a Graph would take longer than answering them.
#pragma once

#include "graph/stored_rows.hpp"

namespace kleene::closure {

using namespace graph;

// A matrix of lengths that becomes one of distances: infinite where there is no path, 0 on the
// diagonal. Predecessors may be null.
struct SmallMatrix {
  std::int64_t n = 0;
  double* values = nullptr;              // n x n
  std::int32_t* predecessors = nullptr;  // n x n, or null
  std::int32_t none = -1;                // where there is no predecessor
};

// Takes entries that are zero, or as near to it as `null`, and those that are not finite, for "no
// arc".
void canonicalise(const SmallMatrix& matrix, double null);

// Fills the matrix with the arcs of rows; of parallel ones the shortest counts. Throws BadRow.
template <class Offset, class Id>
void fill(const SmallMatrix& matrix, const StoredRows<Offset, Id>& rows);

// Fills the predecessors, and closes the matrix. With `unit` every arc counts one; with
// `undirected` it leads both ways, by the shorter entry. Returns false if a length is so large that
// sums might overflow, or if there is a negative cycle; the matrix is then of no use.
bool close(const SmallMatrix& matrix, bool unit, bool undirected);

}  // namespace kleene::closure
