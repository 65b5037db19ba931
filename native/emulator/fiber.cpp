#include "fiber.hpp"

#include <sys/mman.h>
#include <unistd.h>

#include <cstdint>
#include <new>

#ifndef KLEENE_FIBER_ASM
#include <ucontext.h>
#endif

namespace kleene::emulator {

namespace {

constexpr std::size_t kStackBytes = 64 << 10;
constexpr std::size_t kStacksAtOnce = 32;

// Stacks start at different offsets in a page (cache colouring): otherwise the tops of all stacks
// would map to the same few cache sets.
constexpr std::size_t kColours = 64, kColourBytes = 64;

}  // namespace

// ---- stacks -------------------------------------------------------------------------------------

StackPool& StackPool::shared() {
  static StackPool* const pool = new StackPool;  // never destroyed: threads may end after main
  return *pool;
}

Stack StackPool::take() {
  const std::lock_guard lock(guard_);
  if (free_.empty()) grow();
  const Stack stack = free_.back();
  free_.pop_back();
  return stack;
}

void StackPool::give(Stack stack) {
  const std::lock_guard lock(guard_);
  free_.push_back(stack);
}

void StackPool::grow() {
  const auto page = static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
  const std::size_t each = page + kStackBytes;
  free_.reserve(made_ + kStacksAtOnce);  // so that give() need not allocate
  void* const memory = mmap(nullptr, each * kStacksAtOnce, PROT_READ | PROT_WRITE,
                            MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (memory == MAP_FAILED) throw std::bad_alloc();
  auto* low = static_cast<std::byte*>(memory);
  for (std::size_t i = 0; i < kStacksAtOnce; ++i, low += each) {
    mprotect(low, page, PROT_NONE);
    free_.push_back({low + page, kStackBytes - made_++ % kColours * kColourBytes});
  }
}

// ---- switching ----------------------------------------------------------------------------------

#ifdef KLEENE_FIBER_ASM

// Pushes the callee-saved registers, stores the stack pointer in *save, and resumes the fiber whose
// stack pointer is `load`.
extern "C" void kleene_fiber_switch(void** save, void* load);
extern "C" void kleene_fiber_start();

#ifdef __APPLE__
#define KLEENE_SYMBOL(name) "_" #name
#else
#define KLEENE_SYMBOL(name) #name
#endif

#ifdef __x86_64__
asm(".text\n.p2align 4\n.globl " KLEENE_SYMBOL(kleene_fiber_switch) "\n" KLEENE_SYMBOL(
    kleene_fiber_switch) ":\n"
                         "  pushq %rbp\n  pushq %rbx\n  pushq %r12\n"
                         "  pushq %r13\n  pushq %r14\n  pushq %r15\n"
                         "  movq %rsp, (%rdi)\n"
                         "  movq %rsi, %rsp\n"
                         "  popq %r15\n  popq %r14\n  popq %r13\n"
                         "  popq %r12\n  popq %rbx\n  popq %rbp\n"
                         "  ret\n"
                         ".globl " KLEENE_SYMBOL(kleene_fiber_start) "\n" KLEENE_SYMBOL(
                             kleene_fiber_start) ":\n"
                                                 "  movq %r13, %rdi\n"
                                                 "  callq *%r12\n"
                                                 "  ud2\n");

namespace {

// The frame that the first switch to a fiber pops: r15, r14, r13, r12, rbx, rbp, return address.
void* first_frame(const Stack& stack, Fiber::Entry entry, void* argument) {
  auto* top = reinterpret_cast<void**>(stack.low + stack.bytes);
  top -= 2;  // the start routine calls with an aligned stack, as the ABI wants
  *--top = reinterpret_cast<void*>(&kleene_fiber_start);
  *--top = nullptr;
  *--top = nullptr;
  *--top = reinterpret_cast<void*>(entry);
  *--top = argument;
  *--top = nullptr;
  *--top = nullptr;
  return top;
}

}  // namespace
#else  // aarch64
asm(".text\n.p2align 4\n.globl " KLEENE_SYMBOL(kleene_fiber_switch) "\n" KLEENE_SYMBOL(
    kleene_fiber_switch) ":\n"
                         "  sub sp, sp, #160\n"
                         "  stp x19, x20, [sp, #0]\n  stp x21, x22, [sp, #16]\n"
                         "  stp x23, x24, [sp, #32]\n  stp x25, x26, [sp, #48]\n"
                         "  stp x27, x28, [sp, #64]\n  stp x29, x30, [sp, #80]\n"
                         "  stp d8, d9, [sp, #96]\n  stp d10, d11, [sp, #112]\n"
                         "  stp d12, d13, [sp, #128]\n  stp d14, d15, [sp, #144]\n"
                         "  mov x9, sp\n  str x9, [x0]\n  mov sp, x1\n"
                         "  ldp x19, x20, [sp, #0]\n  ldp x21, x22, [sp, #16]\n"
                         "  ldp x23, x24, [sp, #32]\n  ldp x25, x26, [sp, #48]\n"
                         "  ldp x27, x28, [sp, #64]\n  ldp x29, x30, [sp, #80]\n"
                         "  ldp d8, d9, [sp, #96]\n  ldp d10, d11, [sp, #112]\n"
                         "  ldp d12, d13, [sp, #128]\n  ldp d14, d15, [sp, #144]\n"
                         "  add sp, sp, #160\n  ret\n"
                         ".globl " KLEENE_SYMBOL(kleene_fiber_start) "\n" KLEENE_SYMBOL(
                             kleene_fiber_start) ":\n"
                                                 "  mov x0, x20\n  blr x19\n  brk #0\n");

namespace {

void* first_frame(const Stack& stack, Fiber::Entry entry, void* argument) {
  auto* frame = reinterpret_cast<void**>(stack.low + stack.bytes - 160);
  for (int i = 0; i < 20; ++i) frame[i] = nullptr;
  frame[0] = reinterpret_cast<void*>(entry);                 // x19
  frame[1] = argument;                                       // x20
  frame[11] = reinterpret_cast<void*>(&kleene_fiber_start);  // x30
  return frame;
}

}  // namespace
#endif

Fiber::Fiber(Stack stack, Entry entry, void* argument)
    : stack_(stack), state_(first_frame(stack, entry, argument)) {}

Fiber::~Fiber() = default;

void Fiber::switch_to(Fiber& other) { kleene_fiber_switch(&state_, other.state_); }

#else  // other architectures

namespace {

void start(unsigned entry_high, unsigned entry_low, unsigned high, unsigned low) {
  const auto join = [](unsigned a, unsigned b) {
    return (static_cast<std::uint64_t>(a) << 32) | b;
  };
  reinterpret_cast<Fiber::Entry>(join(entry_high, entry_low))(
      reinterpret_cast<void*>(join(high, low)));
}

}  // namespace

Fiber::Fiber(Stack stack, Entry entry, void* argument) : stack_(stack) {
  auto* const context = new ucontext_t;
  getcontext(context);
  context->uc_stack.ss_sp = stack.low;
  context->uc_stack.ss_size = stack.bytes;
  context->uc_link = nullptr;
  const auto e = reinterpret_cast<std::uint64_t>(entry);
  const auto a = reinterpret_cast<std::uint64_t>(argument);
  makecontext(context, reinterpret_cast<void (*)()>(&start), 4, static_cast<unsigned>(e >> 32),
              static_cast<unsigned>(e), static_cast<unsigned>(a >> 32), static_cast<unsigned>(a));
  state_ = context;
}

Fiber::~Fiber() { delete static_cast<ucontext_t*>(state_); }

void Fiber::switch_to(Fiber& other) {
  if (state_ == nullptr) state_ = new ucontext_t;
  swapcontext(static_cast<ucontext_t*>(state_), static_cast<ucontext_t*>(other.state_));
}

#endif

}  // namespace kleene::emulator
