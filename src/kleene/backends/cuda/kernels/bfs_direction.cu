// Direction-optimizing BFS with few launches for all levels (Beamer, Asanovic and Patterson 2012).
//
// bfs_direction_wide runs levels with work for the whole GPU, in one of three ways, which all
// blocks choose from the same totals:
//   push   the frontier is in the queue (bfs_direction_queue.cuh); its vertices visit their
//          neighbours. Vertices with many arcs are split into ranges, which all warps share after a
//          grid barrier;
//   sweep  the same for a frontier that did not fit the queue: all vertices are tested for the
//          distance of this level;
//   pull   every unvisited vertex looks for a visited one among the tails of its incoming arcs, and
//          stops at the first. A tail visited before this level is in the frontier: an earlier one
//          would have found the vertex already. So one bit per vertex is enough, and the bits of
//          the next level go to a second bitmap.
//
// bfs_direction_narrow runs levels with little work, which are bound by the latency of memory and
// of the barrier: few blocks of few threads, no choices, a barrier that sums the arcs of the level,
// distances written one level late to keep them off the critical path. Each kernel returns when the
// frontier suits the other.
#include "bfs_direction_queue.cuh"
#include "common/kleene.cuh"

const int kWideThreads = 512;
const int kNarrowThreads = 256;
const int kPrefetchVertices = 16;  // vertices ahead in the offsets to prefetch
const int kSerialArcs = 32;        // arcs that one lane scans in a pull
const int kSmallLevels = 4;      // consecutive small levels after which bfs_direction_wide returns
const int kLargeArcs = 1 << 18;  // arcs added for a vertex too large for bfs_direction_narrow
const unsigned long long kQueueOverflow = 1ull << 36;  // arcs added when the queue overflows

enum Done { kRunning, kExhausted, kEarlyExit };

// State between launches.
struct State {
  unsigned long long barrier_value, other_barrier_value;  // of the two alternating words
  unsigned long long arcs;                                // of the frontier
  int level;                                              // of the frontier
  int done;
  int queued;         // whether the frontier is in the queue
  int writers;        // lists of the queue
  int longest;        // longest list
  int large;          // entries to split into ranges
  int seen_index;     // index of the current bitmap
  int targets_left;   // targets not yet visited
  int barrier_index;  // of the barrier word to use next
  int unused;
};

// Totals of a level. Three alternate: one is read, one is added to, one is cleared.
struct Totals {
  unsigned long long arcs;  // outgoing arcs of the new frontier
  int longest;              // list of a block
  int large;                // vertices to split into ranges
  int ranges;               // ranges in the longest list
  int targets;
};

__device__ __forceinline__ bool has(const unsigned* bits, int v) {
  return (bits[v >> 5] >> (v & 31)) & 1;
}

// Marks the vertices without incoming arcs: a pull skips them.
KL_KERNEL(bfs_direction_mark_unreachable, const long long* offsets, int n, unsigned* unreachable) {
  const long long stride = static_cast<long long>(gridDim.x) * blockDim.x;
  const long long padded = (static_cast<long long>(n) + 31) & ~31ll;
  for (long long v = static_cast<long long>(blockIdx.x) * blockDim.x + threadIdx.x; v < padded;
       v += stride) {
    const unsigned word = __ballot_sync(kAllLanes, v >= n || offsets[v] == offsets[v + 1]);
    if (kl_lane() == 0) unreachable[v >> 5] = word;
  }
}

// Initialises bitmaps, queue and state for a source.
KL_KERNEL(bfs_direction_init, const long long* offsets, const unsigned* target_bits, int targets,
          int words, int source, int queue_capacity, int* distances, unsigned* bits, int4* entries,
          int* counts, unsigned long long* totals_words, unsigned long long* state_words,
          unsigned long long* barrier_words) {
  __shared__ int tail;
  const long long stride = static_cast<long long>(gridDim.x) * blockDim.x;
  const long long thread = static_cast<long long>(blockIdx.x) * blockDim.x + threadIdx.x;
  for (long long i = thread; i < 2ll * words; i += stride) {
    bits[i] = i == source >> 5 ? 1u << (source & 31) : 0;
  }
  if (thread >= 32) return;
  if (thread == 0) tail = 0;
  __syncwarp();
  const long long begin = offsets[source];
  const int degree = static_cast<int>(offsets[source + 1] - begin);
  const KlQueue queue = {entries, counts, 1, queue_capacity};
  kl_append(queue, &tail, source, -1, begin, thread == 0 ? degree : 0);
  __syncwarp();
  if (thread != 0) return;
  distances[source] = 0;
  counts[0] = tail;
  barrier_words[0] = barrier_words[1] = 0;
  Totals* const all_totals = reinterpret_cast<Totals*>(totals_words);
  all_totals[0] = all_totals[1] = all_totals[2] = {0, 0, 0, 0, 0};
  const int left = targets - (target_bits != nullptr && has(target_bits, source));
  const unsigned long long arcs = degree;
  *reinterpret_cast<State*>(state_words) = {
      0, 0, arcs, 0, kRunning, 1, 1, tail, degree > kRangeArcs, 0, left, 0, 0};
}

