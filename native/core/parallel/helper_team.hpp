// A team whose leader goes its own way and calls for help when there is much to do.
//
// The leader (thread 0, the caller) never waits for a thread that has not joined: helpers that are
// awake take part, and on a busy machine, where the system runs other programs in their place, the
// leader does the work itself. Helpers are leased when they are first wanted, and as many as are
// wanted, so that a search whose frontiers are small starts few threads or none.
//
// A helper that has joined sees all that the leader wrote before the call; when share() returns,
// the leader sees all that the helpers wrote.
#pragma once

#include <algorithm>
#include <atomic>
#include <cmath>
#include <cstdint>

#include "parallel/function_ref.hpp"
#include "parallel/leased_threads.hpp"
#include "parallel/monitor.hpp"
#include "parallel/team_error.hpp"

namespace kleene::parallel {

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
