// Launches. Independent blocks run on a few OS threads. The blocks of a cooperative launch have an
// OS thread each, of which one runs at a time.
#include <atomic>
#include <condition_variable>
#include <exception>
#include <mutex>
#include <numeric>
#include <system_error>
#include <thread>

#include "block.hpp"
#include "checker.hpp"
#include "launch.hpp"
#include "parallel/team.hpp"

namespace kleene::emulator {

std::string Kernel::title() const {
  return "kernel " + name + " (" + file + ".cu" + (variant.empty() ? "" : ", " + variant) + ")";
}

std::vector<Kernel>& kernels() {
  static auto* const all = new std::vector<Kernel>;  // never destroyed: a daemon thread may use it
  return *all;
}

void add_kernel(const char* file, const char* variant, const char* name, int max_threads,
                const char* const* codes, const size_t* sizes, int parameters, void (*kernel)(),
                Trampoline call) {
  Kernel known{file, variant, name, max_threads, {}, 0, kernel, call};
  for (int i = 0; i < parameters; ++i) {
    std::string code = codes[i];
    code.pop_back();  // the trailing blank
    if (code.back() == 'V') code += std::to_string(sizes[i]);
    known.argument_bytes += code.front() == 'V' ? (sizes[i] + 7) / 8 * 8 : 8;
    known.codes.push_back(std::move(code));
  }
  kernels().push_back(std::move(known));
}

namespace {

// Blocks in order; for other seeds in steps coprime to their number.
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
  parallel::run_team(team, monitor, [&](parallel::Team::Worker& worker) {
    parallel::CancelCheck check_cancelled(monitor, worker.thread());
    Block block(launch, monitor, worker.thread());
    if (launch.checked) block.checker = &checker;
    for (std::uint64_t i; (i = next.fetch_add(1, std::memory_order_relaxed)) < order.count;) {
      block.begin(order.at(i));
      while (block.run() != Block::Stop::kDone) {
        check_cancelled();
        std::this_thread::yield();
      }
      check_cancelled();
    }
  });
}

// A thread that is joined when it goes out of scope: std::jthread, which libc++ has from version 20
// on (Xcode 26), without its stop token.
class JoiningThread : public std::thread {
 public:
  using std::thread::thread;
  JoiningThread(JoiningThread&&) = default;
  JoiningThread& operator=(JoiningThread&&) = delete;
  ~JoiningThread() {
    if (joinable()) join();
  }
};

// One OS thread per block, since __shared__ variables are thread-local; one of them runs at a time.
class Grid {
 public:
  Grid(const Launch& launch, Monitor& monitor)
      : launch_(launch), monitor_(monitor), checker_(launch), random_{launch.seed} {
    for (std::uint64_t i = 0; i < launch.blocks(); ++i) {
      blocks_.push_back(std::make_unique<BlockThread>(launch, monitor));
      if (launch.checked) blocks_.back()->block.checker = &checker_;
    }
  }

  void run() {
    std::vector<JoiningThread> threads;
    threads.reserve(blocks_.size());
    std::unique_lock lock(guard_);
    try {
      for (std::size_t i = 0; i < blocks_.size(); ++i)
        threads.emplace_back([this, i] { run_block(i); });
      schedule_next();
    } catch (const std::system_error&) {  // the limit of processes or of memory
      abort_launch(std::make_exception_ptr(ThreadError(
          launch_.kernel->title() + ": a cooperative launch needs a thread for each of its " +
          std::to_string(blocks_.size()) + " blocks, and the system started " +
          std::to_string(threads.size()))));
    } catch (...) {
      abort_launch(std::current_exception());
    }
    while (!ended_.wait_for(lock, std::chrono::milliseconds(50),
                            [&] { return exited_ == threads.size(); })) {
      if (aborted_) continue;
      lock.unlock();
      std::exception_ptr interrupted;
      try {
        monitor_.poll();
      } catch (...) {
        interrupted = std::current_exception();
      }
      lock.lock();
      if (interrupted) abort_launch(interrupted);
    }
    lock.unlock();
    threads.clear();
    if (error_) std::rethrow_exception(error_);
  }

