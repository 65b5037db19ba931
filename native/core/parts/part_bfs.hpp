// A level of breadth-first search on one part of a graph that is shared out over processes.
//
// A part has rows for its own vertices only. An arc has its head as a slot: slots below arcs.n are
// own vertices, those behind them stand for vertices of other parts. A process has one core.
#pragma once

#include <cstdint>
#include <vector>

#include "graph/arcs.hpp"
#include "parallel/monitor.hpp"

namespace kleene::parts {

using namespace parallel;
using graph::Arcs;

// Vertices that a level visits, and the other end of the arc by which.
template <class Slot>
struct Visits {
  std::vector<Slot> heads;
  std::vector<Slot> tails;
};

// The work between two looks at the monitor.
constexpr std::int64_t kVerticesPerCheck = 4096;

// Visits the heads of the frontier's arcs that were not visited.
template <class Slot>
Visits<Slot> push(const Arcs<Slot>& arcs, const Slot* frontier, std::int64_t count,
                  std::uint8_t* visited, CancelCheck check_cancelled);

// Visits the unvisited rows that have an arc from the frontier; `incoming` has tails for heads.
template <class Slot>
Visits<Slot> pull(const Arcs<Slot>& incoming, const std::uint8_t* in_frontier,
                  std::uint8_t* visited, CancelCheck check_cancelled);

}  // namespace kleene::parts
