#include "parallel/team.hpp"

#include <thread>

namespace kleene::parallel {

void TeamError::run(FunctionRef<void()> work) {
  try {
    work();
  } catch (const Cancelled&) {
  } catch (...) {
    monitor_.cancel();
    const std::lock_guard lock(guard_);
    if (!error_) error_ = std::current_exception();
  }
}

void TeamError::rethrow() const {
  if (error_) std::rethrow_exception(error_);
}

namespace {

// The monitor of a worker other than the one that entered the core, for work that polls. Its poll
// throws CallerCancelled, which passes through teams nested in that work, where Cancelled does not.
class WorkerMonitor final : public Monitor {
 public:
  struct CallerCancelled {};

  explicit WorkerMonitor(const Monitor& caller) : caller_(caller) {}

 protected:
  void report(std::uint64_t) override {
    if (caller_.cancelled()) throw CallerCancelled{};
  }

 private:
  const Monitor& caller_;
};

}  // namespace

void run_team(int threads, Monitor& monitor, FunctionRef<void(Team::Worker&)> body) {
  TeamError error(monitor);
  LeasedThreads others;
  if (threads > 1) others.grow(threads - 1);
  Team team(others.size() + 1, monitor);
  const auto run = [&](int thread) {
    error.run([&] {
      Team::Worker worker(team, thread);
      body(worker);
    });
  };
  const auto run_other = [&](int index) { run(index + 1); };
  const LeasedThreads::Task task(run_other);
  others.call(others.size(), task);
  run(0);
  others.wait();
  error.rethrow();
}

void parallel_for(std::int64_t count, std::int64_t grain, int threads, Monitor& monitor,
                  FunctionRef<void(std::int64_t, std::int64_t, int)> body) {
  if (count <= 0) return;  // untestable (<= to <): a team of one, which finds no piece
  const std::int64_t pieces = (count + grain - 1) / grain;
  std::atomic<std::int64_t> next{0};
  const int size = static_cast<int>(std::min<std::int64_t>(threads, pieces));
  run_team(size, monitor, [&](Team::Worker& worker) {
    const int thread = worker.thread();
    for (;;) {
      if (monitor.cancelled()) return;
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

void parallel_each(std::int64_t count, int threads, Monitor& monitor,
                   FunctionRef<void(std::int64_t, Monitor&)> work) {
  parallel_for(count, 1, threads, monitor, [&](std::int64_t i, std::int64_t, int thread) {
    if (thread == 0) return work(i, monitor);
    WorkerMonitor own(monitor);
    try {
      work(i, own);
    } catch (const WorkerMonitor::CallerCancelled&) {
      throw Cancelled{};
    }
  });
}

void yield_core() { std::this_thread::yield(); }

void HelperTeam::share(int wanted, Task task) {
  wanted = std::min(wanted, threads_);
  if (wanted <= 1) return task(0);
  TeamError error(monitor_);
  helpers_.grow(wanted - 1);
  const auto help = [&](int index) { error.run([&] { task(index + 1); }); };
  const LeasedThreads::Task called(help);
  helpers_.call(wanted - 1, called);
  error.run([&] { task(0); });
  helpers_.withdraw();
  error.rethrow();
  if (monitor_.cancelled()) throw Cancelled{};  // by a thread of an outer team
}

}  // namespace kleene::parallel
