// Loads and stores of memory that other threads may be writing at the same moment. They order
// nothing and cost what plain ones do; a caller says why any order of events is right.
#pragma once

#include <atomic>

namespace kleene {

template <class T>
T relaxed_load(const T& at) {
  return std::atomic_ref<T>(const_cast<T&>(at)).load(std::memory_order_relaxed);
}

template <class T>
void relaxed_store(T& at, T value) {
  std::atomic_ref<T>(at).store(value, std::memory_order_relaxed);
}

}  // namespace kleene
