// The table of closure methods.
#pragma once

#include <span>

#include "closure/closure.hpp"
#include "graph/method.hpp"

namespace kleene::closure {

template <class T>
using Close = bool(const Matrix<T>& matrix, const Options& options, Monitor& monitor);

template <class T>
struct Method {
  MethodTraits traits;
  Close<T>* close;  // null where the method does not take this type
};

template <class T>
std::span<const Method<T>> methods();

}  // namespace kleene::closure
