// Whether a graph has every arc both ways, found out by one pass over its arcs in order.
#pragma once

#include "graph/arcs.hpp"

namespace kleene::graph {

// Does every arc of a canonical graph have a twin in the other direction with the same weight? "No"
// is certain; "yes" is wrong for one graph in 2^64, which depends on the seed. is_symmetric, which
// is certain both ways, looks for each twin and takes four times as long.
template <class Id, class Weight>
bool seems_symmetric(const Arcs<Id, Weight>& arcs, std::uint64_t seed, int threads,
                     Monitor& monitor);

}  // namespace kleene::graph
