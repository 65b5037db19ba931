// The first exception of several threads, to be rethrown by the one that called them.
#pragma once

#include <exception>
#include <mutex>

#include "parallel/function_ref.hpp"
#include "parallel/monitor.hpp"

namespace kleene::parallel {

class TeamError {
 public:
  explicit TeamError(Monitor& monitor) : monitor_(monitor) {}

  // Any thread: runs a part of the work. An exception cancels the monitor and is kept, unless it
  // is Cancelled: another thread threw then.
  void run(FunctionRef<void()> work);

  // The caller, once all threads have returned.
  void rethrow() const;

 private:
  Monitor& monitor_;
  std::mutex guard_;
  std::exception_ptr error_;
};

}  // namespace kleene::parallel
