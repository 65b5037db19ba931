// Searches on one part of a graph that is shared out over processes.
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

// The work between two looks at the monitor.
constexpr std::int64_t kVerticesPerCheck = 4096;

// ---- a level of breadth-first search (part_bfs.cpp) ---------------------------------------------

// Vertices that a level visits, and the other end of the arc by which.
template <class Slot>
struct Visits {
  std::vector<Slot> heads;
  std::vector<Slot> tails;
};

// Visits the heads of the frontier's arcs that were not visited.
template <class Slot>
Visits<Slot> push(const Arcs<Slot>& arcs, const Slot* frontier, std::int64_t count,
                  std::uint8_t* visited, CancelCheck check_cancelled);

// Visits the unvisited rows that have an arc from the frontier; `incoming` has tails for heads.
template <class Slot>
Visits<Slot> pull(const Arcs<Slot>& incoming, const std::uint8_t* in_frontier,
                  std::uint8_t* visited, CancelCheck check_cancelled);

// ---- a round of delta-stepping (part_sssp.cpp) --------------------------------------------------
//
// Dijkstra's algorithm among the part's own vertices, within a window of distances. A value is the
// best distance of a slot that is known here. A vertex whose value fell, and whose arcs were not
// relaxed since, is pending.

// The state of a search, in the caller's memory.
template <class Slot, class Id, class Value>
struct PartState {
  Arcs<Slot> arcs;
  const Value* lengths;  // null: every arc counts one
  Value* values;         // of all slots
  Id* links;             // the tail that a slot's value comes from, a vertex of the whole graph
  Id first;              // the vertex of row 0
  std::uint8_t* queued;  // own vertices: is it pending? others: did its value fall in this round?
};

template <class Slot>
struct Settled {
  std::vector<Slot> pending;  // own vertices beyond the window
  std::vector<Slot> fallen;   // slots of others whose value fell
};

// Relaxes the pending vertices up to the bound, and those that fall below it by that.
template <class Slot, class Id, class Value>
Settled<Slot> settle(const PartState<Slot, Id, Value>& state, const Slot* pending,
                     std::int64_t count, Value bound, CancelCheck check_cancelled);

}  // namespace kleene::parts
