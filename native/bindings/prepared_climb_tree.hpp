// An elimination in the form that climbs read, which Python keeps between calls.
#pragma once

#include "arrays.hpp"
#include "prepared/pairs/climb.hpp"

namespace kleene::bindings {

using Ids = Array<std::int32_t>;

// Keeps its arrays alive.
struct ClimbTree {
  Ids parents;
  Offsets offsets;
  Ids heads;
  prepared::Elimination elimination;
  prepared::ClimbTree tree;

  ClimbTree(const Ids& parents_, const Offsets& offsets_, const Ids& heads_)
      : parents(parents_),
        offsets(offsets_),
        heads(heads_),
        elimination{static_cast<std::int64_t>(parents.size()), offsets.data(), heads.data(),
                    parents.data()},
        tree(elimination) {
    require_arcs(offsets, heads);
    if (offsets.size() != parents.size() + 1) raise_wrong_type();
  }

  // Raises unless the array has one entry per vertex, or per pair.
  template <class AnyTyped>
  void require_vertices(const AnyTyped& array) const {
    if (array.size() != parents.size()) raise_wrong_type();
  }
  template <class AnyTyped>
  void require_pairs(const AnyTyped& array) const {
    if (array.size() != heads.size()) raise_wrong_type();
  }
};

}  // namespace kleene::bindings
