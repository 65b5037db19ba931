// Shared by the batched searches: rounds within a cooperative launch, and hubs, whose arcs are
// split among warps.
#pragma once
#include "common/warp.cuh"

const int kThreads = 256;
const int kWarps = kThreads / 32;

constexpr int kPrefetch = 4;  // rows loaded at once by a warp

// The control words, which the host reads after a launch.
const int kRoundsDone = 0;
const int kFinished = 1;
const int kTargetsLeft = 2;
const int kEvents = 3;  // three words of events
const int kControlWords = 6;

// The rounds of a cooperative launch. Blocks signal events during a round; end() returns the union
// over all blocks. Three words alternate, so that none is cleared while another block reads it.
class Rounds {
 public:
  __device__ Rounds(int* control, unsigned* barrier)
      : control_(control), barrier_(barrier), done_(kl_load(control + kRoundsDone)) {}

  __device__ int done() const { return done_; }

  __device__ void begin() {
    if (first_thread()) kl_store(control_ + kEvents + (done_ + 2) % 3, 0);
  }

  // Called by one thread of a block.
  __device__ void signal(int events) { atomicOr(control_ + kEvents + (done_ + 1) % 3, events); }

  __device__ void grid_barrier() { kl_grid_sync(barrier_); }

  __device__ int end() {
    grid_barrier();
    ++done_;
    return kl_load(control_ + kEvents + done_ % 3);
  }

  __device__ void finish(bool finished) {
    if (!first_thread()) return;
    control_[kRoundsDone] = done_;
    control_[kFinished] = finished;
  }

 private:
  static __device__ bool first_thread() { return threadIdx.x == 0 && blockIdx.x == 0; }

  int* const control_;
  unsigned* const barrier_;
  int done_;
};

// Incoming arcs, and the hubs: vertices with more than `segment` incoming arcs. hubs[h] has the
// segments first[h] to first[h + 1]; segment_hub[s] is the h of segment s.
struct Incoming {
  const long long* offsets;
  const int* neighbors;
  const int* hubs;
  const int* first;
  const int* segment_hub;
  int hub_count;
  int segment;

  __device__ int segments() const { return hub_count == 0 ? 0 : first[hub_count]; }
  __device__ bool is_hub(long long begin, long long end) const { return end - begin > segment; }

  // The h of a hub, by binary search.
  __device__ int hub(int v) const {
    int low = 0, high = hub_count - 1;
    while (low < high) {
      const int middle = (low + high) / 2;
      if (hubs[middle] < v) {
        low = middle + 1;
      } else {
        high = middle;
      }
    }
    return low;
  }

  // The arcs of a segment of hubs[h].
  __device__ void segment_arcs(int s, int h, long long* begin, long long* end) const {
    const long long arcs_end = offsets[hubs[h] + 1];
    *begin = offsets[hubs[h]] + static_cast<long long>(s - first[h]) * segment;
    *end = min(*begin + segment, arcs_end);
  }
};

__device__ __forceinline__ long long global_warp() {
  return (blockIdx.x * static_cast<long long>(kThreads) + threadIdx.x) / 32;
}
__device__ __forceinline__ long long total_warps() {
  return gridDim.x * static_cast<long long>(kWarps);
}
