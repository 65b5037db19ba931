// A graph whose vertices were eliminated in an order (src/kleene/prepared/elimination.py).
//
// Vertices are ranks, their places in the order. The upward neighbors of a vertex are those that it
// was joined to when its turn came: its parent in the elimination tree, which is the lowest of
// them, and other ancestors. Ranks are a postorder of the tree, so the descendants of v are the
// ranks just below v.
#pragma once

#include <algorithm>
#include <cstdint>

namespace kleene::prepared {

struct Elimination {
  std::int64_t n;
  const std::int64_t* offsets;  // n + 1
  const std::int32_t* heads;    // upward neighbors, ascending
  const std::int32_t* parents;  // -1 for roots

  std::int64_t arcs() const { return offsets[n]; }

  // The place of the pair (v, u); -1 if the two are not joined.
  std::int64_t place(std::int32_t v, std::int32_t u) const {
    const std::int32_t* const end = heads + offsets[v + 1];
    const std::int32_t* const found = std::lower_bound(heads + offsets[v], end, u);
    return found != end && *found == u ? found - heads : -1;
  }
};

// Values of the joined pairs: the best path between v and its upward neighbor u that has only
// vertices below v inside. For a symmetric graph both are the same array.
template <class Value>
struct PairValues {
  const Value* up;    // from v to u
  const Value* down;  // from u to v
};

}  // namespace kleene::prepared
