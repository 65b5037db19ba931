// The hooks that -fsanitize=thread calls before every memory access.
#include "block.hpp"
#include "checker.hpp"

namespace kleene::emulator {
namespace {

inline void check_access(const void* address, unsigned bytes, bool writes, const void* pc) {
  if (current_thread == nullptr) return;  // while the module is being loaded
  Thread& thread = self();
  if (thread.in->checker == nullptr) return;
  thread.in->checker->access(thread, address, bytes, writes, {static_cast<const char*>(pc), -1});
}

}  // namespace
}  // namespace kleene::emulator

#define KLEENE_HOOK(name, bytes, writes)                                                 \
  extern "C" void name(void* address) {                                                  \
    kleene::emulator::check_access(address, bytes, writes, __builtin_return_address(0)); \
  }

KLEENE_HOOK(__tsan_read1, 1, false)
KLEENE_HOOK(__tsan_read2, 2, false)
KLEENE_HOOK(__tsan_read4, 4, false)
KLEENE_HOOK(__tsan_read8, 8, false)
KLEENE_HOOK(__tsan_read16, 16, false)
KLEENE_HOOK(__tsan_unaligned_read2, 2, false)
KLEENE_HOOK(__tsan_unaligned_read4, 4, false)
KLEENE_HOOK(__tsan_unaligned_read8, 8, false)
KLEENE_HOOK(__tsan_unaligned_read16, 16, false)
KLEENE_HOOK(__tsan_write1, 1, true)
KLEENE_HOOK(__tsan_write2, 2, true)
KLEENE_HOOK(__tsan_write4, 4, true)
KLEENE_HOOK(__tsan_write8, 8, true)
KLEENE_HOOK(__tsan_write16, 16, true)
KLEENE_HOOK(__tsan_unaligned_write2, 2, true)
KLEENE_HOOK(__tsan_unaligned_write4, 4, true)
KLEENE_HOOK(__tsan_unaligned_write8, 8, true)
KLEENE_HOOK(__tsan_unaligned_write16, 16, true)

extern "C" void __tsan_read_range(void* address, unsigned long bytes) {
  kleene::emulator::check_access(address, static_cast<unsigned>(bytes), false,
                                 __builtin_return_address(0));
}
extern "C" void __tsan_write_range(void* address, unsigned long bytes) {
  kleene::emulator::check_access(address, static_cast<unsigned>(bytes), true,
                                 __builtin_return_address(0));
}
extern "C" void __tsan_init() {}
extern "C" void __tsan_func_entry(void*) {}
extern "C" void __tsan_func_exit() {}
extern "C" void __tsan_vptr_update(void**, void*) {}
