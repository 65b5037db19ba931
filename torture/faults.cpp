// Preloaded into a process of the campaign: the k-th call of a kind fails, as if the system had
// refused it. Armed by ctypes.
//
// Memory that counts is what operator new gives to Kleene's native modules, or to libstdc++ on
// their behalf (the return address lies in one of the ranges given), and what NumPy takes for the
// entries of arrays, through its own hook. Such blocks are followed until they are freed, so that a
// leak shows.

#include <dlfcn.h>
#include <execinfo.h>
#include <pthread.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/types.h>
#include <sys/uio.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <new>

namespace {

// The order is that of torture/faults.py.
enum Kind : int { kMemory, kThread, kWrite, kFsync, kMmap, kFallocate, kRename, kRead, kKinds };

struct Range {
  std::uintptr_t begin, end;
};

constexpr int kMostRanges = 256;
struct Ranges {
  Range all[kMostRanges];
  std::atomic<int> count{0};

  void add(Range range) {
    if (count < kMostRanges) all[count++] = range;
  }
  bool hold(void* address) const {
    const auto at = reinterpret_cast<std::uintptr_t>(address);
    for (int i = 0, size = count.load(std::memory_order_relaxed); i < size; ++i) {
      if (all[i].begin <= at && at < all[i].end) return true;
    }
    return false;
  }
};
Ranges kleene, libstdcxx, own;

// Was operator new called for Kleene?
bool is_ours(void* caller) {
  if (kleene.hold(caller)) return true;
  if (!libstdcxx.hold(caller)) return false;
  void* frames[16];
  const int depth = backtrace(frames, 16);
  for (int i = 0; i < depth; ++i) {
    if (!own.hold(frames[i]) && !libstdcxx.hold(frames[i])) return kleene.hold(frames[i]);
  }
  return false;
}

std::atomic<int> armed{-1};        // the kind; -1: none
std::atomic<bool> lasting{false};  // later calls fail too
std::atomic<long> left{0};         // calls until the fault
std::atomic<long> seen{0};         // calls that counted
std::atomic<int> error_number{ENOSPC};

bool fails(Kind kind) {
  if (armed.load(std::memory_order_relaxed) != kind) return false;
  seen.fetch_add(1);
  const long before = left.fetch_sub(1);
  return before == 1 || (before < 1 && lasting.load());
}

bool is_file(int descriptor) {
  struct stat status;
  return fstat(descriptor, &status) == 0 && S_ISREG(status.st_mode);
}

template <class Function>
Function next_symbol(const char* name) {
  return reinterpret_cast<Function>(dlsym(RTLD_NEXT, name));
}

// ---- live blocks --------------------------------------------------------------------------------

constexpr std::size_t kSlots = std::size_t{1} << 16;
struct Slot {
  void* block;  // null: never used; kGone: freed
  std::size_t bytes;
};
Slot* slots = nullptr;
void* const kGone = reinterpret_cast<void*>(1);
std::atomic_flag slots_busy = ATOMIC_FLAG_INIT;
std::atomic<bool> following{false};
std::atomic<long> live_blocks{0}, live_bytes{0};

struct SlotGuard {
  SlotGuard() {
    while (slots_busy.test_and_set(std::memory_order_acquire)) {
    }
  }
  ~SlotGuard() { slots_busy.clear(std::memory_order_release); }
};

std::size_t slot_of(void* block) {
  return (reinterpret_cast<std::uintptr_t>(block) >> 4) * 0x9e3779b97f4a7c15ull >> 48;
}

void follow(void* block, std::size_t bytes) {
  if (block == nullptr || !following.load(std::memory_order_relaxed)) return;
  const SlotGuard guard;
  for (std::size_t i = slot_of(block), tries = 0; tries < kSlots; ++tries, i = (i + 1) % kSlots) {
    if (slots[i].block != nullptr && slots[i].block != kGone) continue;
    slots[i] = {block, bytes};
    ++live_blocks;
    live_bytes += static_cast<long>(bytes);
    return;
  }
}

void forget(void* block) {
  if (block == nullptr || live_blocks.load(std::memory_order_relaxed) == 0) return;
  const SlotGuard guard;
  for (std::size_t i = slot_of(block), tries = 0; tries < kSlots && slots[i].block != nullptr;
       ++tries, i = (i + 1) % kSlots) {
    if (slots[i].block != block) continue;
    slots[i].block = kGone;
    --live_blocks;
    live_bytes -= static_cast<long>(slots[i].bytes);
    return;
  }
}

}  // namespace

// ---- control ------------------------------------------------------------------------------------

