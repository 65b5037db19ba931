#include "parallel/team.hpp"

#include <exception>
#include <mutex>
#include <new>
#include <optional>
#include <system_error>
#include <vector>

#include "parallel/joining_thread.hpp"

namespace kleene::parallel {
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
  std::exception_ptr error;
  std::mutex guard;
  const auto run = [&](Team& team, int thread) {
    try {
      Team::Worker worker(team, thread);
      body(worker);
    } catch (const Cancelled&) {  // another thread threw, and that exception is rethrown
    } catch (...) {
      monitor.cancel();
      const std::lock_guard lock(guard);
      if (!error) error = std::current_exception();
    }
  };
  {
    std::optional<Team> team;
    std::atomic<bool> complete{false};  // all threads that will start have started
    std::vector<JoiningThread> others;
    others.reserve(static_cast<std::size_t>(std::max(threads - 1, 0)));
    try {
      for (int thread = 1; thread < threads; ++thread) {
        others.emplace_back([&, thread] {
          complete.wait(false, std::memory_order_acquire);
          run(*team, thread);
        });
      }
    } catch (const std::system_error&) {  // no further thread: the limit of processes or of memory
    } catch (const std::bad_alloc&) {
    }
    team.emplace(static_cast<int>(others.size()) + 1, monitor);
    complete.store(true, std::memory_order_release);
    complete.notify_all();
    run(*team, 0);
  }
  if (error) std::rethrow_exception(error);
}

void parallel_for(std::int64_t count, std::int64_t grain, int threads, Monitor& monitor,
                  FunctionRef<void(std::int64_t, std::int64_t, int)> body) {
  if (count <= 0) return;
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

}  // namespace kleene::parallel
