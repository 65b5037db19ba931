// What searches from many sources at once have in common: how they go round after round without the
// host, and how the arcs of hubs are shared among warps.
#pragma once
#include "kleene.cuh"

constexpr int kThreads = 256;
constexpr int kWarps = kThreads / 32;
constexpr unsigned kAllLanes = 0xffffffffu;

constexpr int kAhead = 4;  // rows that a warp waits for at once

// Places in the control words, which the host reads after a launch.
constexpr int kRoundsDone = 0, kFinished = 1, kTargetsLeft = 2, kNews = 3;  // three words of news

// The rounds of a cooperative launch. News of a round are told while it lasts, and the same for all
// when it has ended; each of three words in turn, so that nobody clears what another still reads.
class Rounds {
 public:
  __device__ Rounds(int* control, unsigned* barrier)
      : control_(control), barrier_(barrier), done_(kl_load(control + kRoundsDone)) {}

  __device__ int done() const { return done_; }

  __device__ void begin() {
    if (first_thread()) kl_store(control_ + kNews + (done_ + 2) % 3, 0);
  }

  // By one thread of a block.
  __device__ void tell(int news) { atomicOr(control_ + kNews + (done_ + 1) % 3, news); }

  __device__ void meet() { kl_grid_sync(barrier_); }

  __device__ int end() {
    meet();
    ++done_;
    return kl_load(control_ + kNews + done_ % 3);
  }

  __device__ void leave(bool finished) {
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

// Incoming arcs, and the vertices with more of them than `segment`: hubs[h] has the segments from
// first[h] to first[h + 1], and owner[s] is the h of segment s.
struct Incoming {
  const long long* offsets;
  const int* neighbors;
  const int* hubs;
  const int* first;
  const int* owner;
  int hub_count;
  int segment;

  __device__ int segments() const { return hub_count == 0 ? 0 : first[hub_count]; }
  __device__ bool is_hub(long long begin, long long end) const { return end - begin > segment; }

  // The h of a vertex that is one.
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
  __device__ void of_segment(int s, int h, long long* begin, long long* end) const {
    const long long last = offsets[hubs[h] + 1];
    *begin = offsets[hubs[h]] + static_cast<long long>(s - first[h]) * segment;
    *end = min(*begin + segment, last);
  }
};

__device__ __forceinline__ long long this_warp() {
  return (blockIdx.x * static_cast<long long>(kThreads) + threadIdx.x) / 32;
}
__device__ __forceinline__ long long all_warps() {
  return gridDim.x * static_cast<long long>(kWarps);
}
