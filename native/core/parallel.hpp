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

// A team that runs loops one after another, as level-synchronous searches do. Each thread of
// run_team makes itself a Member; all members call the same loops in the same order.
class Team {
 public:
  Team(int threads, Monitor& monitor)
      : threads_(threads), monitor_(monitor), barrier_(threads, monitor) {}

  int threads() const { return threads_; }

  class Member {
   public:
    Member(Team& team, int thread) : team_(team), thread_(thread) {}

    int thread() const { return thread_; }
    bool leads() const { return thread_ == 0; }

    // Calls body(begin, end) over pieces of [0, count), handed out as threads become free, then
    // finish(), and returns when all members are through. The leader polls.
    template <class Body, class Finish>
    void loop(std::int64_t count, std::int64_t grain, Body&& body, Finish&& finish) {
      // Two counters take turns: while one is in use, no member can be in the loop before this
      // one, so the leader may reset the other for the loop to come.
      std::atomic<std::int64_t>& next = team_.next_[turn_];
      turn_ = 1 - turn_;
      if (leads()) team_.next_[turn_].store(0, std::memory_order_relaxed);
      for (std::int64_t begin; (begin = take(next, grain)) < count;) {
        const std::int64_t end = std::min(begin + grain, count);
        body(begin, end);
        poll(end - begin);
      }
      finish();
      meet();
    }

    template <class Body>
    void loop(std::int64_t count, std::int64_t grain, Body&& body) {
      loop(count, grain, body, [] {});
    }

    // So many more items are done; the leader polls now and then.
    void poll(std::int64_t items) {
      unpolled_ += items;
      if (!leads() || unpolled_ < kPollEvery) return;
      unpolled_ = 0;
      team_.monitor_.poll();
    }

    void meet() {
      if (team_.threads_ > 1) team_.barrier_.wait();
    }

   private:
    static constexpr std::int64_t kPollEvery = 1 << 10;  // items; loops may be a single item long

    std::int64_t take(std::atomic<std::int64_t>& next, std::int64_t grain) {
      if (team_.threads_ > 1) return next.fetch_add(grain, std::memory_order_relaxed);
      const std::int64_t begin = next.load(std::memory_order_relaxed);  // nobody else takes
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

// The monitor of a thread that is not the one that entered the core, for work that polls: when the
// whole is stopped, its poll throws Stopped.
class Follower final : public Monitor {
 public:
  struct Stopped {};

  explicit Follower(const Monitor& leader) : leader_(leader) {}

 protected:
  void report(std::uint64_t) override {
    if (leader_.stopped()) throw Stopped{};
  }

 private:
  const Monitor& leader_;
};

// Calls work(i, monitor) for i = 0 .. count - 1, each by one thread, as threads become free.
template <class Work>
void parallel_each(std::int64_t count, int threads, Monitor& monitor, Work&& work) {
  parallel_for(count, 1, threads, monitor, [&](std::int64_t i, std::int64_t, int thread) {
    if (thread == 0) return work(i, monitor);
    Follower follower(monitor);
    try {
      work(i, follower);
    } catch (const Follower::Stopped&) {
      throw Abandoned{};
    }
  });
}

// Sets count entries to one value; large arrays by all threads, which also brings in their pages.
template <class T>
void parallel_fill(T* data, std::int64_t count, T value, int threads, Monitor& monitor) {
  constexpr std::int64_t kGrain = 1 << 16;
  Team team(count > 4 * kGrain ? threads : 1, monitor);
  run_team(team.threads(), monitor, [&](int thread) {
    Team::Member(team, thread).loop(count, kGrain, [&](std::int64_t begin, std::int64_t end) {
      std::fill(data + begin, data + end, value);
    });
  });
}

}  // namespace kleene
