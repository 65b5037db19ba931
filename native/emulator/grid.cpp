// Launches: blocks spread over a few OS threads, or, when they may wait for each other, each on an
// OS thread of its own with one baton among them.
#include <atomic>
#include <condition_variable>
#include <mutex>
#include <numeric>
#include <thread>

#include "block.hpp"
#include "checker.hpp"
#include "launch.hpp"
#include "parallel.hpp"

namespace kleene::emulator {

std::string Kernel::title() const {
  return "kernel " + name + " (" + file + ".cu" + (variant.empty() ? "" : ", " + variant) + ")";
}

std::vector<Kernel>& kernels() {
  static std::vector<Kernel> all;
  return all;
}

void add_kernel(const char* file, const char* variant, const char* name, int max_threads,
                const char* const* codes, int parameters, void (*kernel)(), Trampoline call) {
  Kernel known{file, variant, name, max_threads, {}, kernel, call};
  for (int i = 0; i < parameters; ++i) {
    known.codes.emplace_back(codes[i]);
    known.codes.back().pop_back();  // the blank at its end
  }
  kernels().push_back(std::move(known));
}

namespace {

// Blocks in order, or for other seeds in steps of some number that has no factor in common.
struct BlockOrder {
  explicit BlockOrder(const Launch& launch) : count(launch.blocks()) {
    if (launch.seed == 0 || count < 2) return;
    Random random{launch.seed};
    start = random.next() % count;
    do {
      step = 1 + random.next() % count;
    } while (std::gcd(step, count) != 1);
  }
  std::uint64_t at(std::uint64_t i) const { return (start + i * step) % count; }

  std::uint64_t count, start = 0, step = 1;
};

void run_independent(const Launch& launch, Monitor& monitor) {
  const BlockOrder order(launch);
  Checker checker(launch);
  std::atomic<std::uint64_t> next{0};
  const int team = launch.checked ? 1 : launch.workers;
  run_team(team, monitor, [&](int worker) {
    Watch watch(monitor, worker);
    Block block(launch, monitor, worker);
    if (launch.checked) block.checker = &checker;
    for (std::uint64_t i; (i = next.fetch_add(1, std::memory_order_relaxed)) < order.count;) {
      block.begin(order.at(i));
      while (block.run() != Block::Stop::kDone) {
        watch.look();
        std::this_thread::yield();
      }
      watch.look();
    }
  });
}

// One OS thread per block, since shared memory is the OS thread's; the one with the baton runs.
class Grid {
 public:
  Grid(const Launch& launch, Monitor& monitor)
      : launch_(launch), monitor_(monitor), checker_(launch), random_{launch.seed} {
    for (std::uint64_t i = 0; i < launch.blocks(); ++i) {
      members_.push_back(std::make_unique<Member>(launch, monitor));
      if (launch.checked) members_.back()->block.checker = &checker_;
    }
  }

  void run() {
    std::vector<std::jthread> threads;
    std::exception_ptr interrupted;
    std::unique_lock lock(guard_);
    for (std::size_t i = 0; i < members_.size(); ++i) threads.emplace_back([this, i] { live(i); });
    pass_on();
    while (!ended_.wait_for(lock, std::chrono::milliseconds(50),
                            [&] { return left_ == members_.size(); })) {
      if (interrupted) continue;
      lock.unlock();
      try {
        monitor_.poll();
      } catch (...) {
        interrupted = std::current_exception();
      }
      lock.lock();
      if (interrupted) give_up();
    }
    lock.unlock();
    threads.clear();
    if (interrupted) std::rethrow_exception(interrupted);
    if (!error_.empty()) throw KernelError(error_);
  }

 private:
  enum class Phase : std::uint8_t { kRunnable, kAtGrid, kReleased, kDone };

  struct Member {
    Member(const Launch& launch, Monitor& monitor) : block(launch, monitor, 1) {}
    Block block;
    Phase phase = Phase::kRunnable;
    std::condition_variable turn;
  };

  // What the OS thread of one block does.
  void live(std::size_t own) {
    Member& member = *members_[own];
    std::unique_lock lock(guard_);
    for (bool begun = false;; begun = true) {
      member.turn.wait(lock, [&] { return turn_ == own || over_; });
      if (over_) break;
      lock.unlock();
      std::string error;
      Block::Stop stop = Block::Stop::kDone;
      try {
        if (!begun) member.block.begin(own);
        if (member.phase == Phase::kReleased) member.block.leave_grid_barrier();
        stop = member.block.run();
      } catch (const KernelError& failed) {
        error = failed.what();
      } catch (const Abandoned&) {  // over_ is set, or will be by the thread that polls
      }
      lock.lock();
      if (!error.empty()) {
        error_ = error;
        give_up();
        break;
      }
      member.phase = stop == Block::Stop::kDone     ? Phase::kDone
                     : stop == Block::Stop::kAtGrid ? Phase::kAtGrid
                                                    : Phase::kRunnable;
      pass_on();
      if (stop == Block::Stop::kDone) break;
    }
    ++left_;
    ended_.notify_one();
  }

  // Gives the baton to the next block that can go on; the barrier opens when no other can.
  void pass_on() {
    std::size_t next = choose();
    if (next == kNobody) {
      const auto in = [&](Phase phase) {
        for (std::size_t i = 0; i < members_.size(); ++i) {
          if (members_[i]->phase == phase) return i;
        }
        return kNobody;
      };
      const std::size_t waiting = in(Phase::kAtGrid), done = in(Phase::kDone);
      if (waiting == kNobody) return;  // all are done
      if (done != kNobody) return report_left(done, waiting);
      for (const auto& member : members_) member->phase = Phase::kReleased;
      checker_.grid_synced();
      turn_ = kNobody;
      next = choose();
    }
    turn_ = next;
    members_[next]->turn.notify_one();
  }

  std::size_t choose() {
    const std::size_t count = members_.size();
    const std::size_t from = launch_.seed != 0  ? random_.below(static_cast<std::uint32_t>(count))
                             : turn_ == kNobody ? 0
                                                : turn_ + 1;
    for (std::size_t i = 0; i < count; ++i) {
      const std::size_t candidate = (from + i) % count;
      const Phase phase = members_[candidate]->phase;
      if (phase == Phase::kRunnable || phase == Phase::kReleased) return candidate;
    }
    return kNobody;
  }

  void report_left(std::size_t done, std::size_t waiting) {
    error_ = launch_.kernel->title() + ", block " + written(members_[done]->block.index()) +
             ": barrier divergence: it has left the kernel while block " +
             written(members_[waiting]->block.index()) + " waits at kl_grid_sync in " +
             written(members_[waiting]->block.thread(0).site);
    give_up();
  }

  void give_up() {
    over_ = true;
    monitor_.stop();
    for (const auto& member : members_) member->turn.notify_one();
  }

  static constexpr std::size_t kNobody = static_cast<std::size_t>(-1);

  const Launch& launch_;
  Monitor& monitor_;
  Checker checker_;
  Random random_;
  std::vector<std::unique_ptr<Member>> members_;
  std::mutex guard_;
  std::condition_variable ended_;
  std::size_t turn_ = kNobody, left_ = 0;
  bool over_ = false;
  std::string error_;
};

}  // namespace

void run(const Launch& launch, Monitor& monitor) {
  if (launch.cooperative) {
    Grid(launch, monitor).run();
  } else {
    run_independent(launch, monitor);
  }
}

}  // namespace kleene::emulator
