// Near-far search from one source in one launch, for non-negative lengths.
//
// Vertices with distances below the threshold are near, the others far. Near vertices are expanded,
// again if their distance decreases, until none is left; then all distances below the threshold are
// final, the threshold is raised, and far vertices below it become near.
//
//   for each round
//     if no vertex is near: raise the threshold and scan the far lists;
//     else: expand the vertices of the queue, all blocks together;
//     near vertices go into the queue of the next round; grid barrier.
//
// This engine is for wide frontiers, whose arcs the lanes of a warp share; for small ones there is
// sssp_near_far_narrow.cu.
//
// An entry, near or far, holds the distance at which it was made. It is stale, and dropped, if the
// distance of its vertex has changed, so no vertex is expanded twice at one distance. Lists have a
// fixed capacity. A vertex that does not fit sets a spill bit, and all spill bits are read when no
// vertex is near.
//
// The threshold is raised by delta, from its old value or the smallest far distance. Delta is
// doubled if a bucket relaxed too few arcs to keep the device busy and there are few far vertices;
// it is halved if a bucket relaxed so many that more buckets would save work.
//
// Integers are added in 32 bits while no sum overflows; on overflow the host restarts with 64 bits.
//
// A. Davidson et al., "Work-efficient parallel GPU methods for single-source shortest paths", 2014.
// U. Meyer and P. Sanders, "Delta-stepping: a parallelizable shortest path algorithm", 2003.
#include "sssp_near_far.cuh"

const int kScan = 4;  // far entries that a thread loads at once

// ---- state and totals ---------------------------------------------------------------------------

// Totals of a round. Three alternate: one is read, one is added to, one is cleared.
struct Totals {
  unsigned long long arcs;      // relaxed
  unsigned long long waiting;   // near entries + far entries * 2^32
  unsigned long long farthest;  // settled target
  unsigned unsettled;           // targets
  unsigned longest;             // list of a block
  unsigned near_spills;         // near vertices with a spill bit only
  unsigned far_spills;
};

// State of the search, kept in memory between launches.
struct State {
  unsigned long long threshold;
  unsigned long long horizon;      // largest final distance, if done is 2
  unsigned long long arcs;         // relaxed
  unsigned long long bucket_arcs;  // of the current bucket
  double delta;
  unsigned started;
  unsigned done;  // 1: no vertex left, 2: all targets settled
  unsigned round;
  unsigned bucket;  // number of the bucket
  unsigned near_spills;
  unsigned far_spills;
  unsigned far;      // vertices at the start of the bucket
  unsigned checked;  // whether the last round checked the targets
  unsigned spills;   // in total
  unsigned unused;
};

struct Control {
  State state;
  Totals totals[3];
  unsigned long long nearest[3];  // far distance, complemented; alternate as the totals do
  unsigned long long expanded;    // entries
  unsigned long long overflow;
};

__device__ __forceinline__ Totals load_totals(const Totals* totals) {
  return {kl_load(&totals->arcs),      kl_load(&totals->waiting), kl_load(&totals->farthest),
          kl_load(&totals->unsettled), kl_load(&totals->longest), kl_load(&totals->near_spills),
          kl_load(&totals->far_spills)};
}

// ---- lists of a block ---------------------------------------------------------------------------

// Totals of a block, in shared memory.
struct BlockTotals {
  unsigned long long arcs;
  unsigned long long expanded;
  unsigned long long nearest;  // complemented
  unsigned long long farthest;
  int listed;  // near entries
  int far;     // far entries
  unsigned unsettled;
  unsigned near_spills;
  unsigned far_spills;
};

// The lists of a block; whole warps append. A vertex that does not fit sets its spill bit.
struct BlockLists {
  BlockTotals* block_totals;
  int4* queue;  // of all blocks: entry k of the list of block b is at k * blocks + b
  int capacity;
  int* far_vertices;
  Word* far_distances;
  int far_capacity;
  unsigned* spilled;
  int lane;
  Word nearest;  // far distance appended by this thread

