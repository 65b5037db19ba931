// Rows of what searches reach, as NumPy arrays.
#pragma once

#include "arrays.hpp"
#include "graph/reached_rows.hpp"

namespace kleene::bindings {

// Calls search() without the GIL, and returns offsets, vertices, distances and predecessors, or
// None for these. Raises kleene._native.MemoryNeeded where the rows take too much.
template <class Search>
nb::object reached_rows(bool predecessors, PythonMonitor& monitor, Search&& search) {
  decltype(search()) reached;
  std::int64_t needed = 0;  // bytes, if more than available
  {
    const GilRelease release;
    try {
      reached = search();
      monitor.finish();
    } catch (const graph::MemoryNeeded& caught) {
      needed = caught.bytes;
    }
  }
  if (needed) raise_memory_needed(needed);
  nb::object tree = nb::none();
  if (predecessors) tree = to_numpy(std::move(reached.predecessors));
  return nb::make_tuple(to_numpy(std::move(reached.offsets)), to_numpy(std::move(reached.vertices)),
                        to_numpy(std::move(reached.distances)), tree);
}

}  // namespace kleene::bindings
