// Watches what kernels do to memory, in the checked build.
//
// Kernels are compiled with -fsanitize=thread, which puts a call before every access; the calls
// come here (checker_hooks.cpp) and not to the sanitizer's library. Every address must lie in an
// array of the device, in the block's shared memory or on the thread's stack. For every number of
// an array, and every byte of shared memory, a shadow tells who wrote it last and who has read it
// since.
//
// Two accesses to one place by different threads conflict if one of them writes a different value,
// not both are atomic, and nothing orders them: no barrier of the block or the grid, no __syncwarp
// of both lanes, no fence after the first that an atomic operation follows. That last rule asks for
// less than CUDA does, so a conflict may be missed there, but none is made up.
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

// Times are counted in barriers and fences of all launches.
using Time = std::uint32_t;

struct Access {
  Site site;  // a line of -1 means that `file` is an address in the code
  Time time = 0;
  std::uint32_t block = 0;
  std::uint16_t thread = 0;
  bool atomic = false;

  bool by(std::uint32_t other_block, std::uint16_t other_thread) const {
    return block == other_block && thread == other_thread;
  }
};

struct Cell {
  Access write, read, other_read;  // the last two are of different threads
  Time filled = 0;                 // when anything was last put there
};

struct FreeCells {
  void operator()(Cell* cells) const { std::free(cells); }
};
using Cells = std::unique_ptr<Cell[], FreeCells>;  // pages come when they are touched

// An array of the device.
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
  // Looks whether the write before has changed anything; called before anybody else goes on.
  void settle();
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

  struct Shadow {  // of a block that runs
    std::uint32_t number;
    Time began;
    Region dynamic, fixed;
    std::vector<Time> met;  // [thread][lane]: when they last met in __syncwarp
  };

  struct Times {  // of every block of the launch
    Time synced = 0, acquired = 0;
    std::vector<Time> fenced;  // each time, the earliest first
  };

  // A write that has been announced and not yet looked at.
  struct Pending {
    Thread* thread = nullptr;
    std::uintptr_t address;
    unsigned bytes;
    unsigned char before[16];
    Access access;
  };

  struct Place {  // what an address belongs to
    Cell* first;
    unsigned cells;
    bool shared;
    const Allocation* array;
  };

  bool find(Thread& thread, std::uintptr_t address, unsigned bytes, bool writes, Site site,
            Place& place);
  void check_read(Thread& thread, const Place& place, const Access& now);
  void check_write(Thread& thread, const Place& place, const Access& now);
  bool ordered(const Access& earlier, const Access& now, const Place& place,
               const Shadow& shadow) const;
  [[noreturn]] void conflict(Thread& thread, const Place& place, const Cell& cell,
                             const Access& earlier, const Access& now, const char* verbs);
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
