#include "parallel/team_error.hpp"

namespace kleene::parallel {

void TeamError::run(FunctionRef<void()> work) {
  try {
    work();
  } catch (const Cancelled&) {
  } catch (...) {
    monitor_.cancel();
    const std::lock_guard lock(guard_);
    if (!error_) error_ = std::current_exception();
  }
}

void TeamError::rethrow() const {
  if (error_) std::rethrow_exception(error_);
}

}  // namespace kleene::parallel
