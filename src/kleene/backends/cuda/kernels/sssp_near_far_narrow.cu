// Near-far search for small frontiers and long paths: road networks and grids. The algorithm of
// sssp_near_far.cu, made for low latency. A hop is one barrier of few blocks, which also sums the
// number of near vertices; four lanes share a vertex; loads are issued as early as possible.
// Between two barriers a block runs some hops alone, on the vertices it found itself.
//
// Vertices with distances below the threshold are near. An entry, near or far, holds the distance
// at which it was made, and is stale if the distance of its vertex has changed. Each block keeps
// the far vertices it found. When no vertex is near, the blocks find the smallest far distance, the
// threshold becomes delta above it, and every block scans its far vertices. Delta is doubled if
// there were few near vertices per hop, and halved if there were so many that most of them were
// improved later. A vertex that does not fit into a list sets a spill bit; all spill bits are read
// when the threshold is raised.
#include "sssp_near_far.cuh"

const int kThreads = 256;
const int kLocalEntries = 256;     // of a block for its next hop alone
const int kPrefetchVertices = 16;  // vertices ahead in the offsets to prefetch

enum Done { kRunning, kExhausted, kEarlyExit };

// State between launches.
struct State {
  unsigned long long barrier_value, other_barrier_value;  // of the two alternating words
  unsigned long long threshold;
  unsigned long long horizon;   // largest final distance, at an early exit
  unsigned long long expanded;  // entries
  unsigned long long overflow;  // whether a sum overflowed
  double delta;
  long long entries;  // near entries of the current bucket
  long long rounds;   // hops of the current bucket
  int near;           // entries of the queue
  int spilled;        // whether there are spill bits
  int done;
  int hop;
  int bucket;         // number of the bucket
  int barrier_index;  // of the barrier word to use next
  int sweeps;         // buckets with spill bits
  int unused;
};

// Totals at a change of the threshold; three alternate.
struct ThresholdTotals {
  unsigned long long nearest;   // far distance, complemented
  unsigned long long farthest;  // settled target
  unsigned unsettled;           // targets
  unsigned unused;
};

struct Control {
  State state;
  ThresholdTotals threshold_totals[3];
};

KL_KERNEL(sssp_near_far_narrow_init, int source, int n, Word* distances, unsigned* spilled,
          int* far_vertices, Word* far_distances, int* far_counts, int blocks,
          unsigned long long* control_words, unsigned long long* barrier_words) {
  const long long stride = static_cast<long long>(gridDim.x) * blockDim.x;
  const long long thread = static_cast<long long>(blockIdx.x) * blockDim.x + threadIdx.x;
  for (long long v = thread; v < n; v += stride) {
    distances[v] = v == source ? 0 : kNoPath;
    if (v % 32 == 0) spilled[v / 32] = 0;
  }
  for (long long b = thread; b < blocks; b += stride) far_counts[b] = b == 0;
  if (thread != 0) return;
  far_vertices[0] = source;
  far_distances[0] = 0;
  barrier_words[0] = barrier_words[1] = 0;
  *reinterpret_cast<Control*>(control_words) = {};
}

