// Relaxed atomic loads and stores of memory that other threads may be writing. They order nothing
// and cost what plain ones do; each caller says why its race is benign.
#pragma once

#include <atomic>

namespace kleene::parallel {

template <class T>
T relaxed_load(const T& at) {
  return std::atomic_ref<T>(const_cast<T&>(at)).load(std::memory_order_relaxed);
}

template <class T>
void relaxed_store(T& at, T value) {
  std::atomic_ref<T>(at).store(value, std::memory_order_relaxed);
}

}  // namespace kleene::parallel