// Whether the search ends, and why.
__device__ __forceinline__ int outcome(unsigned long long arcs, int level, int limit,
                                       const unsigned* target_bits, int left) {
  return level >= limit || (target_bits != nullptr && left == 0) ? kEarlyExit
         : arcs == 0                                             ? kExhausted
                                                                 : kRunning;
}

KL_KERNEL_BOUNDS(kNarrowThreads, 1, bfs_direction_narrow, const long long* offsets,
                 const int* neighbors, const unsigned* target_bits, int n, int limit, int levels,
                 int max_arcs, int* distances, int* predecessors, unsigned* bits, int4* entries,
                 int* counts, int max_lists, int queue_capacity, unsigned long long* totals_words,
                 unsigned long long* state_words, unsigned long long* barrier_words) {
  __shared__ int tail, block_targets, targets_all;
  __shared__ unsigned block_arcs;
  __shared__ unsigned long long barrier_value;
  Totals* const all_totals = reinterpret_cast<Totals*>(totals_words);
  State* const saved_state = reinterpret_cast<State*>(state_words);
  State state = *saved_state;
  unsigned* const seen = bits + static_cast<long long>(state.seen_index) * ((n + 31) / 32);
  const int lane = kl_lane(), blocks = gridDim.x, list_capacity = queue_capacity / blocks;
  const bool first_thread = threadIdx.x == 0;
  const unsigned warps = blocks * (blockDim.x / 32);
  const unsigned place = lane / 4 * warps + blockIdx.x * (blockDim.x / 32) + threadIdx.x / 32;
  const int own_list = place % blocks, own_k = place / blocks, step = blockDim.x / 4;
  if (first_thread) tail = 0, block_targets = 0, block_arcs = 0;
  if (first_thread && blockIdx.x == 0) kl_store(&all_totals[(state.level + 2) % 3].targets, 0);
  __syncthreads();

  for (int budget = levels;; budget--) {
    const long long half = state.level & 1;
    const KlQueue frontier = {entries + half * queue_capacity, counts + half * max_lists,
                              state.writers, queue_capacity / state.writers};
    const KlQueue queue = {entries + (half ^ 1) * queue_capacity, counts + (half ^ 1) * max_lists,
                           blocks, list_capacity};
    state.done = outcome(state.arcs, state.level, limit, target_bits, state.targets_left);
    const bool leaves = state.done != kRunning || budget == 0 || state.large != 0 ||
                        state.queued == 0 || state.arcs > static_cast<unsigned>(max_arcs);
    unsigned arcs = 0;

    // Loads that may be needed are issued together to overlap their latencies, and the data of the
    // next levels is prefetched.
    const auto visit = [&](bool active, int predecessor, long long arc) {
      int v = 0, degree = 0;
      long long begin = 0;
      bool unvisited = false;
      if (active) {
        v = __ldg(neighbors + arc);
        const unsigned bit = 1u << (v & 31);
        const unsigned old = atomicOr(seen + (v >> 5), bit);
        begin = __ldg(offsets + v);
        degree = static_cast<int>(__ldg(offsets + v + 1) - begin);
        unvisited = (old & bit) == 0;
      }
      if (unvisited) {
        kl_prefetch(neighbors + begin);
        if (v > kPrefetchVertices) kl_prefetch(offsets + v - kPrefetchVertices);
        if (v < n - kPrefetchVertices) kl_prefetch(offsets + v + kPrefetchVertices);
        if (target_bits != nullptr && has(target_bits, v)) atomicAdd(&block_targets, 1);
        arcs += degree > kRangeArcs ? kLargeArcs : degree;
      }
      const bool kept = kl_append(queue, &tail, v, predecessor, begin, unvisited ? degree : 0);
      if (unvisited && (degree == 0 || !kept)) {
        distances[v] = state.level + 1;
        if (predecessors != nullptr) predecessors[v] = predecessor;
      }
    };
    // Four lanes share an entry; the distances of the previous level are written now.
    const auto process = [&](const KlArcRange& range) {
      const int own = lane & 3;
      if (own == 0 && range.degree > 0) {
        distances[range.vertex] = state.level;
        if (predecessors != nullptr) predecessors[range.vertex] = range.predecessor;
      }
      if (leaves) return;
      for (int i = own; __any_sync(kAllLanes, i < range.degree); i += 4) {
        visit(i < range.degree, range.vertex, range.begin + i);
      }
    };

    int k = own_k, list = own_list, length = 0;
    unsigned slot = place;
    if (state.writers != blocks) k = place / state.writers, list = place % state.writers;
    const int kept = queue_capacity / state.writers;
    int4 entry = make_int4(0, 0, 0, 0);
    if (k < kept) {
      entry = kl_load_int4(frontier.entries + slot);
      length = kl_load(frontier.counts + list);
    }
    // If there are as many lists as blocks, each lane reads a single list.
    while (__any_sync(kAllLanes, state.writers == blocks ? k < length : k < state.longest)) {
      process(k < length ? kl_unpack(entry) : KlArcRange{0, 0, 0, 0});
      slot += 8 * warps;
      k += step;
      if (state.writers != blocks) {
        k = slot / state.writers;
        length = k < kept ? kl_load(frontier.counts + slot % state.writers) : 0;
      }
      if (k < length) entry = kl_load_int4(frontier.entries + slot);
    }
    if (leaves && budget < levels) break;  // else other blocks may not have read the state yet

    arcs = __reduce_add_sync(kAllLanes, arcs);
    if (lane == 0 && arcs != 0) atomicAdd(&block_arcs, arcs);
    __syncthreads();
    Totals* const next = all_totals + (state.level + 1) % 3;
    if (first_thread) {
      queue.counts[blockIdx.x] = min(tail, list_capacity);
      if (block_targets != 0) atomicAdd(&next->targets, block_targets);
      const unsigned long long sum = block_arcs + (tail > list_capacity ? kQueueOverflow : 0);
      // A fast block adds to the other word while others read this one.
      unsigned long long* const word = barrier_words + state.barrier_index;
      barrier_value = blocks == 1 ? state.barrier_value + (sum << 16)
                                  : kl_grid_barrier_add(word, state.barrier_value, sum);
      if (target_bits != nullptr) {
        targets_all = kl_load(&next->targets);
        if (blockIdx.x == 0) kl_store(&all_totals[(state.level + 3) % 3].targets, 0);
      }
      tail = 0, block_targets = 0, block_arcs = 0;
    }
    __syncthreads();
    const unsigned long long next_arcs = kl_grid_barrier_sum(barrier_value, state.barrier_value);
    state.barrier_value = state.other_barrier_value;
    state.other_barrier_value = barrier_value;
    state.barrier_index ^= 1;
    if (leaves) break;
    state.arcs = next_arcs;
    state.queued = state.arcs < kQueueOverflow;
    if (target_bits != nullptr) state.targets_left -= targets_all;
    state.writers = blocks;
    state.level++;
  }

  // State for bfs_direction_wide.
  if (blockIdx.x != 0 || threadIdx.x >= 32) return;
  const int* const lengths = counts + (state.level & 1) * max_lists;
  int longest = 0;
  for (int i = lane; i < state.writers; i += 32) longest = max(longest, kl_load(lengths + i));
  state.longest = __reduce_max_sync(kAllLanes, longest);
  state.large |= state.arcs >= kLargeArcs;
  if (lane != 0) return;
  *saved_state = state;
}

