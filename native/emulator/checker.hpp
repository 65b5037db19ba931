// Checks the memory accesses of kernels, in the checked build.
//
// Kernels are compiled with -fsanitize=thread, which inserts a call before every access; the calls
// go to checker_hooks.cpp instead of the sanitizer's library. Every address must lie in a device
// array, in the shared memory of the block or on the stack of the thread. A shadow cell per array
// element, and per byte of shared memory, records the last write and the reads since.
//
// Two accesses to one place by different threads are a race if one of them writes a different
// value, not both are atomic, and nothing orders them: no block or grid barrier, no __syncwarp of
// both lanes, no fence after the first followed by an atomic operation. The last rule is weaker
// than CUDA's, so a race may be missed, but none is reported falsely.
#pragma once

#include <cstdint>
#include <cstdlib>
#include <map>
#include <memory>
#include <string>
#include <unordered_map>
#include <vector>

#include "block.hpp"

namespace kleene::emulator {

// Logical time: the number of barriers and fences of all launches.
using Time = std::uint32_t;

struct Access {
  Site site;  // with line -1, `file` is a code address
  Time time = 0;
  std::uint32_t block = 0;
  std::uint16_t thread = 0;
  bool atomic = false;

  bool by(std::uint32_t other_block, std::uint16_t other_thread) const {
    return block == other_block && thread == other_thread;
  }
};

struct Cell {
  Access write, read, other_read;  // the reads are of different threads
  Time filled = 0;                 // time of the last write
};

struct FreeCells {
  void operator()(Cell* cells) const { std::free(cells); }
};
using Cells = std::unique_ptr<Cell[], FreeCells>;  // calloc: pages are mapped on first use

// A device array.
struct Allocation {
  std::uintptr_t first;
  std::size_t bytes;
  unsigned item;
  std::string name;
  Cells cells;
};

void register_array(std::uintptr_t first, std::size_t bytes, unsigned item, std::string name);
void forget_array(std::uintptr_t first);

class Checker {
 public:
  explicit Checker(const Launch& launch);

  void begin_block(Block& block, unsigned char* shared);
  void access(Thread& thread, const void* address, unsigned bytes, bool writes, Site site);
  void atomic(Thread& thread, const void* address, unsigned bytes, bool writes, Site site);
  void fence(const Thread& thread);
  // Checks the last write if it changed the value; called before another thread runs.
  void check_pending_write();
  void block_synced(const Block& block);
  void warp_synced(const Block& block, std::uint32_t first, unsigned lanes);
  void grid_synced();

 private:
  struct Region {  // shared memory
    std::uintptr_t first = 0;
    std::size_t bytes = 0;
    Cells cells;
    bool holds(std::uintptr_t address) const { return address - first < bytes; }
  };

  struct Shadow {  // of a running block
    std::uint32_t number;
    Time began;
    Region dynamic, fixed;
    std::vector<Time> warp_synced;  // [thread][lane]: last common __syncwarp
  };

  struct Times {  // of every block of the launch
    Time synced = 0, acquired = 0;
    std::vector<Time> fenced;  // ascending
  };

  // A write that was announced and not yet checked.
  struct Pending {
    Thread* thread = nullptr;
    std::uintptr_t address;
    unsigned bytes;
    unsigned char before[16];
    Access access;
  };

  struct Place {  // the cells of an address
    Cell* first;
    unsigned cells;
    bool shared;
    const Allocation* array;
  };

  bool find(Thread& thread, std::uintptr_t address, unsigned bytes, bool writes, Site site,
            Place& place);
  void check_read(Thread& thread, const Place& place, const Access& current);
  void check_write(Thread& thread, const Place& place, const Access& current);
  bool ordered(const Access& earlier, const Access& current, const Place& place,
               const Shadow& shadow) const;
  [[noreturn]] void conflict(Thread& thread, const Place& place, const Cell& cell,
                             const Access& earlier, const Access& current, const char* verbs);
  [[noreturn]] void out_of_range(Thread& thread, std::uintptr_t address, unsigned bytes,
                                 bool writes, Site site, const Shadow& shadow);
  Access access_of(const Thread& thread, Site site, bool atomic);
  Shadow& shadow_of(const Block& block) { return shadows_.at(&block); }

  const Launch& launch_;
  const Time began_;
  Time grid_synced_ = 0;
  std::unordered_map<const Block*, Shadow> shadows_;
  std::vector<Times> times_;
  Pending pending_;
};

}  // namespace kleene::emulator