KL_KERNEL_BOUNDS(kThreads, 1, sssp_near_far_narrow_hops, const long long* offsets,
                 const int* neighbors, const KL_TYPE* lengths, int n, unsigned long long limit_word,
                 double least, int hops, int local_hops, int few_per_hop, int many_per_hop,
                 const int* targets, int target_count, Word* distances, int4* entries, int* counts,
                 int capacity, int* far_vertices, Word* far_distances, int* far_counts,
                 int far_capacity, unsigned* spilled, unsigned long long* control_words,
                 unsigned long long* barrier_words) {
  __shared__ int4 local[2][kLocalEntries];
  __shared__ int local_tails[3];  // hop s reads s + 2, writes s, clears s + 1, all modulo 3
  __shared__ int tail, far_tail, kept;
  __shared__ unsigned spills;
  __shared__ unsigned long long barrier_value, block_nearest;
  Control* const control = reinterpret_cast<Control*>(control_words);
  const int lane = kl_lane(), blocks = gridDim.x, block = blockIdx.x;
  const bool first_thread = threadIdx.x == 0;
  const unsigned lower_lanes = (1u << lane) - 1;
  const unsigned warps = blocks * (blockDim.x / 32);
  const unsigned place = lane / 4 * warps + block * (blockDim.x / 32) + threadIdx.x / 32;
  const int own_list = place % blocks, own_k = place / blocks, step = blockDim.x / 4;
  int* const own_vertices = far_vertices + static_cast<long long>(block) * far_capacity;
  Word* const own_distances = far_distances + static_cast<long long>(block) * far_capacity;
  const Word limit = static_cast<Word>(limit_word);
  State state = control->state;
  Word threshold = static_cast<Word>(state.threshold);
  int4* queue = entries;
  int own = -1;  // the local hop to append near vertices to; -1 for the queue of all blocks
  if (state.delta == 0) state.delta = least;
  if (first_thread) {
    tail = local_tails[0] = local_tails[1] = local_tails[2] = 0;
    spills = state.spilled != 0 && block == 0;
    far_tail = far_counts[block];
  }
  __syncthreads();

  const auto spill = [&](int v) {
    atomicOr(spilled + (v >> 5), 1u << (v & 31));
    spills = 1;
  };
  const auto put = [&](int k, int v, Word distance, long long begin, int degree) {
    queue[static_cast<unsigned>(k) * blocks + block] = pack(v, distance, begin, degree);
  };
  // Appends near vertices to the local list or the queue; large ones are split into ranges.
  const auto append_near = [&](int v, Word distance, long long begin, int degree) {
    unsigned some = __ballot_sync(kAllLanes, degree > 0);
    if (some == 0) return;
    unsigned large = __ballot_sync(kAllLanes, degree > kRangeArcs);
    int k = 0;
    if (own >= 0 && some != large) {
      if (lane == 0) k = atomicAdd(local_tails + own % 3, __popc(some & ~large));
      k = __shfl_sync(kAllLanes, k, 0) + __popc(some & ~large & lower_lanes);
      if (degree > 0 && degree <= kRangeArcs && k < kLocalEntries) {
        local[own & 1][k] = pack(v, distance, begin, degree);
        degree = 0;
      }
      some = __ballot_sync(kAllLanes, degree > 0);
      if (some == 0) return;
      k = 0;
    }
    if (lane == 0 && some != large) k = atomicAdd(&tail, __popc(some & ~large));
    k = __shfl_sync(kAllLanes, k, 0) + __popc(some & ~large & lower_lanes);
    if (degree > 0 && degree <= kRangeArcs) {
      if (k < capacity)
        put(k, v, distance, begin, degree);
      else
        spill(v);
    }
    for (; large != 0; large &= large - 1) {
      const int source_lane = __ffs(large) - 1;
      const int of = __shfl_sync(kAllLanes, v, source_lane),
                arcs = __shfl_sync(kAllLanes, degree, source_lane);
      const Word reached = __shfl_sync(kAllLanes, distance, source_lane);
      const long long start = __shfl_sync(kAllLanes, begin, source_lane);
      const int each =
          max(kRangeArcs, (arcs - 1) / capacity + 1);  // so that all ranges fit into a list
      const int pieces = (arcs - 1) / each + 1;
      int first = 0;
      if (lane == 0) first = atomicAdd(&tail, pieces);
      first = __shfl_sync(kAllLanes, first, 0);
      for (int i = lane; i < pieces && first + i < capacity; i += 32) {
        const int skipped = i * each;
        put(first + i, of, reached, start + skipped, min(each, arcs - skipped));
      }
      if (lane == 0 && first + pieces > capacity) spill(of);
    }
  };
  const auto append_far = [&](bool active, int v, Word distance) {
    const unsigned some = __ballot_sync(kAllLanes, active);
    if (some == 0) return;
    int first = 0;
    if (lane == 0) first = atomicAdd(&far_tail, __popc(some));
    first = __shfl_sync(kAllLanes, first, 0) + __popc(some & lower_lanes);
    if (!active) return;
    if (first < far_capacity) {
      own_vertices[first] = v;
      own_distances[first] = distance;
    } else {
      spill(v);
    }
  };
  // Four lanes relax the arcs of an entry.
  const auto process = [&](const ArcRange& range) {
    Word tail_distance = 0;
    if (range.degree > 0) tail_distance = kl_load(distances + range.vertex);
    for (int i = lane & 3; __any_sync(kAllLanes, i < range.degree); i += 4) {
      int v = 0, degree = 0;
      long long begin = 0;
      Word through = kNoPath, old = 0;
      if (i < range.degree) {
        v = __ldg(neighbors + range.begin + i);
        const KL_TYPE length = __ldg(lengths + range.begin + i);
        if (tag_of(tail_distance) == range.tag) through = sum(tail_distance, length);
        if (through == kNoPath && tag_of(tail_distance) == range.tag && limit == kNoPath - 1) {
          kl_store(&control->state.overflow, 1ull);
        }
        if (through <= limit) {
          old = atomicMin(distances + v, through);
          begin = __ldg(offsets + v);
          degree = static_cast<int>(__ldg(offsets + v + 1) - begin);
        }
      }
      const bool lower = through < old, near = lower && through < threshold;
      if (near) {
        kl_prefetch(neighbors + begin);
        kl_prefetch(lengths + begin);
        if (v > kPrefetchVertices) kl_prefetch(offsets + v - kPrefetchVertices);
        if (v < n - kPrefetchVertices) kl_prefetch(offsets + v + kPrefetchVertices);
      }
      append_near(v, through, begin, near ? degree : 0);
      append_far(lower && !near, v, through);
    }
  };
  // Barrier of all blocks; returns the sum of a number over them.
  const auto grid_barrier = [&](unsigned long long number) {
    if (first_thread) {
      barrier_value = blocks == 1 ? state.barrier_value + (number << 16)
                                  : kl_grid_barrier_add(barrier_words + state.barrier_index,
                                                        state.barrier_value, number);
    }
    __syncthreads();
    const unsigned long long added = kl_grid_barrier_sum(barrier_value, state.barrier_value);
    state.barrier_value = state.other_barrier_value;
    state.other_barrier_value = barrier_value;
    state.barrier_index ^= 1;
    return added;
  };

  for (int budget = hops;; budget--) {
    const long long room = static_cast<long long>(capacity) * blocks;
    const int side = state.hop & 1;
    const int4* const current_queue = entries + side * room;
    queue = entries + (side ^ 1) * room;
    if (budget == 0) break;
    if (state.near > 0) {
      int k = own_k, length = 0;
      unsigned slot = place;
      int4 entry = make_int4(0, 0, 0, 0);
      if (k < capacity) {
        entry = kl_load_int4(current_queue + slot);
        length = kl_load(counts + side * blocks + own_list);
      }
      own = local_hops > 0 ? 0 : -1;
      while (__any_sync(kAllLanes, k < length)) {
        process(k < length ? unpack(entry) : ArcRange{0, 0, 0, 0});
        k += step;
        slot += 8 * warps;
        if (k < length) entry = kl_load_int4(current_queue + slot);
      }
      for (int hop = 1; hop <= local_hops; hop++) {
        __syncthreads();
        const int size = min(local_tails[(hop + 2) % 3], kLocalEntries);
        if (size == 0) break;
        own = hop < local_hops ? hop : -1;
        if (first_thread) local_tails[(hop + 1) % 3] = 0;
        const int first = (threadIdx.x & ~31) / 4;  // eight entries per warp
        for (int i = first; i < size; i += blockDim.x / 4) {
          const int mine = i + lane / 4;
          process(mine < size ? unpack(local[(hop + 1) & 1][mine]) : ArcRange{0, 0, 0, 0});
        }
      }
      own = -1;
    } else {
      // No vertex is near: find the smallest far distance; check the targets.
      ThresholdTotals* const totals = control->threshold_totals + state.bucket % 3;
      const int many = min(far_tail, far_capacity), words = (n + 31) / 32;
      if (first_thread) block_nearest = 0, kept = 0;
      __syncthreads();
      Word nearest = kNoPath;
      for (int i = threadIdx.x; i < many; i += blockDim.x) {
        const Word distance = own_distances[i];
        if (distance == kl_load(distances + own_vertices[i])) nearest = min(nearest, distance);
      }
      const auto each_spilled = [&](auto look) {
        for (int w = block * blockDim.x + threadIdx.x; w < words; w += blocks * blockDim.x) {
          for (unsigned left = kl_load(spilled + w); left != 0; left &= left - 1) {
            const int v = w * 32 + __ffs(left) - 1;
            look(v, kl_load(distances + v));
          }
        }
      };
      if (state.spilled)
        each_spilled([&](int, Word distance) { nearest = min(nearest, distance); });
      nearest = warp_min(nearest);
      if (lane == 0 && nearest != kNoPath) {
        atomicMax(&block_nearest, static_cast<unsigned long long>(static_cast<Word>(~nearest)));
      }
      if (block == 0 && !state.spilled) {
        for (int i = threadIdx.x; i < target_count; i += blockDim.x) {
          const Word distance = kl_load(distances + targets[i]);
          if (distance >= threshold)
            atomicAdd(&totals->unsettled, 1u);
          else
            atomicMax(&totals->farthest, static_cast<unsigned long long>(distance));
        }
      } else if (block == 0 && first_thread) {
        atomicAdd(&totals->unsettled, 1u);
      }
      __syncthreads();
      if (first_thread && block_nearest != 0) atomicMax(&totals->nearest, block_nearest);
      grid_barrier(0);
      const Word lowest = ~static_cast<Word>(kl_load(&totals->nearest));
      if (target_count > 0 && kl_load(&totals->unsettled) == 0) {
        state.done = kEarlyExit;
        state.horizon = kl_load(&totals->farthest);
      }
      if (kl_load(&totals->nearest) == 0) state.done = kExhausted;
      if (state.done != kRunning) break;
      if (block == 0 && first_thread)
        control->threshold_totals[(state.bucket + 2) % 3] = {0, 0, 0, 0};
      if (state.entries < few_per_hop * state.rounds) state.delta *= 2;
      if (state.entries > many_per_hop * state.rounds) state.delta = fmax(state.delta / 2, least);
      state.entries = state.rounds = 0;
      state.sweeps += state.spilled;
      threshold = max(sum(lowest, Type::from_double(state.delta)), static_cast<Word>(lowest + 1));
      state.bucket++;

      // Near vertices go into the queue; the far list is compacted.
      if (first_thread) spills = 0;
      __syncthreads();
      for (int first = 0; first < many; first += blockDim.x) {
        const int i = first + threadIdx.x;
        int v = 0, degree = 0;
        Word distance = kNoPath;
        long long begin = 0;
        if (i < many) {
          v = own_vertices[i];
          distance = own_distances[i];
          if (distance != kl_load(distances + v)) distance = kNoPath;
        }
        const bool near = distance < threshold, stays = distance != kNoPath && !near;
        if (near) {
          begin = __ldg(offsets + v);
          degree = static_cast<int>(__ldg(offsets + v + 1) - begin);
        }
        append_near(v, distance, begin, degree);
        const unsigned some = __ballot_sync(kAllLanes, stays);
        __syncthreads();  // all entries have been read
        int base = 0;
        if (lane == 0 && some != 0) base = atomicAdd(&kept, __popc(some));
        base = __shfl_sync(kAllLanes, base, 0) + __popc(some & lower_lanes);
        if (stays) {
          own_vertices[base] = v;
          own_distances[base] = distance;
        }
        __syncthreads();
      }
      if (first_thread) far_tail = kept;
      if (state.spilled) {
        for (int first = block * blockDim.x; first < words; first += blocks * blockDim.x) {
          const int w = first + threadIdx.x;
          unsigned left = w < words ? kl_load(spilled + w) : 0;
          while (__any_sync(kAllLanes, left != 0)) {
            const int v = left != 0 ? w * 32 + __ffs(left) - 1 : -1;
            const Word distance = v < 0 ? kNoPath : kl_load(distances + v);
            long long begin = 0;
            int degree = 0;
            if (distance < threshold) {
              atomicAnd(spilled + w, ~(1u << (v & 31)));
              begin = __ldg(offsets + v);
              degree = static_cast<int>(__ldg(offsets + v + 1) - begin);
            } else if (v >= 0) {
              spills = 1;
            }
            append_near(v, distance, begin, degree);
            left &= left - 1;
          }
        }
      }
    }

    __syncthreads();
    unsigned long long number = 0;
    if (first_thread) {
      const int listed = min(tail, capacity);
      counts[(side ^ 1) * blocks + block] = listed;
      number = listed + (static_cast<unsigned long long>(spills) << 32);
      tail = local_tails[0] = local_tails[1] = local_tails[2] = 0;
    }
    const unsigned long long added = grid_barrier(number);
    state.near = static_cast<int>(added & 0xffffffff);
    state.spilled = (added >> 32) != 0;
    state.expanded += state.near;
    state.entries += state.near;
    state.rounds++;
    state.hop++;
  }

  if (first_thread) far_counts[block] = min(far_tail, far_capacity);
  __syncthreads();
  if (state.done == kRunning)
    grid_barrier(0);  // all blocks have read the state before it is written
  if (block == 0 && first_thread) {
    state.threshold = threshold;
    state.overflow = kl_load(&control->state.overflow);
    control->state = state;
  }
}