  __device__ __forceinline__ void spill(int v, unsigned* count) {
    atomicOr(spilled + (v >> 5), 1u << (v & 31));
    atomicAdd(count, 1u);
  }
  __device__ __forceinline__ void append_far(bool active, int v, Word distance) {
    const unsigned appending = __ballot_sync(kAllLanes, active);
    if (appending == 0) return;
    int first = 0;
    if (lane == 0) first = atomicAdd(&block_totals->far, __popc(appending));
    const int place = __shfl_sync(kAllLanes, first, 0) + __popc(appending & ((1u << lane) - 1));
    if (active) {
      nearest = min(nearest, distance);
      if (place < far_capacity) {
        far_vertices[place] = v;
        far_distances[place] = distance;
      } else {
        spill(v, &block_totals->far_spills);
      }
    }
  }
  // Appends to the near list of this block; a vertex with many arcs is split into several entries.
  __device__ __forceinline__ void append_near(int v, Word distance, long long begin, int degree) {
    if (!__any_sync(kAllLanes, degree > 0)) return;
    const int arcs_each =
        degree <= kRangeArcs ? kRangeArcs : max(kRangeArcs, (degree - 1) / capacity + 1);
    const int ranges = degree <= kRangeArcs ? degree > 0 : (degree - 1) / arcs_each + 1;
    unsigned split = __ballot_sync(kAllLanes, ranges > 1);
    const unsigned appending = __ballot_sync(kAllLanes, ranges > 0);
    int first = __popc(appending & ((1u << lane) - 1)), total = __popc(appending);
    if (split != 0) {
      first = ranges;
      for (int step = 1; step < 32; step *= 2) {
        const int other = __shfl_up_sync(kAllLanes, first, step);
        if (lane >= step) first += other;
      }
      total = __shfl_sync(kAllLanes, first, 31);
      first -= ranges;
    }
    int base = 0;
    if (lane == 0) base = atomicAdd(&block_totals->listed, total);
    first += __shfl_sync(kAllLanes, base, 0);
    if (ranges == 1 && first < capacity) {
      queue[static_cast<unsigned>(first) * gridDim.x + blockIdx.x] =
          pack(v, distance, begin, degree);
    }
    if (first + ranges > capacity && ranges > 0) spill(v, &block_totals->near_spills);
    for (; split != 0; split &= split - 1) {
      const int source_lane = __ffs(split) - 1;
      const int of = __shfl_sync(kAllLanes, v, source_lane),
                place = __shfl_sync(kAllLanes, first, source_lane);
      const int all = __shfl_sync(kAllLanes, degree, source_lane);
      const int each = __shfl_sync(kAllLanes, arcs_each, source_lane);
      const Word reached = __shfl_sync(kAllLanes, distance, source_lane);
      const long long tail_distance = __shfl_sync(kAllLanes, begin, source_lane);
      const int split_ranges = (all - 1) / each + 1;
      for (int i = lane; i < split_ranges && place + i < capacity; i += 32) {
        const int skipped = i * each;
        queue[static_cast<unsigned>(place + i) * gridDim.x + blockIdx.x] =
            pack(of, reached, tail_distance + skipped, min(each, all - skipped));
      }
    }
  }
};

// ---- the search ---------------------------------------------------------------------------------