extern "C" {

// Code of Kleene (0), of libstdc++ (1), of this library (2).
void fault_add_range(std::uintptr_t begin, std::uintptr_t end, int whose) {
  (whose == 0 ? kleene : whose == 1 ? libstdcxx : own).add({begin, end});
}

// The `at`-th call of this kind fails, at = 1, 2, ..., with this error number; 0: none, calls are
// only counted. Later ones fail too if `lasts`.
void fault_arm(int kind, long at, int number, int lasts) {
  seen = 0;
  left = at;
  error_number = number;
  lasting = lasts != 0 && at > 0;
  armed = kind;
}

// Returns how many calls of the kind were counted.
long fault_disarm() {
  armed = -1;
  return seen;
}

// Follows the blocks that are allocated from now on.
void fault_follow() {
  if (slots == nullptr) {
    slots = static_cast<Slot*>(mmap(nullptr, kSlots * sizeof(Slot), PROT_READ | PROT_WRITE,
                                    MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
  }
  following = false;
  const SlotGuard guard;
  std::memset(slots, 0, kSlots * sizeof(Slot));
  live_blocks = live_bytes = 0;
  following = true;
}

void fault_unfollow() { following = false; }
long fault_live_blocks() { return live_blocks; }
long fault_live_bytes() { return live_bytes; }

// ---- memory -------------------------------------------------------------------------------------

}  // extern "C"

namespace {

void* new_block(std::size_t bytes, std::size_t alignment, void* caller) {
  const bool counts = is_ours(caller);
  if (counts && fails(kMemory)) return nullptr;
  void* const block = alignment == 0 ? std::malloc(bytes) : std::aligned_alloc(alignment, bytes);
  if (counts) follow(block, bytes);
  return block;
}

void* or_throw(void* block) {
  if (block == nullptr) throw std::bad_alloc();
  return block;
}

void delete_block(void* block) {
  forget(block);
  std::free(block);
}

}  // namespace

#define CALLER __builtin_return_address(0)
void* operator new(std::size_t n) { return or_throw(new_block(n, 0, CALLER)); }
void* operator new[](std::size_t n) { return or_throw(new_block(n, 0, CALLER)); }
void* operator new(std::size_t n, const std::nothrow_t&) noexcept {
  return new_block(n, 0, CALLER);
}
void* operator new[](std::size_t n, const std::nothrow_t&) noexcept {
  return new_block(n, 0, CALLER);
}
void* operator new(std::size_t n, std::align_val_t a) {
  return or_throw(new_block(n, static_cast<std::size_t>(a), CALLER));
}
void* operator new[](std::size_t n, std::align_val_t a) {
  return or_throw(new_block(n, static_cast<std::size_t>(a), CALLER));
}
void* operator new(std::size_t n, std::align_val_t a, const std::nothrow_t&) noexcept {
  return new_block(n, static_cast<std::size_t>(a), CALLER);
}
void* operator new[](std::size_t n, std::align_val_t a, const std::nothrow_t&) noexcept {
  return new_block(n, static_cast<std::size_t>(a), CALLER);
}
void operator delete(void* p) noexcept { delete_block(p); }
void operator delete[](void* p) noexcept { delete_block(p); }
void operator delete(void* p, std::size_t) noexcept { delete_block(p); }
void operator delete[](void* p, std::size_t) noexcept { delete_block(p); }
void operator delete(void* p, const std::nothrow_t&) noexcept { delete_block(p); }
void operator delete[](void* p, const std::nothrow_t&) noexcept { delete_block(p); }
void operator delete(void* p, std::align_val_t) noexcept { delete_block(p); }
void operator delete[](void* p, std::align_val_t) noexcept { delete_block(p); }
void operator delete(void* p, std::size_t, std::align_val_t) noexcept { delete_block(p); }
void operator delete[](void* p, std::size_t, std::align_val_t) noexcept { delete_block(p); }

// What NumPy calls PyDataMem_Handler.
extern "C" {

void* array_malloc(void*, std::size_t bytes) {
  if (fails(kMemory)) return nullptr;
  void* const block = std::malloc(bytes);
  follow(block, bytes);
  return block;
}

void* array_calloc(void*, std::size_t count, std::size_t size) {
  if (fails(kMemory)) return nullptr;
  void* const block = std::calloc(count, size);
  follow(block, count * size);
  return block;
}

void* array_realloc(void*, void* old, std::size_t bytes) {
  if (fails(kMemory)) return nullptr;
  forget(old);
  void* const block = std::realloc(old, bytes);
  follow(block, bytes);
  return block;
}

void array_free(void*, void* block, std::size_t) { delete_block(block); }

struct {
  char name[127];
  std::uint8_t version;
  void* context;
  void* (*malloc)(void*, std::size_t);
  void* (*calloc)(void*, std::size_t, std::size_t);
  void* (*realloc)(void*, void*, std::size_t);
  void (*free)(void*, void*, std::size_t);
} fault_numpy_handler{"faults", 1, nullptr, array_malloc, array_calloc, array_realloc, array_free};

}  // extern "C"

// ---- threads and files --------------------------------------------------------------------------

#define FORWARD(result, name, signature, ...)                       \
  static const auto real = next_symbol<result(*) signature>(#name); \
  return real(__VA_ARGS__)

#define REFUSE_IF(condition, failure) \
  if (condition) {                    \
    errno = error_number;             \
    return failure;                   \
  }

extern "C" {

int pthread_create(pthread_t* thread, const pthread_attr_t* attributes, void* (*start)(void*),
                   void* argument) {
  if (fails(kThread)) return EAGAIN;
  FORWARD(int, pthread_create, (pthread_t*, const pthread_attr_t*, void* (*)(void*), void*), thread,
          attributes, start, argument);
}

ssize_t write(int fd, const void* data, std::size_t bytes) {
  REFUSE_IF(armed == kWrite && is_file(fd) && fails(kWrite), -1);
  FORWARD(ssize_t, write, (int, const void*, std::size_t), fd, data, bytes);
}

ssize_t pwrite(int fd, const void* data, std::size_t bytes, off_t at) {
  REFUSE_IF(armed == kWrite && is_file(fd) && fails(kWrite), -1);
  FORWARD(ssize_t, pwrite, (int, const void*, std::size_t, off_t), fd, data, bytes, at);
}

ssize_t pwrite64(int fd, const void* data, std::size_t bytes, off64_t at) {
  REFUSE_IF(armed == kWrite && is_file(fd) && fails(kWrite), -1);
  FORWARD(ssize_t, pwrite64, (int, const void*, std::size_t, off64_t), fd, data, bytes, at);
}

ssize_t writev(int fd, const struct iovec* pieces, int count) {
  REFUSE_IF(armed == kWrite && is_file(fd) && fails(kWrite), -1);
  FORWARD(ssize_t, writev, (int, const struct iovec*, int), fd, pieces, count);
}

std::size_t fwrite(const void* data, std::size_t size, std::size_t count, FILE* file) {
  REFUSE_IF(armed == kWrite && is_file(fileno(file)) && fails(kWrite), 0);
  FORWARD(std::size_t, fwrite, (const void*, std::size_t, std::size_t, FILE*), data, size, count,
          file);
}

ssize_t read(int fd, void* data, std::size_t bytes) {
  REFUSE_IF(armed == kRead && is_file(fd) && fails(kRead), -1);
  FORWARD(ssize_t, read, (int, void*, std::size_t), fd, data, bytes);
}

int fsync(int fd) {
  REFUSE_IF(fails(kFsync), -1);
  FORWARD(int, fsync, (int), fd);
}

int fdatasync(int fd) {
  REFUSE_IF(fails(kFsync), -1);
  FORWARD(int, fdatasync, (int), fd);
}

void* mmap(void* address, std::size_t bytes, int protection, int flags, int fd, off_t at) noexcept {
  REFUSE_IF(fd >= 0 && fails(kMmap), MAP_FAILED);
  FORWARD(void*, mmap, (void*, std::size_t, int, int, int, off_t), address, bytes, protection,
          flags, fd, at);
}

void* mmap64(void* address, std::size_t bytes, int protection, int flags, int fd,
             off64_t at) noexcept {
  REFUSE_IF(fd >= 0 && fails(kMmap), MAP_FAILED);
  FORWARD(void*, mmap64, (void*, std::size_t, int, int, int, off64_t), address, bytes, protection,
          flags, fd, at);
}

int posix_fallocate(int fd, off_t at, off_t bytes) {
  if (fails(kFallocate)) return error_number;
  FORWARD(int, posix_fallocate, (int, off_t, off_t), fd, at, bytes);
}

int posix_fallocate64(int fd, off64_t at, off64_t bytes) {
  if (fails(kFallocate)) return error_number;
  FORWARD(int, posix_fallocate64, (int, off64_t, off64_t), fd, at, bytes);
}

int fallocate(int fd, int mode, off_t at, off_t bytes) {
  REFUSE_IF(fails(kFallocate), -1);
  FORWARD(int, fallocate, (int, int, off_t, off_t), fd, mode, at, bytes);
}

int ftruncate(int fd, off_t bytes) noexcept {
  REFUSE_IF(fails(kFallocate), -1);
  FORWARD(int, ftruncate, (int, off_t), fd, bytes);
}

int ftruncate64(int fd, off64_t bytes) noexcept {
  REFUSE_IF(fails(kFallocate), -1);
  FORWARD(int, ftruncate64, (int, off64_t), fd, bytes);
}

int rename(const char* from, const char* to) noexcept {
  REFUSE_IF(fails(kRename), -1);
  FORWARD(int, rename, (const char*, const char*), from, to);
}

int renameat(int a, const char* from, int b, const char* to) noexcept {
  REFUSE_IF(fails(kRename), -1);
  FORWARD(int, renameat, (int, const char*, int, const char*), a, from, b, to);
}

}  // extern "C"
