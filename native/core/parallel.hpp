// Threads for one call: start a team, run, join. No pool and no state outlives the call, so the
// core is safe after fork(), inside multiprocessing, when several Python threads call at once, and
// under ThreadSanitizer. Starting a thread costs some 20 microseconds: callers pass threads = 1
// when there is less work than that.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <exception>
#include <mutex>
#include <thread>
#include <vector>

#include "monitor.hpp"

namespace kleene {

// Runs body(thread) for thread = 0 .. threads - 1 at once; thread 0 is the caller. The first
// exception thrown by any of them stops the monitor and is rethrown here after all have returned.
template <class Body>
void run_team(int threads, Monitor& monitor, Body&& body) {
  std::exception_ptr error;
  std::mutex guard;
  const auto run = [&](int thread) {
    try {
      body(thread);
    } catch (const Abandoned&) {  // another thread threw, and its exception is the one to report
    } catch (...) {
      monitor.stop();
      const std::lock_guard lock(guard);
      if (!error) error = std::current_exception();
    }
  };
  {
    std::vector<std::jthread> others;
    others.reserve(static_cast<std::size_t>(threads));
    for (int thread = 1; thread < threads; ++thread) others.emplace_back(run, thread);
    run(0);
  }
  if (error) std::rethrow_exception(error);
}

// Calls body(begin, end, thread) over pieces of [0, count), handed out as threads become free.
// Pieces are `grain` long; monitor.advance counts the items done.
template <class Body>
void parallel_for(std::int64_t count, std::int64_t grain, int threads, Monitor& monitor,
                  Body&& body) {
  if (count <= 0) return;
  const std::int64_t pieces = (count + grain - 1) / grain;
  std::atomic<std::int64_t> next{0};
  run_team(static_cast<int>(std::min<std::int64_t>(threads, pieces)), monitor, [&](int thread) {
    for (;;) {
      if (monitor.stopped()) return;
      const std::int64_t piece = next.fetch_add(1, std::memory_order_relaxed);
      if (piece >= pieces) return;
      const std::int64_t begin = piece * grain;
      const std::int64_t end = std::min(begin + grain, count);
      body(begin, end, thread);
      monitor.advance(static_cast<std::uint64_t>(end - begin));
      if (thread == 0) monitor.poll();
    }
  });
}

// Where the threads of a team meet between steps. Waiting threads spin for a while, since steps are
// often microseconds long, then give up their core. When a thread of the team has thrown, the
// others leave by Abandoned instead of waiting for it.
class Barrier {
 public:
  Barrier(int threads, const Monitor& monitor) : threads_(threads), monitor_(monitor) {}

  void wait() {
    const std::uint32_t phase = phase_.load(std::memory_order_relaxed);
    if (arrived_.fetch_add(1, std::memory_order_acq_rel) + 1 == threads_) {
      arrived_.store(0, std::memory_order_relaxed);
      phase_.store(phase + 1, std::memory_order_release);
      return;
    }
    for (int spins = 0; phase_.load(std::memory_order_acquire) == phase; ++spins) {
      if (spins < kSpins) continue;
      if (monitor_.stopped()) throw Abandoned{};
      std::this_thread::yield();
    }
  }

 private:
  static constexpr int kSpins = 2000;

  const int threads_;
  const Monitor& monitor_;
  std::atomic<int> arrived_{0};
  std::atomic<std::uint32_t> phase_{0};
};

}  // namespace kleene
