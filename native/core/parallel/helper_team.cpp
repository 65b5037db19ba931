#include "parallel/helper_team.hpp"

#include <chrono>
#include <exception>
#include <thread>

#include "parallel/team.hpp"

namespace kleene::parallel {
namespace {

// The parts of the state word.
constexpr std::uint64_t kInside = 0xFFFF;  // helpers inside
constexpr std::uint64_t kOpen = 1 << 16;
constexpr std::uint64_t kEnded = 1 << 17;
constexpr std::uint64_t kTask = 1 << 18;  // tasks are counted from this bit on
constexpr std::uint64_t kTaskMask = ~(kTask - 1);

// Spins at first, since tasks often follow one another within microseconds.
template <class Condition>
void wait_until(Condition&& condition) {
  constexpr int kSpinsBeforeYield = 4000, kYieldsBeforeSleep = 200;
  for (int tries = 0; !condition(); ++tries) {
    if (tries < kSpinsBeforeYield) continue;
    if (tries < kSpinsBeforeYield + kYieldsBeforeSleep) {
      std::this_thread::yield();
    } else {
      std::this_thread::sleep_for(std::chrono::microseconds(30));
    }
  }
}

}  // namespace

// However the leader leaves, it waits for the helpers: the task lives on the leader's stack.
struct HelperTeam::Closing {
  HelperTeam& team;
  const int thrown = std::uncaught_exceptions();

  ~Closing() {
    if (std::uncaught_exceptions() > thrown) team.monitor_.cancel();
    team.state_.fetch_and(~kOpen, std::memory_order_relaxed);
    wait_until([&] { return (team.state_.load(std::memory_order_acquire) & kInside) == 0; });
  }
};

struct HelperTeam::Inside {
  HelperTeam& team;
  ~Inside() { team.state_.fetch_sub(1, std::memory_order_release); }
};

void HelperTeam::run(FunctionRef<void()> lead) {
  run_team(threads_, monitor_, [&](Team::Worker& worker) {
    if (!worker.is_leader()) return help(worker.thread());
    lead();
    state_.fetch_or(kEnded, std::memory_order_release);
  });
}

void HelperTeam::share(Task task) {
  task_ = &task;
  state_.store((state_.load(std::memory_order_relaxed) & kTaskMask) + kTask + kOpen,
               std::memory_order_release);
  {
    const Closing closing{*this};
    task(0);
  }
  if (monitor_.cancelled()) throw Cancelled{};  // a helper has thrown
}

void HelperTeam::help(int thread) {
  std::uint64_t done = 0;  // the last task that this thread joined
  for (;;) {
    std::uint64_t seen = 0;
    wait_until([&] {
      seen = state_.load(std::memory_order_acquire);
      const bool is_new = (seen & kOpen) && (seen & kTaskMask) != done;
      return (seen & kEnded) || is_new || monitor_.cancelled();
    });
    if ((seen & kEnded) || monitor_.cancelled()) return;
    if (!state_.compare_exchange_strong(seen, seen + 1, std::memory_order_acq_rel)) continue;
    done = seen & kTaskMask;
    const Inside inside{*this};
    (*task_)(thread);
  }
}

}  // namespace kleene::parallel