KL_KERNEL_BOUNDS(512, 2, sssp_near_far_rounds, const long long* offsets, const int* neighbors,
                 const KL_TYPE* lengths, int n, Word* distances, int4* entries, int* counts,
                 int capacity, int* far_vertices, Word* far_distances, int* far_counts,
                 int far_capacity, unsigned* spilled, const int* targets, int target_count,
                 double least, double most, unsigned long long low, unsigned long long high,
                 int degree_mean, int rounds, unsigned long long launch_arcs,
                 unsigned long long* control_words, unsigned* barrier, int source,
                 unsigned long long limit_word) {
  __shared__ BlockTotals block_totals;
  Control* const control = reinterpret_cast<Control*>(control_words);
  const int lane = kl_lane(), warps = blockDim.x / 32, warp = threadIdx.x / 32;
  const unsigned lists = gridDim.x, block = blockIdx.x;
  const bool first_thread = threadIdx.x == 0;
  const Word limit = static_cast<Word>(limit_word);
  int* const own_far_vertices = far_vertices + static_cast<long long>(block) * far_capacity;
  Word* const own_far_distances = far_distances + static_cast<long long>(block) * far_capacity;

  State state = control->state;
  if (first_thread) {
    block_totals = {};
    block_totals.far = far_counts[block];
  }
  if (state.started == 0) {
    if (first_thread) block_totals.far = block == 0;
    if (first_thread && block == 0) {
      own_far_vertices[0] = source;
      own_far_distances[0] = 0;
      kl_store(distances + source, static_cast<Word>(0));
    }
    state.delta = least;
  }
  kl_grid_sync(barrier);  // all blocks have read the state

  Word threshold = static_cast<Word>(state.threshold);
  unsigned arcs = 0, expanded = 0;  // of this thread in a round
  BlockLists own = {&block_totals, entries, capacity, own_far_vertices, own_far_distances,
                    far_capacity,  spilled, lane,     kNoPath};

  // ---- relaxation ----

  const auto add_length = [&](Word tail_distance, KL_TYPE length) -> Word {
    const Word through = sum(tail_distance, length);
    if (through == kNoPath && limit == kNoPath - 1) kl_store(&control->overflow, 1ull);
    return through;
  };
  // The lanes share the arcs of all their ranges.
  const auto expand = [&](const ArcRange& range, Word tail_distance) {
    int end = range.degree;
    for (int step = 1; step < 32; step *= 2) {
      const int other = __shfl_up_sync(kAllLanes, end, step);
      if (lane >= step) end += other;
    }
    const int total = __shfl_sync(kAllLanes, end, 31);
    const long long shift = range.begin - (end - range.degree);
    for (int first = 0; first < total; first += 32) {
      const int arc = first + lane;
      int source_lane = 0;  // the first lane whose arcs end after this one
      for (int step = 16; step > 0; step /= 2) {
        if (__shfl_sync(kAllLanes, end, source_lane + step - 1) <= arc) source_lane += step;
      }
      const long long place = __shfl_sync(kAllLanes, shift, source_lane) + arc;
      const Word start = __shfl_sync(kAllLanes, tail_distance, source_lane);
      int v = 0, degree = 0;
      long long begin = 0;
      Word through = kNoPath;
      bool lower = false;
      if (arc < total) {
        v = __ldg(neighbors + place);
        const KL_TYPE length = __ldg(lengths + place);
        through = add_length(start, length);
        if (through <= limit && through < kl_load(distances + v)) {
          const Word old = atomicMin(distances + v, through);
          if (through < threshold) {  // loaded early, in case the distance decreases
            begin = __ldg(offsets + v);
            degree = static_cast<int>(__ldg(offsets + v + 1) - begin);
          }
          lower = through < old;
        }
      }
      if (!__any_sync(kAllLanes, lower)) continue;
      if (!lower) degree = 0;
      own.append_near(v, through, begin, degree);
      own.append_far(lower && through >= threshold, v, through);
    }
  };
  const auto process = [&](bool active, int4 entry) {
    ArcRange range = {0, 0, 0, 0};
    if (active) range = unpack(entry);
    Word tail_distance = kNoPath;
    if (active) {
      tail_distance = kl_load(distances + range.vertex);
      if (tag_of(tail_distance) != range.tag) {
        range.degree = 0;  // stale
      } else {
        arcs += range.degree;
        expanded++;
      }
    }
    expand(range, tail_distance);
  };

  // ---- no near vertices ----

  // Several entries per thread at once, to overlap their latencies.
  const auto scan_far = [&] {
    const int size = min(block_totals.far, far_capacity);
    __syncthreads();
    if (first_thread) block_totals.far = 0;
    for (int first = 0; first < size; first += kScan * blockDim.x) {
      int v[kScan], degree[kScan];
      long long begin[kScan];
      Word distance[kScan], current[kScan];
#pragma unroll
      for (int i = 0; i < kScan; i++) {
        const int place = first + i * blockDim.x + threadIdx.x;
        v[i] = place < size ? own_far_vertices[place] : -1;
        distance[i] = place < size ? own_far_distances[place] : kNoPath;
      }
      __syncthreads();  // kept entries overwrite entries that were read
#pragma unroll
      for (int i = 0; i < kScan; i++) {
        current[i] = kNoPath;
        begin[i] = 0;
        degree[i] = 0;
        if (v[i] >= 0 && distance[i] < threshold) {
          current[i] = kl_load(distances + v[i]);
          begin[i] = __ldg(offsets + v[i]);
          degree[i] = static_cast<int>(__ldg(offsets + v[i] + 1) - begin[i]);
        }
      }
#pragma unroll
      for (int i = 0; i < kScan; i++) {
        own.append_far(v[i] >= 0 && distance[i] >= threshold, v[i], distance[i]);
      }
#pragma unroll
      for (int i = 0; i < kScan; i++) {
        if (current[i] != distance[i]) degree[i] = 0;
        own.append_near(v[i], distance[i], begin[i], degree[i]);
      }
    }
  };
  const auto sweep_spilled = [&] {
    __syncthreads();  // the far list is complete
    const int words = (n + 31) / 32, stride = lists * blockDim.x;
    for (int first = block * blockDim.x + warp * 32; first < words; first += stride) {
      const int w = first + lane;
      unsigned left = 0;
      if (w < words && kl_load(spilled + w) != 0) left = atomicExch(spilled + w, 0u);
      while (__any_sync(kAllLanes, left != 0)) {
        const bool active = left != 0;
        const int v = active ? w * 32 + __ffs(left) - 1 : 0;
        left &= left - 1;
        const Word distance = active ? kl_load(distances + v) : kNoPath;
        const bool near = active && distance < threshold;
        const long long begin = near ? __ldg(offsets + v) : 0;
        const int degree = near ? static_cast<int>(__ldg(offsets + v + 1) - begin) : 0;
        own.append_near(v, distance, begin, degree);
        own.append_far(active && !near, v, distance);
      }
    }
  };
  const auto check_targets = [&](Word settled) {
    for (int i = block * blockDim.x + threadIdx.x; i < target_count; i += lists * blockDim.x) {
      const Word distance = kl_load(distances + targets[i]);
      if (distance < settled) {
        atomicMax(&block_totals.farthest, static_cast<unsigned long long>(distance));
      } else {
        atomicAdd(&block_totals.unsettled, 1u);
      }
    }
  };

  // ---- rounds ----

  unsigned long long done_arcs = 0, done_expanded = 0;  // done_expanded in the first thread only
  for (int budget = rounds; budget > 0; state.round++) {
    const Totals totals = load_totals(control->totals + state.round % 3);
    const unsigned long long nearest_word = kl_load(control->nearest + state.bucket % 3);
    unsigned long long published_nearest =
        nearest_word;  // smallest far distance published so far, complemented
    state.arcs += totals.arcs;
    state.bucket_arcs += totals.arcs;
    state.near_spills += totals.near_spills;
    state.far_spills += totals.far_spills;
    done_arcs += totals.arcs;
    if (state.checked != 0 && totals.unsettled == 0) {
      state.done = 2;
      state.horizon = totals.farthest;
    }
    state.checked = 0;
    const bool empty = static_cast<unsigned>(totals.waiting) == 0;
    const bool raises = empty && state.near_spills == 0;
    const Word lowest = state.started != 0 ? ~static_cast<Word>(nearest_word) : 0;
    if (raises && state.done == 0 && lowest == kNoPath && state.far_spills == 0) state.done = 1;
    if (state.done != 0) break;
    budget = done_arcs > launch_arcs ? 0 : budget - 1;
    if (block == 0 && first_thread) control->totals[(state.round + 2) % 3] = {};
    const int side = state.round & 1;
    own.queue = entries + static_cast<long long>(side ^ 1) * capacity * lists;

    if (raises) {
      const unsigned far = static_cast<unsigned>(totals.waiting >> 32);
      if (state.bucket_arcs > high) {
        state.delta = fmax(state.delta / 2, least);
      } else if (state.bucket_arcs < low && state.started != 0 &&
                 (far < state.far || static_cast<unsigned long long>(far) * degree_mean < low)) {
        state.delta = fmin(state.delta * 2, most);
      }
      state.far = far;
      const Word settled = threshold;
      const Word base = lowest == kNoPath ? threshold : max(threshold, lowest);
      threshold = sum(base, Type::from_double(state.delta));
      if (lowest != kNoPath) threshold = max(threshold, lowest + 1);
      state.started = 1;
      state.bucket++;
      state.bucket_arcs = 0;
      published_nearest = 0;
      if (block == 0 && first_thread) control->nearest[(state.bucket + 1) % 3] = 0;
      if (targets != nullptr) {
        check_targets(settled);
        state.checked = 1;
      }
      scan_far();
    }
    if (empty) {
      if ((state.near_spills | state.far_spills) != 0) {
        state.spills += state.near_spills + state.far_spills;
        sweep_spilled();
      }
      state.near_spills = state.far_spills = 0;
    } else if (totals.longest > 0) {
      const int4* const current_queue = entries + static_cast<long long>(side) * capacity * lists;
      const int* const sizes = counts + side * lists;
      const unsigned places = totals.longest * lists, threads = lists * blockDim.x;
      // Few entries are spread over all warps; many are read in order.
      const unsigned own_place = places <= threads
                                     ? (static_cast<unsigned>(lane) * warps + warp) * lists + block
                                     : block * blockDim.x + threadIdx.x;
      for (unsigned first = 0; first < places; first += threads) {
        const unsigned place = first + own_place;
        int4 entry = make_int4(0, 0, 0, 0);
        bool active = false;
        if (place < places) {
          const unsigned k = place / lists;
          entry = kl_load_int4(current_queue + place);
          active = static_cast<int>(k) < kl_load(sizes + (place - k * lists));
        }
        if (__any_sync(kAllLanes, active)) process(active, entry);
      }
    }

    const unsigned warp_arcs = __reduce_add_sync(kAllLanes, arcs);
    const unsigned warp_expanded = __reduce_add_sync(kAllLanes, expanded);
    const Word warp_nearest = warp_min(own.nearest);
    if (lane == 0) {
      if (warp_arcs != 0) atomicAdd(&block_totals.arcs, static_cast<unsigned long long>(warp_arcs));
      if (warp_expanded != 0) {
        atomicAdd(&block_totals.expanded, static_cast<unsigned long long>(warp_expanded));
      }
      if (warp_nearest != kNoPath) {
        atomicMax(&block_totals.nearest,
                  static_cast<unsigned long long>(static_cast<Word>(~warp_nearest)));
      }
    }
    arcs = expanded = 0;
    own.nearest = kNoPath;
    __syncthreads();
    if (first_thread) {
      Totals* const next = control->totals + (state.round + 1) % 3;
      const int listed = min(block_totals.listed, capacity),
                far = min(block_totals.far, far_capacity);
      counts[(side ^ 1) * lists + block] = listed;
      if ((listed | far) != 0) {
        atomicAdd(&next->waiting,
                  static_cast<unsigned long long>(far) << 32 | static_cast<unsigned>(listed));
      }
      if (block_totals.arcs != 0) atomicAdd(&next->arcs, block_totals.arcs);
      if (listed != 0) atomicMax(&next->longest, static_cast<unsigned>(listed));
      if (block_totals.nearest > published_nearest)
        atomicMax(control->nearest + state.bucket % 3, block_totals.nearest);
      if (block_totals.near_spills != 0) atomicAdd(&next->near_spills, block_totals.near_spills);
      if (block_totals.far_spills != 0) atomicAdd(&next->far_spills, block_totals.far_spills);
      if (block_totals.unsettled != 0) atomicAdd(&next->unsettled, block_totals.unsettled);
      if (block_totals.farthest != 0) atomicMax(&next->farthest, block_totals.farthest);
      done_expanded += block_totals.expanded;
      block_totals.arcs = block_totals.expanded = block_totals.nearest = block_totals.farthest = 0;
      block_totals.unsettled = block_totals.near_spills = block_totals.far_spills = 0;
      block_totals.listed = 0;
      kl_grid_barrier(barrier, lists);
    }
    __syncthreads();
  }

  if (first_thread) {
    far_counts[block] = min(block_totals.far, far_capacity);
    atomicAdd(&control->expanded, done_expanded);
    if (block == 0) {
      state.threshold = threshold;
      control->state = state;
    }
  }
}

// Converts words to the distances of the result; integers may be widened.
KL_KERNEL(sssp_near_far_write_distances, const Word* distances, int n, void* out, int bytes) {
  const int v = blockIdx.x * blockDim.x + threadIdx.x;
  if (v >= n) return;
  const Word word = distances[v];
  const KL_TYPE value = Type::value(word);
  if (static_cast<KL_TYPE>(0.5) != 0) {
    static_cast<KL_TYPE*>(out)[v] = word == kNoPath ? KlLimits<float>::none() : value;
  } else if (bytes == 8) {
    static_cast<long long*>(out)[v] = word == kNoPath ? KlLimits<long long>::none() : value;
  } else {
    static_cast<int*>(out)[v] = word == kNoPath ? KlLimits<int>::none() : value;
  }
}
