// What bindings of prepared graphs share.
#pragma once

#include "arrays.hpp"
#include "prepared/algebra.hpp"
#include "prepared/pairs/climb.hpp"

namespace kleene::bindings {

using Ids = Array<std::int32_t>;

// An elimination in the form that climbs read, which Python keeps between calls. Keeps its arrays
// alive.
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

// Dispatch on the path algebra of a prepared graph, a semiring and the type of its values: calls
// body(Type<Algebra>{}). Booleans are bytes. `negative` says whether values may be below
// zero, which matters for sums of integers only.
template <class Body>
auto with_algebra(Semiring semiring, nb::dlpack::dtype dtype, bool negative, Body&& body) {
  using namespace prepared;
  if (semiring == Semiring::kBoolean) {
    return with_type<std::uint8_t>(dtype, [&](auto) { return body(Type<MaxMin<std::uint8_t>>{}); });
  }
  if (semiring == Semiring::kMaxTimes) {
    return with_type<float, double>(dtype,
                                    [&]<class T>(Type<T>) { return body(Type<MaxTimes<T>>{}); });
  }
  return with_value_type(dtype, [&]<class T>(Type<T>) {
    if (semiring == Semiring::kMaxMin) return body(Type<MaxMin<T>>{});
    if constexpr (std::is_integral_v<T>) {
      if (negative) return body(Type<MinPlus<T, true>>{});
    }
    return body(Type<MinPlus<T, false>>{});
  });
}

}  // namespace kleene::bindings
