#include "parallel/leased_threads.hpp"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <memory>
#include <mutex>
#include <new>
#include <system_error>
#include <thread>

#if !defined(_WIN32)
#include <pthread.h>
#endif

namespace kleene::parallel {
namespace {

// Not measured: where calls are further apart, starting threads anew is not worth mentioning.
constexpr auto kIdle = std::chrono::seconds(2);

// What a thread is doing, in its mailbox.
enum State : std::uint32_t {
  kParked,   // waits in the pool; may fall asleep
  kAsleep,   // sleeps in the pool
  kWaiting,  // is leased, and waits for a call; only naps
  kCalled,
  kInside,  // a task
  kEnded,
};

// Waits for a change that often comes within microseconds: spins, then lets others run on this
// core. Where neither is enough, the caller sleeps.
class Backoff {
 public:
  // False when it is time to sleep.
  bool spin() {
    if (++tries_ <= kSpins) {
      pause_core();
    } else if (tries_ <= kSpins + kYields) {
      std::this_thread::yield();
    } else {
      return false;
    }
    return true;
  }

  void nap() {
    std::this_thread::sleep_for(nap_);
    nap_ = std::min(2 * nap_, kLongestNap);
  }

 private:
  using Microseconds = std::chrono::microseconds;
  static constexpr Microseconds kLongestNap{500};
  static constexpr int kSpins = 4000, kYields = 200;  // some 80 to 160 and 60 to 100 microseconds

  static void pause_core() {
#if defined(__x86_64__)
    __builtin_ia32_pause();
#elif defined(__aarch64__)
    asm volatile("yield");
#endif
  }

  int tries_ = 0;
  Microseconds nap_{30};
};

}  // namespace

class alignas(64) PooledThread {
 public:
  void start() {
    thread_ = std::thread([this] { run(); });
  }

  // ---- the caller ----------------------------------------------------------------------------

  // Also for a thread that has just been started.
  void lease() { change(kWaiting); }
  void park() { state_.store(kParked, std::memory_order_release); }

  void call(const LeasedThreads::Task& task, int index) {
    task_ = &task;
    index_ = index;
    state_.store(kCalled, std::memory_order_release);
  }

  void wait() const {
    Backoff backoff;
    while (state_.load(std::memory_order_acquire) != kWaiting) {
      if (!backoff.spin()) backoff.nap();
    }
  }

  void withdraw() {
    if (state_.load(std::memory_order_acquire) == kWaiting) return;
    std::uint32_t called = kCalled;
    if (state_.compare_exchange_strong(called, kWaiting, std::memory_order_acquire)) return;
    wait();
  }

  void end() {
    change(kEnded);
    thread_.join();
  }

 private:
  // Changes the state of a thread that may be asleep.
  void change(State state) {
    if (state_.exchange(state, std::memory_order_acq_rel) != kAsleep) return;
    const std::lock_guard lock(guard_);  // it is in wait_for, and not on its way there
    wake_.notify_one();
  }

  void run() {
    Backoff backoff;
    for (;;) {
      std::uint32_t state = state_.load(std::memory_order_acquire);
      if (state == kCalled) {
        if (!state_.compare_exchange_strong(state, kInside, std::memory_order_acquire)) continue;
        (*task_)(index_);
        state_.store(kWaiting, std::memory_order_release);
        backoff = Backoff();
      } else if (state == kEnded) {
        return;
      } else if (!backoff.spin()) {
        if (state == kWaiting) {
          backoff.nap();
        } else if (!sleep()) {
          return;
        } else {
          backoff = Backoff();
        }
      }
    }
  }

  // Sleeps in the pool; false when the thread is to end, since it has had nothing to do for long.
  bool sleep();

