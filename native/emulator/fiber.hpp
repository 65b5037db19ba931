// Fibers: separate stacks with explicit switches. One fiber runs at a time on an OS thread, and a
// fiber stays on the OS thread that started it.
//
// A fiber that is never resumed is dropped without unwinding: its stack goes back to the pool. So
// nothing that a fiber holds across a switch may need a destructor.
#pragma once

#include <cstddef>
#include <mutex>
#include <vector>

namespace kleene::emulator {

// Memory for one fiber, with a guard page below: stack overflow is a fault.
struct Stack {
  std::byte* low;
  std::size_t bytes;
  bool holds(const void* address) const {
    return low <= address && static_cast<const std::byte*>(address) < low + bytes;
  }
};

// Stacks are reused by later launches.
class StackPool {
 public:
  static StackPool& shared();
  Stack take();
  void give(Stack stack);

 private:
  void grow();

  std::mutex guard_;
  std::vector<Stack> free_;
  std::size_t made_ = 0;
};

#if (defined(__x86_64__) || defined(__aarch64__)) && !defined(KLEENE_UCONTEXT)
#define KLEENE_FIBER_ASM 1
#endif

class Fiber {
 public:
  using Entry = void (*)(void*);

  Fiber() = default;  // the OS thread's own context, once switched away from
  Fiber(Stack stack, Entry entry, void* argument);
  ~Fiber();
  Fiber(const Fiber&) = delete;
  Fiber& operator=(const Fiber&) = delete;

  // Switches from this fiber, which must be the running one, to another.
  void switch_to(Fiber& other);

  const Stack& stack() const { return stack_; }

 private:
  Stack stack_{};
  void* state_ = nullptr;  // the saved stack pointer, or a ucontext_t
};

}  // namespace kleene::emulator
