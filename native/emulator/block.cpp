#include "block.hpp"

#include <dlfcn.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstring>
#include <exception>
#include <numeric>
#include <utility>

#include "checker.hpp"

namespace kleene::emulator {

__thread ThreadContext* current_thread = nullptr;

std::string to_text(uint3 index) {
  return "(" + std::to_string(index.x) + ", " + std::to_string(index.y) + ", " +
         std::to_string(index.z) + ")";
}

std::string to_text(Site site) {
  if (site.file == nullptr) return "an unknown line";
  if (site.line < 0) {  // a code address; EmulatedDevice.with_line looks up its line
    Dl_info info{};
    dladdr(site.file, &info);
    char text[32];
    std::snprintf(text, sizeof text, "pc+0x%zx",
                  static_cast<std::size_t>(site.file - static_cast<const char*>(info.dli_fbase)));
    return text;
  }
  const char* const slash = std::strrchr(site.file, '/');
  return std::string(slash == nullptr ? site.file : slash + 1) + ":" + std::to_string(site.line);
}

namespace {

const char* name_of(State state, Vote vote) {
  if (state == State::kAtGrid) return "kl_grid_sync";
  switch (vote) {
    case Vote::kOr:
      return "__syncthreads_or";
    case Vote::kAnd:
      return "__syncthreads_and";
    case Vote::kCount:
      return "__syncthreads_count";
    case Vote::kNone:
      break;
  }
  return "__syncthreads";
}

// Fills shared memory, so that kernels that forget to initialise it fail.
constexpr unsigned char kGarbage = 0xcd;

constexpr std::uint32_t kPollEvery = 256;  // fiber switches between polls of the monitor

}  // namespace

Block::Block(const Launch& launch, Monitor& monitor, int worker)
    : launch_(launch),
      check_cancelled_(monitor, worker),
      count_(launch.threads()),
      threads_(count_),
      order_(count_),
      memory_(new unsigned char[launch.shared + 16 + 15]) {
  fibers_.reserve(count_);
  free_.reserve(count_);
  const auto unaligned = reinterpret_cast<std::uintptr_t>(memory_.get());
  shared_ = reinterpret_cast<unsigned char*>((unaligned + 15) & ~std::uintptr_t{15});
  const dim3 block = launch.block;
  for (std::uint32_t i = 0; i < count_; ++i) {
    Thread& thread = threads_[i];
    thread.thread = {i % block.x, i / block.x % block.y, i / block.x / block.y};
    thread.block_dim = block;
    thread.grid_dim = launch.grid;
    thread.shared = shared_;
    thread.lane = i % 32;
    thread.in = this;
  }
}

Block::~Block() {
  for (const auto& fiber : fibers_) StackPool::shared().give(fiber->stack());
}

void Block::begin(std::uint64_t index) {
  const dim3 grid = launch_.grid;
  index_ = {static_cast<unsigned>(index % grid.x), static_cast<unsigned>(index / grid.x % grid.y),
            static_cast<unsigned>(index / grid.x / grid.y)};
  random_.state = launch_.seed * 0x9e3779b97f4a7c15ull + index;
  std::memset(shared_, kGarbage, launch_.shared);
  for (Thread& thread : threads_) {
    thread.block = index_;
    thread.state = State::kNew;
    thread.spins = thread.yields = thread.groups = 0;
  }
  // Lanes without a thread count as done.
  warps_.assign((count_ + 31) / 32, {0, 0});
  if (count_ % 32 != 0) warps_.back().done = ~0u << count_ % 32;
  std::iota(order_.begin(), order_.end(), 0u);
  if (launch_.seed != 0) {
    for (std::uint32_t i = count_; i > 1; --i) std::swap(order_[i - 1], order_[random_.below(i)]);
  }
  ready_.clear();
  started_ = done_ = at_barrier_ = at_grid_ = idle_yields_ = 0;
  if (checker != nullptr) checker->begin_block(*this, shared_);
}

// ---- the scheduler ------------------------------------------------------------------------------

Block::Stop Block::run() {
  for (std::uint32_t switches = 1;; ++switches) {
    if (switches % kPollEvery == 0) check_cancelled_();
    const bool can_start = started_ < count_;
    // Shuffled schedules let a ready thread overtake those that have not started.
    if (can_start && (ready_.empty() || launch_.seed == 0 || random_.below(2) == 0)) {
      resume(*free_fiber());
    } else if (!ready_.empty()) {
      if (idle_yields_ > 2 * ready_.size()) {  // all threads wait for another block
        idle_yields_ = 0;
        return Stop::kWaiting;
      }
      Thread& thread = *ready_.front();
      ready_.pop_front();
      current_thread = &thread;
      resume(*thread.fiber);
    } else if (done_ == count_) {
      return Stop::kDone;
    } else if (at_grid_ == count_ - done_) {
      require_uniform(State::kAtGrid);
      return Stop::kAtGrid;
    } else if (!release_barrier(State::kAtBarrier)) {
      report_deadlock();
    } else if (launch_.cooperative && launch_.seed != 0 && random_.below(4) == 0) {
      return Stop::kWaiting;  // shuffled schedules switch blocks here
    }
    if (thrown_) std::rethrow_exception(std::exchange(thrown_, nullptr));
    if (!error_.empty()) throw KernelError(error_);
  }
}

Fiber* Block::free_fiber() {
  if (free_.empty()) {
    const Stack stack = StackPool::shared().take();
    try {
      fibers_.push_back(std::make_unique<Fiber>(stack, &fiber_main, this));
    } catch (...) {
      StackPool::shared().give(stack);
      throw;
    }
    return fibers_.back().get();
  }
  Fiber* const fiber = free_.back();
  free_.pop_back();
  return fiber;
}

void Block::resume(Fiber& fiber) {
  running_ = &fiber;
  scheduler_.switch_to(fiber);
}

void Block::fiber_main(void* block) {
  Block& in = *static_cast<Block*>(block);
  for (;;) {
    try {
      in.start_threads();
    } catch (...) {  // out of memory: run() throws it on
      in.thrown_ = std::current_exception();
    }
    Fiber* const own = in.running_;
    in.free_.push_back(own);
    own->switch_to(in.scheduler_);
  }
}

void Block::start_threads() {
  const Kernel& kernel = *launch_.kernel;
  while (started_ < count_) {
    Thread& thread = threads_[order_[started_++]];
    thread.fiber = running_;
    thread.state = State::kReady;
    current_thread = &thread;
    kernel.call(kernel.function, launch_.slots);
    finish(thread);
  }
}

void Block::suspend(Thread& thread) {
  thread.fiber->switch_to(scheduler_);
  // The scheduler has set current_thread to this thread again.
}

void Block::make_ready(Thread& thread) {
  thread.state = State::kReady;
  ready_.push_back(&thread);
}

void Block::shuffle_ready(std::size_t from) {
  if (launch_.seed == 0) return;
  for (std::size_t i = ready_.size(); i > from + 1; --i) {
    const auto j = from + random_.below(static_cast<std::uint32_t>(i - from));
    std::swap(ready_[i - 1], ready_[j]);
  }
}

void Block::finish(Thread& thread) {
  if (!thread.copies.empty()) thread.copies.clear();  // unfinished copies are dropped
  if (checker != nullptr) checker->check_pending_write();
  thread.state = State::kDone;
  ++done_;
  idle_yields_ = 0;
  const auto number = static_cast<std::uint32_t>(&thread - threads_.data());
  warps_[number / 32].done |= 1u << number % 32;
  if (warps_[number / 32].waiting == 0) return;
  const std::uint32_t warp = number / 32 * 32;
  // Lanes whose mask contains this one no longer wait for it.
  for (std::uint32_t i = warp; i < std::min(warp + 32, count_); ++i) {
    if (threads_[i].state == State::kInWarp)
      complete_warp_operation(threads_[i], warp, threads_[i].mask);
  }
}

// ---- barriers -----------------------------------------------------------------------------------

int Block::barrier(Thread& thread, Vote vote, int predicate, Site site) {
  if (checker != nullptr) checker->check_pending_write();
  thread.state = State::kAtBarrier;
  thread.vote = vote;
  thread.predicate = predicate;
  thread.site = site;
  ++at_barrier_;
  suspend(thread);
  return thread.predicate;
}

void Block::grid_barrier(Thread& thread, Site site) {
  if (!launch_.cooperative) {
    fail(thread, site, "kl_grid_sync in a launch that is not cooperative");
  }
  if (checker != nullptr) checker->check_pending_write();
  thread.state = State::kAtGrid;
  thread.vote = Vote::kNone;
  thread.site = site;
  ++at_grid_;
  suspend(thread);
}

// All threads must wait at the same place: none may have exited or wait elsewhere.
void Block::require_uniform(State at) {
  const Thread* waiting = nullptr;
  for (const Thread& thread : threads_) {
    if (thread.state == at) waiting = &thread;
  }
  for (const Thread& thread : threads_) {
    if (thread.state != State::kDone && thread.site.line == waiting->site.line &&
        thread.vote == waiting->vote &&
        (thread.site.file == waiting->site.file ||
         std::strcmp(thread.site.file, waiting->site.file) == 0)) {
      continue;
    }
    const std::string others = "thread " + to_text(waiting->thread) + " waits at " +
                               name_of(at, waiting->vote) + " in " + to_text(waiting->site);
    if (thread.state == State::kDone) {
      throw KernelError(describe(thread, waiting->site,
                                 "barrier divergence: it has left the kernel while " + others));
    }
    throw KernelError(describe(thread, thread.site,
                               std::string("barrier divergence: it waits at ") +
                                   name_of(thread.state, thread.vote) + " in " +
                                   to_text(thread.site) + " while " + others));
  }
}

bool Block::release_barrier(State at) {
  if (at_barrier_ == 0 || at_barrier_ != count_ - done_) return false;
  require_uniform(at);
  int any = 0, all = 1, sum = 0;
  for (const Thread& thread : threads_) {
    any |= thread.predicate != 0;
    all &= thread.predicate != 0;
    sum += thread.predicate != 0;
  }
  if (checker != nullptr) checker->block_synced(*this);
  for (const std::uint32_t i : order_) {
    Thread& thread = threads_[i];
    thread.predicate = thread.vote == Vote::kOr ? any : thread.vote == Vote::kAnd ? all : sum;
    make_ready(thread);
  }
  at_barrier_ = idle_yields_ = 0;
  shuffle_ready(0);
  return true;
}

void Block::release_grid_barrier() {
  for (const std::uint32_t i : order_) make_ready(threads_[i]);
  at_grid_ = idle_yields_ = 0;
  shuffle_ready(0);
}

void Block::yield_thread(Thread& thread, Site site) {
  if (checker != nullptr) checker->check_pending_write();
  if (++thread.yields > launch_.yields) {
    fail(thread, site,
         "deadlock: it still waits after yielding " + std::to_string(launch_.yields) + " times");
  }
  thread.site = site;
  ++idle_yields_;
  make_ready(thread);
  if (launch_.seed != 0) shuffle_ready(ready_.size() / 2);
  suspend(thread);
}

// ---- errors -------------------------------------------------------------------------------------

std::string Block::describe(const Thread& thread, Site site, const std::string& what) const {
  return launch_.kernel->title() + ", block " + to_text(index_) + ", thread " +
         to_text(thread.thread) + ", " + to_text(site) + ": " + what;
}

void Block::fail(const Thread& thread, Site site, const std::string& what) {
  error_ = describe(thread, site, what);
  for (;;) running_->switch_to(scheduler_);
}

void Block::report_deadlock() {
  const auto find = [&](State state) -> const Thread* {
    for (const Thread& thread : threads_) {
      if (thread.state == state) return &thread;
    }
    return nullptr;
  };
  const Thread* const barrier = find(State::kAtBarrier);
  const Thread* const grid = find(State::kAtGrid);
  const Thread* const warp = find(State::kInWarp);
  const Thread* const done = find(State::kDone);
  const auto waits = [](const Thread& thread, const char* name) {
    return "thread " + to_text(thread.thread) + " waits at " + name + " in " + to_text(thread.site);
  };
  if (warp != nullptr) {
    std::string missing;
    const std::uint32_t first = static_cast<std::uint32_t>(warp - threads_.data()) / 32 * 32;
    for (std::uint32_t i = first; i < std::min(first + 32, count_); ++i) {
      const Thread& lane = threads_[i];
      if ((warp->mask >> lane.lane & 1) == 0 || lane.state == State::kInWarp) continue;
      if (lane.state == State::kDone) continue;
      missing = "lane " + std::to_string(lane.lane) + ", which " +
                (lane.state == State::kAtGrid ? "waits at kl_grid_sync in "
                                              : "waits at a block barrier in ") +
                to_text(lane.site);
    }
    throw KernelError(
        describe(*warp, warp->site, "deadlock: it waits in a warp operation for " + missing));
  }
  const Thread* const at = barrier != nullptr ? barrier : grid;
  if (barrier != nullptr && grid != nullptr) {
    throw KernelError(describe(*grid, grid->site,
                               "barrier divergence: it waits at kl_grid_sync while " +
                                   waits(*barrier, name_of(State::kAtBarrier, barrier->vote))));
  }
  throw KernelError(describe(*(done != nullptr ? done : at), at->site, "deadlock"));
}

// ---- operations called by kernels ---------------------------------------------------------------

int block_barrier(Vote vote, int predicate, Site site) {
  Thread& thread = self();
  return thread.in->barrier(thread, vote, predicate, site);
}

void grid_barrier(Site site) {
  Thread& thread = self();
  thread.in->grid_barrier(thread, site);
}

void yield_thread(Site site) {
  Thread& thread = self();
  thread.spins = 0;
  thread.in->yield_thread(thread, site);
}

void trap(Site site) { self().in->fail(self(), site, "__trap"); }

void atomic_access(void* address, unsigned bytes, bool writes, Site site) {
  constexpr unsigned kSpins = 64;
  Thread& thread = self();
  if (Checker* const checker = thread.in->checker) {
    checker->atomic(thread, address, bytes, writes, site);
  }
  if (++thread.spins >= kSpins) yield_thread(site);
}

void fence(bool device_wide) {
  __atomic_thread_fence(__ATOMIC_SEQ_CST);
  if (Checker* const checker = self().in->checker) {
    if (device_wide) checker->fence(self());
  }
}

// Reads the data now and writes it at the wait: a kernel that reads too early sees the old data.
void copy_async(void* shared, const void* global, unsigned bytes, Site site) {
  Thread& thread = self();
  if ((reinterpret_cast<std::uintptr_t>(shared) | reinterpret_cast<std::uintptr_t>(global)) %
          bytes !=
      0) {
    thread.in->fail(thread, site,
                    "an asynchronous copy of " + std::to_string(bytes) +
                        " bytes from or to an address that is not aligned to them");
  }
  if (Checker* const checker = thread.in->checker) {
    checker->access(thread, global, bytes, false, site);
  }
  AsyncCopy& copy = thread.copies.emplace_back();
  copy.to = shared;
  copy.bytes = bytes;
  copy.group = thread.groups;
  copy.site = site;
  std::memcpy(copy.data, global, bytes);
}

void copy_commit() { ++self().groups; }

void copy_wait(int groups_left) {
  Thread& thread = self();
  if (thread.copies.empty()) return;
  // Uncommitted copies belong to the next group.
  const unsigned last = thread.groups - std::min(thread.groups, static_cast<unsigned>(groups_left));
  auto& copies = thread.copies;
  std::size_t kept = 0;
  for (std::size_t i = 0; i < copies.size(); ++i) {
    if (copies[i].group >= last) {
      copies[kept++] = copies[i];
      continue;
    }
    if (Checker* const checker = thread.in->checker) {
      checker->access(thread, copies[i].to, copies[i].bytes, true, copies[i].site);
    }
    std::memcpy(copies[i].to, copies[i].data, copies[i].bytes);
  }
  copies.resize(kept);
}

long long clock_ticks() {
  return std::chrono::steady_clock::now().time_since_epoch() / std::chrono::nanoseconds(1);
}

}  // namespace kleene::emulator
