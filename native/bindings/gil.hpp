// Work without the GIL, and short returns to Python in the middle of it.
//
// A daemon thread may come back for the GIL after the interpreter has begun to finalize. Python up
// to 3.13 then ends the thread by pthread_exit, which unwinds the C++ frames of the call; they are
// not made for that, and the process aborts. Here such a thread stops for ever instead, as it does
// in Python 3.14: the process is about to exit.
#pragma once

#include <nanobind/nanobind.h>

#include <chrono>
#include <thread>
#include <utility>

namespace kleene::bindings {

// What this thread released; null while it has the GIL.
inline thread_local PyThreadState* released_state = nullptr;

inline void take_gil(PyThreadState* state) noexcept {
  try {
    PyEval_RestoreThread(state);
  } catch (...) {  // pthread_exit unwinds the stack as if by an exception
    for (;;) std::this_thread::sleep_for(std::chrono::hours(1));
  }
}

// Releases the GIL for the life of the object. Made with the GIL held.
class GilRelease {
 public:
  GilRelease() { released_state = PyEval_SaveThread(); }
  ~GilRelease() { take_gil(std::exchange(released_state, nullptr)); }
  GilRelease(const GilRelease&) = delete;
  GilRelease& operator=(const GilRelease&) = delete;
};

// Has the GIL for the life of the object: takes it back within the life of a GilRelease of this
// thread; elsewhere the thread has it.
class GilAcquire {
 public:
  GilAcquire() : was_released_(released_state != nullptr) {
    if (was_released_) take_gil(std::exchange(released_state, nullptr));
  }
  ~GilAcquire() {
    if (was_released_) released_state = PyEval_SaveThread();
  }
  GilAcquire(const GilAcquire&) = delete;
  GilAcquire& operator=(const GilAcquire&) = delete;

 private:
  const bool was_released_;
};

}  // namespace kleene::bindings