KL_KERNEL_BOUNDS(kWideThreads, 2, bfs_direction_wide, const long long* offsets,
                 const int* neighbors, const long long* in_offsets, const int* in_neighbors,
                 const unsigned* unreachable, const unsigned* target_bits, int n, int limit,
                 int levels, int narrow_arcs, long long pull_arcs, int* distances,
                 int* predecessors, unsigned* bits, int4* entries, int* counts, int max_lists,
                 int queue_capacity, int4* ranges, int* range_counts,
                 unsigned long long* totals_words, unsigned long long* state_words,
                 unsigned* barrier) {
  __shared__ int tail, ranges_tail, block_targets, block_large;
  __shared__ unsigned long long block_arcs;
  Totals* const all_totals = reinterpret_cast<Totals*>(totals_words);
  State* const saved_state = reinterpret_cast<State*>(state_words);
  const int lane = kl_lane(), blocks = gridDim.x, list_capacity = queue_capacity / blocks;
  const int words = (n + 31) / 32;
  const long long thread = static_cast<long long>(blockIdx.x) * blockDim.x + threadIdx.x;
  const long long warps = static_cast<long long>(blocks) * (blockDim.x / 32), warp = thread / 32;
  const bool first_thread = threadIdx.x == 0;
  State state = *saved_state;
  Totals totals = {state.arcs, state.longest, state.large, 0, 0};
  if (thread == 0) all_totals[0] = all_totals[1] = all_totals[2] = {0, 0, 0, 0, 0};
  kl_grid_sync(barrier);

  for (int budget = levels, small_levels = 0;; budget--) {
    state.arcs = totals.arcs;
    state.longest = totals.longest;
    state.large = totals.large;
    state.targets_left -= totals.targets;
    state.done = outcome(totals.arcs, state.level, limit, target_bits, state.targets_left);
    state.queued = state.queued != 0 && totals.longest <= queue_capacity / state.writers;
    small_levels =
        totals.arcs < static_cast<unsigned>(narrow_arcs) && state.queued ? small_levels + 1 : 0;
    if (state.done != kRunning || budget == 0 || small_levels == kSmallLevels) break;
    Totals* const next = all_totals + (state.level + 1) % 3;
    if (thread == 0) all_totals[(state.level + 2) % 3] = {0, 0, 0, 0, 0};
    if (first_thread) tail = 0, ranges_tail = 0, block_targets = 0, block_large = 0, block_arcs = 0;
    __syncthreads();

    const int next_level = state.level + 1;
    const long long half = state.level & 1;
    const KlQueue frontier = {entries + half * queue_capacity, counts + half * max_lists,
                              state.writers, queue_capacity / state.writers};
    const KlQueue queue = {entries + (half ^ 1) * queue_capacity, counts + (half ^ 1) * max_lists,
                           blocks, list_capacity};
    unsigned* const seen = bits + static_cast<long long>(state.seen_index) * words;
    const bool pulls =
        in_neighbors != nullptr && totals.arcs > static_cast<unsigned long long>(pull_arcs);
    unsigned long long arcs = 0;
    int large = 0;

    const auto settle = [&](int v, int predecessor, int degree) {
      kl_store(distances + v, next_level);  // a sweep may read it
      if (predecessors != nullptr) predecessors[v] = predecessor;
      if (target_bits != nullptr && has(target_bits, v)) atomicAdd(&block_targets, 1);
      arcs += degree;
      large += degree > kRangeArcs;
    };
    const auto visit = [&](bool active, int predecessor, long long arc) {
      int v = 0, degree = 0;
      long long begin = 0;
      bool unvisited = false;
      if (active) {
        v = __ldg(neighbors + arc);
        unsigned* const word = seen + (v >> 5);
        const unsigned bit = 1u << (v & 31);
        if ((kl_load(word) & bit) == 0 && (atomicOr(word, bit) & bit) == 0) {
          begin = __ldg(offsets + v);
          degree = static_cast<int>(__ldg(offsets + v + 1) - begin);
          unvisited = true;
          settle(v, predecessor, degree);
        }
      }
      kl_append(queue, &tail, v, predecessor, begin, unvisited ? degree : 0);
    };

    if (pulls) {
      unsigned* const next_seen = bits + static_cast<long long>(state.seen_index ^ 1) * words;
      for (long long w = warp; w < words; w += warps) {
        const unsigned old = seen[w], skipped = old | unreachable[w];
        const int v = static_cast<int>(w) * 32 + lane;
        int predecessor = -1;
        if (skipped != kAllLanes) {
          long long i = 0, end = 0;
          if (((skipped >> lane) & 1) == 0) {
            i = __ldg(in_offsets + v);
            end = __ldg(in_offsets + v + 1);
            const long long enough = min(end, i + kSerialArcs);
            while (i < enough && predecessor < 0) {
              const int u = __ldg(in_neighbors + i++);
              if (has(seen, u)) predecessor = u;
            }
          }
          unsigned left = __ballot_sync(kAllLanes, predecessor < 0 && i < end);
          for (; left != 0; left &= left - 1) {  // all lanes scan the remaining long rows
            const int source_lane = __ffs(left) - 1;
            const long long stop = __shfl_sync(kAllLanes, end, source_lane);
            unsigned hits = 0;
            for (long long j = __shfl_sync(kAllLanes, i, source_lane); j < stop && hits == 0;
                 j += 32) {
              const int u = j + lane < stop ? __ldg(in_neighbors + j + lane) : -1;
              hits = __ballot_sync(kAllLanes, u >= 0 && has(seen, u));
              const int hit = __shfl_sync(kAllLanes, u, hits == 0 ? 0 : __ffs(hits) - 1);
              if (hits != 0 && lane == source_lane) predecessor = hit;
            }
          }
        }
        const unsigned unvisited = __ballot_sync(kAllLanes, predecessor >= 0);
        if (lane == 0) next_seen[w] = old | unvisited;
        if (predecessor >= 0) {
          settle(v, predecessor, static_cast<int>(__ldg(offsets + v + 1) - __ldg(offsets + v)));
        }
      }
    } else {
      const KlQueue range_queue = {ranges, range_counts, blocks, list_capacity};
      const auto process = [&](KlArcRange range) {
        const bool split = range.degree > kRangeArcs;
        if (split && range.degree == kDegreeOverflow) {
          range.degree = static_cast<int>(__ldg(offsets + range.vertex + 1) - range.begin);
        }
        kl_append_ranges(range_queue, &ranges_tail, split, range);
        kl_expand(range, visit);
      };
      if (state.queued) {
        kl_drain(frontier, totals.longest, process);
      } else {
        for (long long w = warp; w < words; w += warps) {
          const int v = static_cast<int>(w) * 32 + lane;
          KlArcRange range = {v, 0, 0, 0};
          // Concurrent writes are of the next level, never equal to this one.
          if (v < n && kl_load(distances + v) == state.level) {
            range.begin = __ldg(offsets + v);
            range.degree = static_cast<int>(__ldg(offsets + v + 1) - range.begin);
          }
          if (__any_sync(kAllLanes, range.degree > 0)) process(range);
        }
      }
      if (totals.large != 0 || !state.queued) {
        __syncthreads();
        if (first_thread) {
          range_counts[blockIdx.x] = min(ranges_tail, list_capacity);
          if (ranges_tail != 0) atomicMax(&next->ranges, ranges_tail);
        }
        kl_grid_sync(barrier);
        kl_drain(range_queue, kl_load(&next->ranges),
                 [&](const KlArcRange& range) { kl_expand(range, visit); });
      }
    }

    const unsigned low = __reduce_add_sync(kAllLanes, static_cast<unsigned>(arcs & 0xffffff));
    const unsigned high = __reduce_add_sync(kAllLanes, static_cast<unsigned>(arcs >> 24));
    large = __reduce_add_sync(kAllLanes, large);
    if (lane == 0 && large != 0) atomicAdd(&block_large, large);
    if (lane == 0 && (low | high) != 0) {
      atomicAdd(&block_arcs, (static_cast<unsigned long long>(high) << 24) + low);
    }
    __syncthreads();
    if (first_thread) {
      queue.counts[blockIdx.x] = min(tail, list_capacity);
      if (block_arcs != 0) {
        atomicAdd(&next->arcs, block_arcs);
        atomicMax(&next->longest, tail);
        if (block_large != 0) atomicAdd(&next->large, block_large);
      }
      if (block_targets != 0) atomicAdd(&next->targets, block_targets);
    }
    state.queued = !pulls;
    state.seen_index ^= static_cast<int>(pulls);
    state.writers = blocks;
    state.level = next_level;
    kl_grid_sync(barrier);
    totals = all_totals[state.level % 3];
  }
  if (thread == 0) *saved_state = state;
}
