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

}  // namespace kleene
