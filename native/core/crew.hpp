// A team whose leader goes its own way and calls for help when there is much to do.
//
// The leader (thread 0, the caller) never waits for a thread that has not joined: helpers that are
// awake take part, and on a busy machine, where the system runs other programs in their place, the
// leader does the work itself. Between calls helpers watch for a while, then sleep in short naps.
//
// One word holds the number of the call, whether it is open, and how many helpers are inside. A
// helper that has entered sees all that the leader wrote before the call; when it has left, the
// leader sees all that the helper wrote.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <exception>
#include <functional>
#include <thread>

#include "monitor.hpp"
#include "parallel.hpp"

namespace kleene {

class Crew {
 public:
  using Job = std::function<void(int thread)>;

  Crew(int threads, Monitor& monitor) : threads_(threads), monitor_(monitor) {}

  // Runs lead(), with helpers at hand.
  template <class Lead>
  void run(Lead&& lead) {
    run_team(threads_, monitor_, [&](int thread) {
      if (thread > 0) return help(thread);
      lead();
      state_.fetch_or(kEnded, std::memory_order_release);
    });
  }

  // The leader only: runs job(0) here and job(thread) on the helpers that join. The job must be
  // complete when job(0) and those that were begun have returned.
  void together(const Job& job) {
    job_ = &job;
    state_.store((state_.load(std::memory_order_relaxed) & kCalls) + kCall + kOpen,
                 std::memory_order_release);
    {
      const Closing closing{*this};
      job(0);
    }
    if (monitor_.stopped()) throw Abandoned{};  // a helper has thrown
  }

 private:
  static constexpr std::uint64_t kInside = 0xFFFF;  // helpers inside
  static constexpr std::uint64_t kOpen = 1 << 16;
  static constexpr std::uint64_t kEnded = 1 << 17;
  static constexpr std::uint64_t kCall = 1 << 18;  // calls are counted from this bit on
  static constexpr std::uint64_t kCalls = ~(kCall - 1);

  // However the leader leaves, helpers are out first: the job is in the leader's hands.
  struct Closing {
    Crew& crew;
    const int thrown = std::uncaught_exceptions();

    ~Closing() {
      if (std::uncaught_exceptions() > thrown) crew.monitor_.stop();
      crew.state_.fetch_and(~kOpen, std::memory_order_relaxed);
      wait_until([&] { return (crew.state_.load(std::memory_order_acquire) & kInside) == 0; });
    }
  };

  struct Inside {
    Crew& crew;
    ~Inside() { crew.state_.fetch_sub(1, std::memory_order_release); }
  };

  void help(int thread) {
    std::uint64_t done = 0;  // the last call that this thread took part in
    for (;;) {
      std::uint64_t seen = 0;
      wait_until([&] {
        seen = state_.load(std::memory_order_acquire);
        return (seen & kEnded) || ((seen & kOpen) && (seen & kCalls) != done) || monitor_.stopped();
      });
      if ((seen & kEnded) || monitor_.stopped()) return;
      if (!state_.compare_exchange_strong(seen, seen + 1, std::memory_order_acq_rel)) continue;
      done = seen & kCalls;
      const Inside inside{*this};
      (*job_)(thread);
    }
  }

  // Looks often at first, since calls follow one another within microseconds.
  template <class Condition>
  static void wait_until(Condition&& condition) {
    constexpr int kSpins = 4000, kYields = 200;
    for (int looks = 0; !condition(); ++looks) {
      if (looks < kSpins) continue;
      if (looks < kSpins + kYields) {
        std::this_thread::yield();
      } else {
        std::this_thread::sleep_for(std::chrono::microseconds(30));
      }
    }
  }

  const int threads_;
  Monitor& monitor_;
  const Job* job_ = nullptr;
  std::atomic<std::uint64_t> state_{0};
};

}  // namespace kleene