  std::atomic<std::uint32_t> state_{kWaiting};
  int index_ = 0;
  const LeasedThreads::Task* task_ = nullptr;
  std::thread thread_;
  std::mutex guard_;
  std::condition_variable wake_;
};

namespace {

class Pool {
 public:
  // Moves threads that wait to `leased`, until that holds `count`.
  void take(std::vector<PooledThread*>& leased, std::size_t count) {
    const std::lock_guard lock(guard_);
    while (leased.size() < count && !parked_.empty()) {
      leased.push_back(parked_.back());
      parked_.pop_back();
    }
  }

  // Takes back a thread that waits; false when there are enough.
  bool put(PooledThread* thread) {
    const std::lock_guard lock(guard_);
    if (parked_.size() >= std::thread::hardware_concurrency()) return false;
    thread->park();
    parked_.push_back(thread);
    return true;
  }

  // False when the thread is not parked any more: a call has just leased it.
  bool remove(const PooledThread* thread) {
    const std::lock_guard lock(guard_);
    const auto at = std::find(parked_.begin(), parked_.end(), thread);
    if (at == parked_.end()) return false;
    parked_.erase(at);
    return true;
  }

  // ---- fork ----------------------------------------------------------------------------------

  // Ends the threads that wait, and leaves the pool locked.
  void before_fork() {
    for (;;) {
      guard_.lock();
      std::vector<PooledThread*> parked;
      parked.swap(parked_);
      if (parked.empty()) return;
      guard_.unlock();  // one of them may be about to call remove
      for (PooledThread* thread : parked) {
        thread->end();
        delete thread;
      }
    }
  }

  void after_fork() { guard_.unlock(); }

 private:
  std::mutex guard_;
  std::vector<PooledThread*> parked_;  // the last one was parked last
};

Pool& pool() {
  static Pool* const the_pool = [] {
    auto* const made = new Pool;  // never destroyed: threads may wait in it when the process exits
#if !defined(_WIN32)
    pthread_atfork([] { pool().before_fork(); }, [] { pool().after_fork(); },
                   [] { pool().after_fork(); });
#endif
    return made;
  }();
  return *the_pool;
}

}  // namespace

bool PooledThread::sleep() {
  std::unique_lock lock(guard_);
  std::uint32_t parked = kParked;
  if (!state_.compare_exchange_strong(parked, kAsleep, std::memory_order_acq_rel)) return true;
  const auto woken = [&] { return state_.load(std::memory_order_acquire) != kAsleep; };
  if (wake_.wait_for(lock, kIdle, woken)) return true;
  lock.unlock();
  if (!pool().remove(this)) return true;
  thread_.detach();
  delete this;
  return false;
}

// ---- leases -------------------------------------------------------------------------------------

void LeasedThreads::grow(int count) {
  if (size() >= count) return;
  const std::size_t before = threads_.size();
  threads_.reserve(static_cast<std::size_t>(count));
  pool().take(threads_, static_cast<std::size_t>(count));
  for (std::size_t i = before; i < threads_.size(); ++i) threads_[i]->lease();
  try {
    while (size() < count) {
      auto thread = std::make_unique<PooledThread>();
      thread->start();
      threads_.push_back(thread.release());
    }
  } catch (const std::system_error&) {  // no further thread: the limit of processes or of memory
  } catch (const std::bad_alloc&) {
  }
}

// The first threads are those of the smallest tasks, and so the ones most often awake: they go back
// last, and are leased first.
LeasedThreads::~LeasedThreads() {
  for (auto at = threads_.rbegin(); at != threads_.rend(); ++at) {
    if (pool().put(*at)) continue;
    (*at)->end();
    delete *at;
  }
}

void LeasedThreads::call(int count, const Task& task) {
  called_ = std::min(count, size());
  for (int index = 0; index < called_; ++index) threads_[index]->call(task, index);
}

void LeasedThreads::wait() {
  for (int index = 0; index < called_; ++index) threads_[index]->wait();
}

void LeasedThreads::withdraw() {
  for (int index = 0; index < called_; ++index) threads_[index]->withdraw();
}

}  // namespace kleene::parallel
