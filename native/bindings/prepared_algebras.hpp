// Dispatch on the path algebra of a prepared graph: a semiring and the type of its values.
#pragma once

#include "arrays.hpp"
#include "prepared/algebra.hpp"

namespace kleene::bindings {

// Calls body(Type<Algebra>{}). Booleans are bytes. `negative` says whether values may be below
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
