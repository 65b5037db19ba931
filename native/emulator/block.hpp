// The threads of one block, as fibers on one OS thread.
//
// Threads run one after another on the same fiber while none of them waits, so a kernel without
// barriers costs little more than a loop. A thread that waits keeps its fiber, and the next thread
// starts on another.
#pragma once

#include <cstdint>
#include <deque>
#include <exception>
#include <memory>
#include <string>
#include <vector>

#include "fiber.hpp"
#include "launch.hpp"

namespace kleene::emulator {

class Block;

enum class State : std::uint8_t { kNew, kReady, kAtBarrier, kAtGrid, kInWarp, kDone };

struct AsyncCopy {
  void* to;
  alignas(16) unsigned char data[16];
  unsigned bytes;
  unsigned group;
  Site site;
};

// One CUDA thread. Kernels see its ThreadContext.
struct Thread : ThreadContext {
  Block* in;
  Fiber* fiber;
  State state;
  Site site;  // where it waits or last waited
  Vote vote;
  int predicate;

  WarpOp op;
  unsigned mask;
  std::uint64_t value;
  int argument, width;

  std::uint32_t yields;
  unsigned groups;  // committed groups of asynchronous copies
  std::vector<AsyncCopy> copies;
};

inline Thread& self() { return *static_cast<Thread*>(current_thread); }

// SplitMix64, to shuffle schedules.
struct Random {
  std::uint64_t state;
  std::uint64_t next() {
    state += 0x9e3779b97f4a7c15ull;
    std::uint64_t z = state;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ull;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebull;
    return z ^ (z >> 31);
  }
  std::uint32_t below(std::uint32_t bound) {
    return static_cast<std::uint32_t>((next() >> 32) * bound >> 32);
  }
};

class Checker;

// Runs the blocks of one OS thread, one block after another.
class Block {
 public:
  // Why run() returned: all done, all at the grid barrier, or all waiting for another block.
  enum class Stop : std::uint8_t { kDone, kAtGrid, kWaiting };

  // `worker` 0 is the thread that entered the emulator; it polls the monitor.
  Block(const Launch& launch, Monitor& monitor, int worker);
  ~Block();

  void begin(std::uint64_t index);

  // Runs until all threads are done, all are at the grid barrier, or all have only yielded for a
  // while. Throws KernelError, or parallel::Cancelled when cancelled.
  Stop run();
  void release_grid_barrier();  // before run() resumes after kAtGrid

  const Launch& launch() const { return launch_; }
  uint3 index() const { return index_; }
  Thread& thread(std::uint32_t i) { return threads_[i]; }
  std::uint32_t count() const { return count_; }

  // ---- called on fibers ----
  int barrier(Thread& thread, Vote vote, int predicate, Site site);
  void grid_barrier(Thread& thread, Site site);
  void yield_thread(Thread& thread, Site site);
  std::uint64_t warp_operation(Thread& thread);
  [[noreturn]] void fail(const Thread& thread, Site site, const std::string& what);

  Checker* checker = nullptr;

 private:
  static void fiber_main(void* block);
  void start_threads();
  void finish(Thread& thread);
  void suspend(Thread& thread);
  void resume(Fiber& fiber);
  void make_ready(Thread& thread);
  void shuffle_ready(std::size_t from);
  bool release_barrier(State at);
  void require_uniform(State at);
  void complete_warp_operation(Thread& thread, std::uint32_t warp_start, unsigned mask);
  void require_same_operation(const Thread& thread, std::uint32_t warp_start);
  Fiber* free_fiber();
  std::string describe(const Thread& thread, Site site, const std::string& what) const;
  [[noreturn]] void report_deadlock();

  const Launch& launch_;
  parallel::CancelCheck check_cancelled_;
  const std::uint32_t count_;
  uint3 index_{};
  Random random_{};
  std::vector<Thread> threads_;
  std::vector<std::uint32_t> order_;
  struct Lanes {  // of one warp, as bits
    unsigned waiting, done;
  };
  std::vector<Lanes> warps_;
  std::unique_ptr<unsigned char[]> memory_;
  unsigned char* shared_;  // memory_, aligned
  std::deque<Thread*> ready_;
  std::vector<std::unique_ptr<Fiber>> fibers_;
  std::vector<Fiber*> free_;
  Fiber scheduler_;
  Fiber* running_ = nullptr;
  std::uint32_t started_ = 0, done_ = 0, at_barrier_ = 0, at_grid_ = 0, idle_yields_ = 0;
  std::string error_;
  std::exception_ptr thrown_;  // on a fiber
};

// Text for messages.
std::string to_text(uint3 index);
std::string to_text(Site site);

}  // namespace kleene::emulator
