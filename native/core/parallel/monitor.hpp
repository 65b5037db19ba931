// Progress and cancellation of long native calls.
//
// The thread that entered the core calls poll() between pieces of work; the other workers only read
// cancelled(). The core does not depend on Python: the bindings derive a Monitor that checks for
// Ctrl-C and calls the user's progress function.
#pragma once

#include <atomic>
#include <cstdint>

namespace kleene::parallel {

class Monitor {
 public:
  Monitor();
  virtual ~Monitor() = default;

  // Any thread: `units` more of the work are done.
  void advance(std::uint64_t units) { done_.fetch_add(units, std::memory_order_relaxed); }

  // Any thread.
  bool cancelled() const { return cancelled_.load(std::memory_order_relaxed); }
  void cancel() { cancelled_.store(true, std::memory_order_relaxed); }

  // The calling thread only: calls report() every 50 ms. Cheap enough to call every few
  // microseconds. May throw.
  void poll();

 protected:
  virtual void report(std::uint64_t /*done*/) {}

 private:
  std::atomic<std::uint64_t> done_{0};
  std::atomic<bool> cancelled_{false};
  std::int64_t last_;  // report, in nanoseconds
};

// Thrown by a worker that finds the work cancelled, because another worker has thrown.
struct Cancelled {};

// A worker calls it between pieces of work: worker 0 polls, all throw Cancelled when cancelled.
class CancelCheck {
 public:
  CancelCheck(Monitor& monitor, int thread) : monitor_(monitor), thread_(thread) {}

  void operator()() {
    if (thread_ == 0) monitor_.poll();
    if (monitor_.cancelled()) throw Cancelled{};
  }

 private:
  Monitor& monitor_;
  const int thread_;
};

}  // namespace kleene::parallel
