// Kernels, launches and their errors.
#pragma once

#include <cstddef>
#include <cstdint>
#include <stdexcept>
#include <string>
#include <vector>

#include "device.hpp"
#include "parallel/monitor.hpp"

namespace kleene::emulator {

using parallel::Monitor;

struct Kernel {
  std::string file, variant, name;
  int max_threads;                 // per block, by its launch bounds; 0 if unbounded
  std::vector<std::string> codes;  // of the parameters
  std::size_t argument_bytes;      // each argument aligned to 8 bytes
  void (*function)();
  Trampoline call;

  std::string title() const;
};

std::vector<Kernel>& kernels();

struct Launch {
  const Kernel* kernel;
  dim3 grid, block;
  const std::uint64_t* slots;  // the arguments, each aligned to 8 bytes
  std::uint32_t shared;        // bytes of dynamic shared memory
  std::uint64_t seed;          // of the schedule; 0: threads and blocks in order
  std::uint32_t yields;        // yields of a thread after which it counts as stuck
  int workers;                 // OS threads
  bool cooperative;
  bool checked;

  std::uint64_t blocks() const { return std::uint64_t{grid.x} * grid.y * grid.z; }
  std::uint32_t threads() const { return block.x * block.y * block.z; }
};

// An error of a kernel; the text names kernel, block, thread and line.
struct KernelError : std::runtime_error {
  using std::runtime_error::runtime_error;
};

// The system refused to start the threads of a cooperative launch.
struct ThreadError : std::runtime_error {
  using std::runtime_error::runtime_error;
};

// Runs all blocks, or throws KernelError or ThreadError.
void run(const Launch& launch, Monitor& monitor);

}  // namespace kleene::emulator
