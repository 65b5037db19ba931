// Teams of threads for one call, leased from a pool that is safe after fork(), inside
// multiprocessing, when several Python threads call at once, and under ThreadSanitizer. To wake a
// thread costs some 5 microseconds, to start one 20 to 60: callers pass threads = 1 when there is
// less work than that.
//
// Where the system refuses to start so many threads (a limit of processes or of memory), the team
// is smaller. Its size is known once its threads have started, so a worker learns it there, and
// nothing that waits for the whole team can be built with another number.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstdint>

#include "parallel/function_ref.hpp"
#include "parallel/monitor.hpp"

namespace kleene::parallel {

// Calls body(begin, end, thread) over pieces of [0, count), handed out as threads become free.
// Pieces are `grain` long; monitor.advance counts the items done.
void parallel_for(std::int64_t count, std::int64_t grain, int threads, Monitor& monitor,
                  FunctionRef<void(std::int64_t begin, std::int64_t end, int thread)> body);

// Calls work(i, monitor) for i = 0 .. count - 1, each by one thread, as threads become free. The
// monitor is the thread's own.
void parallel_each(std::int64_t count, int threads, Monitor& monitor,
                   FunctionRef<void(std::int64_t i, Monitor& own)> work);

// Lets the system run another thread on this core.
void yield_core();

// A barrier between steps. Waiting threads spin for a while, since steps are often microseconds
// long, then yield. When a thread of the team has thrown, the others throw Cancelled instead of
// waiting for it.
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
    // untestable below (= 0 to = 1, < to <=, < to >=): how long a thread spins before it yields
    for (int spins = 0; phase_.load(std::memory_order_acquire) == phase; ++spins) {
      if (spins < kSpinsBeforeYield) continue;
      if (monitor_.cancelled()) throw Cancelled{};
      yield_core();
    }
  }

 private:
  static constexpr int kSpinsBeforeYield = 2000;

  const int threads_;
  const Monitor& monitor_;
  std::atomic<int> arrived_{0};
  std::atomic<std::uint32_t> phase_{0};
};

// The threads of one call of run_team.
class Team {
 public:
  Team(int threads, Monitor& monitor)
      : threads_(threads), monitor_(monitor), barrier_(threads, monitor) {}

  // One thread of the team. All workers call the same loops and barriers in the same order.
  class Worker {
   public:
    Worker(Team& team, int thread) : team_(team), thread_(thread) {}

    int thread() const { return thread_; }
    int threads() const { return team_.threads_; }  // of the team, this one included
    bool is_leader() const { return thread_ == 0; }

    // Calls body(begin, end) over pieces of [0, count), handed out as threads become free, then
    // finish(), and returns when all workers have finished. The leader polls.
    template <class Body, class Finish>
    void loop(std::int64_t count, std::int64_t grain, Body&& body, Finish&& finish) {
      // Two counters take turns: while one is in use, no worker can be in the loop before this
      // one, so the leader may reset the other for the loop to come.
      std::atomic<std::int64_t>& next = team_.next_[turn_];
      turn_ = 1 - turn_;
      if (is_leader()) team_.next_[turn_].store(0, std::memory_order_relaxed);
      // untestable (< to <=): a piece of no items
      for (std::int64_t begin; (begin = take(next, grain)) < count;) {
        const std::int64_t end = std::min(begin + grain, count);
        body(begin, end);
        poll(end - begin);
      }
      finish();
      barrier();
    }

    template <class Body>
    void loop(std::int64_t count, std::int64_t grain, Body&& body) {
      loop(count, grain, body, [] {});
    }

    // So many more items are done; the leader polls now and then.
    void poll(std::int64_t items) {
      unpolled_ += items;
      // untestable (< to <=): how often the leader polls
      if (!is_leader() || unpolled_ < kPollEvery) return;
      unpolled_ = 0;
      team_.monitor_.poll();
    }

    void barrier() {
      // untestable (> to >=): a barrier of one thread
      if (team_.threads_ > 1) team_.barrier_.wait();
    }

   private:
    static constexpr std::int64_t kPollEvery = 1 << 10;  // items; loops may be a single item long

    std::int64_t take(std::atomic<std::int64_t>& next, std::int64_t grain) {
      // untestable (> to >=): an atomic addition by the only thread
      if (team_.threads_ > 1) return next.fetch_add(grain, std::memory_order_relaxed);
      const std::int64_t begin = next.load(std::memory_order_relaxed);  // the only worker
      next.store(begin + grain, std::memory_order_relaxed);
      return begin;
    }

    Team& team_;
    const int thread_;
    int turn_ = 0;
    std::int64_t unpolled_ = 0;
  };

 private:
  const int threads_;
  Monitor& monitor_;
  Barrier barrier_;
  std::atomic<std::int64_t> next_[2] = {0, 0};
};

// Runs body(worker) on at most so many threads at once; worker 0 is the caller. The first exception
// thrown by any of them cancels the monitor and is rethrown here after all have returned.
void run_team(int threads, Monitor& monitor, FunctionRef<void(Team::Worker& worker)> body);

}  // namespace kleene::parallel