 private:
  enum class Phase : std::uint8_t { kRunnable, kAtGrid, kReleased, kDone };

  struct BlockThread {
    BlockThread(const Launch& launch, Monitor& monitor) : block(launch, monitor, 1) {}
    Block block;
    Phase phase = Phase::kRunnable;
    std::condition_variable turn;
  };

  // Main function of the OS thread of one block.
  void run_block(std::size_t own) {
    BlockThread& block_thread = *blocks_[own];
    std::unique_lock lock(guard_);
    for (bool begun = false;; begun = true) {
      block_thread.turn.wait(lock, [&] { return turn_ == own || aborted_; });
      if (aborted_) break;
      lock.unlock();
      std::exception_ptr error;
      Block::Stop stop = Block::Stop::kDone;
      try {
        if (!begun) block_thread.block.begin(own);
        if (block_thread.phase == Phase::kReleased) block_thread.block.release_grid_barrier();
        stop = block_thread.block.run();
      } catch (const parallel::Cancelled&) {  // aborted_ is set
      } catch (...) {
        error = std::current_exception();
      }
      lock.lock();
      if (error) {
        abort_launch(error);
        break;
      }
      block_thread.phase = stop == Block::Stop::kDone     ? Phase::kDone
                           : stop == Block::Stop::kAtGrid ? Phase::kAtGrid
                                                          : Phase::kRunnable;
      schedule_next();
      if (stop == Block::Stop::kDone) break;
    }
    ++exited_;
    ended_.notify_one();
  }

  // Runs the next runnable block; releases the grid barrier if there is none.
  void schedule_next() {
    std::size_t next = choose();
    if (next == kNone) {
      const auto find_phase = [&](Phase phase) {
        for (std::size_t i = 0; i < blocks_.size(); ++i) {
          if (blocks_[i]->phase == phase) return i;
        }
        return kNone;
      };
      const std::size_t waiting = find_phase(Phase::kAtGrid), done = find_phase(Phase::kDone);
      if (waiting == kNone) return;  // all are done
      if (done != kNone) return report_exited_block(done, waiting);
      for (const auto& block_thread : blocks_) block_thread->phase = Phase::kReleased;
      checker_.grid_synced();
      turn_ = kNone;
      next = choose();
    }
    turn_ = next;
    blocks_[next]->turn.notify_one();
  }

  std::size_t choose() {
    const std::size_t count = blocks_.size();
    const std::size_t from = launch_.seed != 0 ? random_.below(static_cast<std::uint32_t>(count))
                             : turn_ == kNone  ? 0
                                               : turn_ + 1;
    for (std::size_t i = 0; i < count; ++i) {
      const std::size_t candidate = (from + i) % count;
      const Phase phase = blocks_[candidate]->phase;
      if (phase == Phase::kRunnable || phase == Phase::kReleased) return candidate;
    }
    return kNone;
  }

  void report_exited_block(std::size_t done, std::size_t waiting) {
    abort_launch(std::make_exception_ptr(
        KernelError(launch_.kernel->title() + ", block " + to_text(blocks_[done]->block.index()) +
                    ": barrier divergence: it has left the kernel while block " +
                    to_text(blocks_[waiting]->block.index()) + " waits at kl_grid_sync in " +
                    to_text(blocks_[waiting]->block.thread(0).site))));
  }

  // The first error is the one that is reported.
  void abort_launch(std::exception_ptr error) {
    if (!error_) error_ = std::move(error);
    aborted_ = true;
    monitor_.cancel();
    for (const auto& block_thread : blocks_) block_thread->turn.notify_one();
  }

  static constexpr std::size_t kNone = static_cast<std::size_t>(-1);

  const Launch& launch_;
  Monitor& monitor_;
  Checker checker_;
  Random random_;
  std::vector<std::unique_ptr<BlockThread>> blocks_;
  std::mutex guard_;
  std::condition_variable ended_;
  std::size_t turn_ = kNone, exited_ = 0;
  bool aborted_ = false;
  std::exception_ptr error_;
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
