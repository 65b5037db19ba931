// How long native work reports progress and learns that it should stop.
//
// The thread that entered the core calls poll() between pieces of work; the other threads only
// read stopped(). The core knows no Python: the bindings derive a Monitor that checks for Ctrl-C
// and calls the user's progress function.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>

namespace kleene {

class Monitor {
 public:
  virtual ~Monitor() = default;

  // Any thread: `units` more of the work are done.
  void advance(std::uint64_t units) { done_.fetch_add(units, std::memory_order_relaxed); }

  // Any thread: should the work be abandoned?
  bool stopped() const { return stopped_.load(std::memory_order_relaxed); }

  void stop() { stopped_.store(true, std::memory_order_relaxed); }

  // The calling thread only; cheap enough to call every few microseconds. May throw.
  void poll() {
    const auto now = Clock::now();
    if (now - last_ < kInterval) return;
    last_ = now;
    report(done_.load(std::memory_order_relaxed));
  }

 protected:
  virtual void report(std::uint64_t /*done*/) {}

 private:
  using Clock = std::chrono::steady_clock;
  static constexpr auto kInterval = std::chrono::milliseconds(50);

  std::atomic<std::uint64_t> done_{0};
  std::atomic<bool> stopped_{false};
  Clock::time_point last_ = Clock::now();
};

// Thrown where a thread finds that the work was given up because another thread has thrown.
struct Abandoned {};

// How one thread of many looks after the monitor, between pieces of work.
class Watch {
 public:
  Watch(Monitor& monitor, int thread) : monitor_(monitor), thread_(thread) {}

  void look() {
    if (thread_ == 0) monitor_.poll();
    if (monitor_.stopped()) throw Abandoned{};
  }

 private:
  Monitor& monitor_;
  const int thread_;
};

}  // namespace kleene
