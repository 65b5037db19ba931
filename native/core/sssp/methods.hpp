// The table of SSSP methods.
#pragma once

#include <span>

#include "graph/method.hpp"
#include "sssp/sssp.hpp"

namespace kleene::sssp {

template <class Id, class Value>
struct Method {
  MethodTraits traits;
  void (*search_all)(const Problem<Id, Value>& problem, const ResultRows<Id, Value>& rows,
                     int threads, Monitor& monitor);
};

template <class Id, class Value>
std::span<const Method<Id, Value>> methods();

}  // namespace kleene::sssp
