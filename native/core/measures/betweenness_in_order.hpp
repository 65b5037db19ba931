// Betweenness of edges, added up on one core in the order of NetworkX: its bits, ties included.
//
// The searches and sums are Brandes'; see measures/betweenness_lanes.cpp for fast ones. Where the
// edge with the most is removed, as Girvan and Newman do, the last bit decides between edges that
// are alike.
//
// U. Brandes, "A faster algorithm for betweenness centrality", 2001.
#pragma once

#include <cstdint>

#include "graph/arcs.hpp"
#include "parallel/monitor.hpp"

namespace kleene::measures {

// Undirected edges: each has a number and two arcs. Rows are in NetworkX's order.
struct NumberedEdges {
  graph::Arcs<std::int32_t> arcs;
  const std::int64_t* edges = nullptr;    // the edge of each arc
  const std::uint8_t* removed = nullptr;  // of each edge
};

// Adds to the value of each edge what paths from some sources contribute.
void edge_betweenness_in_order(const NumberedEdges& graph, const std::int32_t* sources,
                               std::int64_t count, double* values, parallel::Monitor& monitor);

}  // namespace kleene::measures
