// Shortest paths on rows of arcs as another library stores them, on one core: for requests so small
// that making a Graph would take longer than answering them.
//
// Dijkstra's algorithm with a heap of four children; a queue where every arc counts one. Lengths
// that are infinite or NaN never make a path shorter.
#pragma once

#include "graph/stored_rows.hpp"
#include "parallel/monitor.hpp"

namespace kleene::sssp {

using namespace graph;

// One row of n entries for each source, or a single row for the nearest of them all.
struct StoredRowsAnswer {
  double* distances = nullptr;           // infinite where there is no path
  std::int32_t* predecessors = nullptr;  // null unless asked for
  std::int32_t* origins = nullptr;       // the source of each vertex; null unless asked for
  std::int32_t none = -1;                // where there is no predecessor or origin
};

// What is asked for.
struct StoredRowsRequest {
  const std::int32_t* sources = nullptr;
  std::int64_t count = 0;
  bool nearest = false;  // one search from all sources at once
  bool unit = false;     // every arc counts one, whatever its length
  double limit = 0;      // paths that are longer do not count
};

// Returns whether a search may add these lengths: none is negative (-0.0 counts as such) and no
// path can overflow. With `unit`, only the former.
bool are_simple_lengths(const double* lengths, std::int64_t count, std::int64_t n, bool unit);

// Fills all rows of the answer. Lengths must be simple. With `transposed`, arcs may be travelled
// both ways. Throws BadRow.
template <class Offset, class Id>
void search_stored_rows(const StoredRows<Offset, Id>& rows,
                        const StoredRows<Offset, Id>* transposed, const StoredRowsRequest& request,
                        const StoredRowsAnswer& answer, Monitor& monitor);

}  // namespace kleene::sssp
