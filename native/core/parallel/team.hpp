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
#include <cmath>
#include <cstdint>
#include <exception>
#include <mutex>

#include "parallel/function_ref.hpp"
#include "parallel/leased_threads.hpp"
#include "parallel/monitor.hpp"

namespace kleene::parallel {

// The first exception of several threads, to be rethrown by the one that called them.
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

// ---- helpers ------------------------------------------------------------------------------------
//
// A team whose leader goes its own way and calls for help when there is much to do.
//
// The leader (thread 0, the caller) never waits for a thread that has not joined: helpers that are
// awake take part, and on a busy machine, where the system runs other programs in their place, the
// leader does the work itself. Helpers are leased when they are first wanted, and as many as are
// wanted, so that a search whose frontiers are small starts few threads or none.
//
// A helper that has joined sees all that the leader wrote before the call; when share() returns,
// the leader sees all that the helpers wrote.

class HelperTeam {
 public:
  using Task = FunctionRef<void(int thread)>;

  // At most so many threads, the leader included.
  HelperTeam(int threads, Monitor& monitor) : threads_(threads), monitor_(monitor) {}

  int threads() const { return threads_; }

  // Runs task(0) here and task(thread) on the helpers that join, fewer than `wanted`. The task must
  // be complete when task(0) and those that were begun have returned. The first exception of any
  // thread cancels the monitor and is rethrown here.
  void share(int wanted, Task task);

  // Calls body(begin, end, thread) over pieces of [0, count), handed out as threads become free.
  template <class Body>
  void loop(int wanted, std::int64_t count, std::int64_t grain, Body&& body) {
    std::atomic<std::int64_t> next{0};
    share(wanted, [&](int thread) {
      CancelCheck check_cancelled(monitor_, thread);
      for (std::int64_t begin;
           (begin = next.fetch_add(grain, std::memory_order_relaxed)) < count;) {
        body(begin, std::min(begin + grain, count), thread);
        check_cancelled();
      }
    });
  }

 private:
  const int threads_;
  Monitor& monitor_;
  LeasedThreads helpers_;
};

// How many threads so much work is worth, of those there are.
inline int threads_worth(std::int64_t work, std::int64_t work_of_one, int threads) {
  return static_cast<int>(std::clamp<std::int64_t>(work / work_of_one, 1, threads));
}

// The same where threads meet often: the time of a round is work / threads + meeting x threads,
// which is least at the root of work / meeting.
inline int threads_by_root(std::int64_t work, std::int64_t meeting, int threads) {
  const double root = std::sqrt(static_cast<double>(work) / static_cast<double>(meeting));
  return static_cast<int>(std::clamp(root, 1.0, static_cast<double>(threads)));
}

// Sets count entries to one value; large arrays by all threads, which also brings in their pages.
template <class T>
void parallel_fill(T* data, std::int64_t count, T value, int threads, Monitor& monitor) {
  constexpr std::int64_t kGrain = 1 << 14, kShare = 1 << 17;
  HelperTeam helpers(threads, monitor);
  helpers.loop(threads_worth(count, kShare, threads), count, kGrain,
               [&](std::int64_t begin, std::int64_t end, int) {
                 std::fill(data + begin, data + end, value);
               });
}

}  // namespace kleene::parallel
