// The earliest fault that any thread of a check has seen, so that a report does not depend on how
// the work was shared.
#pragma once

#include <atomic>
#include <cstdint>
#include <limits>

namespace kleene::parallel {

class FirstFault {
 public:
  void note(std::int64_t position) {
    std::int64_t seen = position_.load(std::memory_order_relaxed);
    // untestable (< to <=): the same position again
    while (position < seen && !position_.compare_exchange_weak(seen, position)) {
    }
  }
  bool any() const { return position() != kNone; }
  std::int64_t position() const { return position_.load(std::memory_order_relaxed); }

 private:
  static constexpr std::int64_t kNone = std::numeric_limits<std::int64_t>::max();
  std::atomic<std::int64_t> position_{kNone};
};

}  // namespace kleene::parallel
