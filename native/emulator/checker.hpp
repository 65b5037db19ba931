// Watches what kernels do to memory; see checker.cpp.
#pragma once

#include <cstdint>
#include <string>

#include "block.hpp"

namespace kleene::emulator {

class Checker {
 public:
  explicit Checker(const Launch& launch);

  void begin_block(Block& block, unsigned char* shared);
  void access(Thread& thread, const void* address, unsigned bytes, bool writes, Site site,
              const void* pc);
  void atomic(Thread& thread, void* address, unsigned bytes, bool writes, Site site);
  void fence(bool device_wide);
  void settle();
  void block_synced();
  void warp_synced(std::uint32_t first, unsigned lanes);
  void grid_synced();
};

}  // namespace kleene::emulator
