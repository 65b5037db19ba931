// Threads that a call leases from a pool, and leaves there for the next call.
//
// Starting a thread costs some 20 to 60 microseconds, and sixteen of them most of a millisecond,
// which is longer than many a search takes. So threads that a call has finished with wait for the
// next one: they spin for some microseconds, then sleep, and end after some seconds without work.
// They are safe to leave behind:
//
//   fork()   ends those that wait before the process is copied, so that neither process has threads
//            it does not know of; a child starts with an empty pool
//   exit     they hold nothing and touch nothing but the pool, which is never destroyed
//   threads  that call at once lease different threads; no more wait than the machine has cores
//
// A leased thread has a mailbox of one word, on a cache line of its own: waiting, called, inside a
// task. The caller writes "called"; a thread that is awake changes it to "inside" and, when the
// task has returned, back to "waiting". The caller may withdraw a call that no thread has answered.
#pragma once

#include <vector>

#include "parallel/function_ref.hpp"

namespace kleene::parallel {

class PooledThread;

class LeasedThreads {
 public:
  using Task = FunctionRef<void(int index)>;  // must not throw

  LeasedThreads() = default;
  ~LeasedThreads();  // none may be inside a task
  LeasedThreads(const LeasedThreads&) = delete;
  LeasedThreads& operator=(const LeasedThreads&) = delete;

  int size() const { return static_cast<int>(threads_.size()); }

  // Leases and wakes threads until there are so many, or the system starts no more.
  void grow(int count);

  // Calls task(index) on the first `count` threads. The task must live until they have finished.
  void call(int count, const Task& task);

  // Waits until all that were called have finished.
  void wait();

  // Withdraws the call where no thread has answered it, and waits for those that have.
  void withdraw();

 private:
  std::vector<PooledThread*> threads_;
  int called_ = 0;
};

}  // namespace kleene::parallel
