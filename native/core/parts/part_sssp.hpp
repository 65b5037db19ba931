// A round of delta-stepping on one part of a graph that is shared out over processes: Dijkstra's
// algorithm among the part's own vertices, within a window of distances.
//
// Rows and slots are those of part_bfs.hpp. A value is the best distance of a slot that is known
// here. A vertex whose value fell, and whose arcs were not relaxed since, is pending.
#pragma once

#include <cstdint>
#include <vector>

#include "parts/part_bfs.hpp"

namespace kleene::parts {

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
