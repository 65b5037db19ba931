// A team whose leader goes its own way and calls for help when there is much to do.
//
// The leader (thread 0, the caller) never waits for a thread that has not joined: helpers that are
// awake take part, and on a busy machine, where the system runs other programs in their place, the
// leader does the work itself. Between calls helpers check_cancelled for a while, then sleep in
// short naps.
//
// One word holds the number of the call, whether it is open, and how many helpers are inside. A
// helper that has entered sees all that the leader wrote before the call; when it has left, the
// leader sees all that the helper wrote.
#pragma once

#include <atomic>
#include <cstdint>

#include "parallel/function_ref.hpp"
#include "parallel/monitor.hpp"

namespace kleene::parallel {

class HelperTeam {
 public:
  using Task = FunctionRef<void(int thread)>;

  HelperTeam(int threads, Monitor& monitor) : threads_(threads), monitor_(monitor) {}

  // Runs lead() on the calling thread while helpers wait for tasks.
  void run(FunctionRef<void()> lead);

  // The leader only: runs task(0) here and task(thread) on the helpers that join. The task must be
  // complete when task(0) and those that were begun have returned.
  void share(Task task);

 private:
  struct Closing;
  struct Inside;

  void help(int thread);

  const int threads_;
  Monitor& monitor_;
  const Task* task_ = nullptr;
  std::atomic<std::uint64_t> state_{0};
};

}  // namespace kleene::parallel
