// Breadth-first search in few launches, however many levels there are. After Beamer et al. 2012.
//
// bfs_wide runs levels that have work for the whole GPU, each in one of three ways that all blocks
// choose from the same totals:
//   push   the frontier is in the queue (frontier.cuh), its vertices mark their neighbours; those
//          with many arcs are cut into pieces, which all warps share after a barrier;
//   sweep  the same for a frontier that is not in the queue: the vertices of this depth, all looked
//          at;
//   pull   every vertex that was not found looks for one that was among the sources of its arcs,
//          and stops at the first. Found before this level means found in the level before: had it
//          been earlier, the vertex would have been found too. So one bit per vertex is enough,
//          and the bits of this level go to a second set.
// Frontiers that are too long for the queue are cut, and then swept.
//
// bfs_narrow runs levels that have little work, where time goes into waiting for memory and for
// each other: few blocks of few threads, no decisions, the total of a level added up by the barrier
// itself, depths written one level late, so that nobody waits for them. Each of the two leaves when
// the frontier suits the other.
#include "frontier.cuh"
#include "kleene.cuh"

const int kWideThreads = 512;
const int kNarrowThreads = 256;
const int kNear = 16;       // vertices on: those of a line of offsets, likely to come soon
const int kAlone = 32;      // arcs that a thread looks through by itself in a pull
const int kCalm = 4;        // levels with little work in a row, after which bfs_wide leaves
const int kMuch = 1 << 18;  // arcs that stand for a vertex with too many for bfs_narrow
const unsigned long long kCut = 1ull << 36;  // arcs that stand for "the queue was cut"

enum Done { kGoesOn, kAll, kEnough };

// What all know between launches.
struct State {
  unsigned long long met, met_before;  // words of the barrier of bfs_narrow that take turns
  unsigned long long arcs;             // of the frontier
  int level;                           // of the frontier
  int done;
  int queued;   // is the frontier in the queue?
  int writers;  // lists of the queue
  int longest;  // of them
  int large;    // entries to be cut into pieces
  int turned;   // which set of bits is the one to read
  int wanted;   // targets that were not found
  int turn;     // of the two words
  int unused;
};

// What a level adds up; three of them take turns: one is read, one is added to, one is cleared.
struct Totals {
  unsigned long long arcs;  // that leave what was found
  int longest;              // list of a block
  int large;                // vertices to be cut into pieces
  int pieces;               // in the longest list of them
  int targets;
};

__device__ __forceinline__ bool has(const unsigned* bits, int v) {
  return (bits[v >> 5] >> (v & 31)) & 1;
}

// Marks the vertices without incoming arcs: nobody finds them.
KL_KERNEL(bfs_closed, const long long* offsets, int n, unsigned* closed) {
  const long long stride = static_cast<long long>(gridDim.x) * blockDim.x;
  const long long padded = (static_cast<long long>(n) + 31) & ~31ll;
  for (long long v = static_cast<long long>(blockIdx.x) * blockDim.x + threadIdx.x; v < padded;
       v += stride) {
    const unsigned word = __ballot_sync(kWarp, v >= n || offsets[v] == offsets[v + 1]);
    if (kl_lane() == 0) closed[v >> 5] = word;
  }
}

// Finds the source and forgets what was before.
KL_KERNEL(bfs_begin, const long long* offsets, const unsigned* wanted, int targets, int words,
          int source, int room, int* depths, unsigned* bits, int4* entries, int* counts,
          unsigned long long* totals_at, unsigned long long* state_at,
          unsigned long long* meeting) {
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
  const KlQueue queue = {entries, counts, 1, room};
  kl_append(queue, &tail, source, -1, begin, thread == 0 ? degree : 0);
  __syncwarp();
  if (thread != 0) return;
  depths[source] = 0;
  counts[0] = tail;
  meeting[0] = meeting[1] = 0;
  Totals* const totals = reinterpret_cast<Totals*>(totals_at);
  totals[0] = totals[1] = totals[2] = {0, 0, 0, 0, 0};
  const int left = targets - (wanted != nullptr && has(wanted, source));
  const unsigned long long arcs = degree;
  *reinterpret_cast<State*>(state_at) = {0, 0,    arcs, 0, kGoesOn, 1, 1, tail, degree > kPiece,
                                         0, left, 0,    0};
}

// Has the search ended?
__device__ __forceinline__ int outcome(unsigned long long arcs, int level, int limit,
                                       const unsigned* wanted, int left) {
  return level >= limit || (wanted != nullptr && left == 0) ? kEnough : arcs == 0 ? kAll : kGoesOn;
}

KL_KERNEL_BOUNDS(kNarrowThreads, 1, bfs_narrow, const long long* offsets, const int* neighbors,
                 const unsigned* wanted, int n, int limit, int levels, int most, int* depths,
                 int* parents, unsigned* bits, int4* entries, int* counts, int most_lists, int room,
                 unsigned long long* totals_at, unsigned long long* state_at,
                 unsigned long long* meeting) {
  __shared__ int tail, targets_here, targets_all;
  __shared__ unsigned arcs_here;
  __shared__ unsigned long long met;
  Totals* const totals = reinterpret_cast<Totals*>(totals_at);
  State* const state = reinterpret_cast<State*>(state_at);
  State at = *state;
  unsigned* const seen = bits + static_cast<long long>(at.turned) * ((n + 31) / 32);
  const int lane = kl_lane(), blocks = gridDim.x, side = room / blocks;
  const bool first_thread = threadIdx.x == 0;
  const unsigned warps = blocks * (blockDim.x / 32);
  const unsigned place = lane / 4 * warps + blockIdx.x * (blockDim.x / 32) + threadIdx.x / 32;
  const int own_list = place % blocks, own_k = place / blocks, step = blockDim.x / 4;
  if (first_thread) tail = 0, targets_here = 0, arcs_here = 0;
  if (first_thread && blockIdx.x == 0) kl_store(&totals[(at.level + 2) % 3].targets, 0);
  __syncthreads();

  for (int budget = levels;; budget--) {
    const long long half = at.level & 1;
    const KlQueue frontier = {entries + half * room, counts + half * most_lists, at.writers,
                              room / at.writers};
    const KlQueue queue = {entries + (half ^ 1) * room, counts + (half ^ 1) * most_lists, blocks,
                           side};
    at.done = outcome(at.arcs, at.level, limit, wanted, at.wanted);
    const bool leaves = at.done != kGoesOn || budget == 0 || at.large != 0 || at.queued == 0 ||
                        at.arcs > static_cast<unsigned>(most);
    unsigned arcs = 0;

    // All that may be needed is asked for at once, rather than one thing after the other; and what
    // the next levels may ask for is brought near.
    const auto visit = [&](bool active, int from, long long arc) {
      int v = 0, degree = 0;
      long long begin = 0;
      bool fresh = false;
      if (active) {
        v = __ldg(neighbors + arc);
        const unsigned bit = 1u << (v & 31);
        const unsigned old = atomicOr(seen + (v >> 5), bit);
        begin = __ldg(offsets + v);
        degree = static_cast<int>(__ldg(offsets + v + 1) - begin);
        fresh = (old & bit) == 0;
      }
      if (fresh) {
        kl_prefetch(neighbors + begin);
        if (v > kNear) kl_prefetch(offsets + v - kNear);
        if (v < n - kNear) kl_prefetch(offsets + v + kNear);
        if (wanted != nullptr && has(wanted, v)) atomicAdd(&targets_here, 1);
        arcs += degree > kPiece ? kMuch : degree;
      }
      const bool kept = kl_append(queue, &tail, v, from, begin, fresh ? degree : 0);
      if (fresh && (degree == 0 || !kept)) {
        depths[v] = at.level + 1;
        if (parents != nullptr) parents[v] = from;
      }
    };
    // Four lanes have an entry together; what was found in the level before is written now.
    const auto take = [&](const KlPiece& piece) {
      const int own = lane & 3;
      if (own == 0 && piece.degree > 0) {
        depths[piece.vertex] = at.level;
        if (parents != nullptr) parents[piece.vertex] = piece.from;
      }
      if (leaves) return;
      for (int i = own; __any_sync(kWarp, i < piece.degree); i += 4) {
        visit(i < piece.degree, piece.vertex, piece.begin + i);
      }
    };

    int k = own_k, list = own_list, length = 0;
    unsigned slot = place;
    if (at.writers != blocks) k = place / at.writers, list = place % at.writers;
    const int kept = room / at.writers;
    int4 entry = make_int4(0, 0, 0, 0);
    if (k < kept) {
      entry = kl_fetch(frontier.entries + slot);
      length = kl_load(frontier.counts + list);
    }
    // When the lists are as many as the blocks, a lane stays with one of them.
    while (__any_sync(kWarp, at.writers == blocks ? k < length : k < at.longest)) {
      take(k < length ? kl_unpack(entry) : KlPiece{0, 0, 0, 0});
      slot += 8 * warps;
      k += step;
      if (at.writers != blocks) {
        k = slot / at.writers;
        length = k < kept ? kl_load(frontier.counts + slot % at.writers) : 0;
      }
      if (k < length) entry = kl_fetch(frontier.entries + slot);
    }
    if (leaves && budget < levels) break;  // else others may not have read the state yet

    arcs = __reduce_add_sync(kWarp, arcs);
    if (lane == 0 && arcs != 0) atomicAdd(&arcs_here, arcs);
    __syncthreads();
    Totals* const next = totals + (at.level + 1) % 3;
    if (first_thread) {
      queue.counts[blockIdx.x] = min(tail, side);
      if (targets_here != 0) atomicAdd(&next->targets, targets_here);
      const unsigned long long sum = arcs_here + (tail > side ? kCut : 0);
      // Who is fast adds to the other word while others still read this one.
      unsigned long long* const word = meeting + at.turn;
      met = blocks == 1 ? at.met + (sum << 16) : kl_meet_and_add(word, at.met, sum);
      if (wanted != nullptr) {
        targets_all = kl_load(&next->targets);
        if (blockIdx.x == 0) kl_store(&totals[(at.level + 3) % 3].targets, 0);
      }
      tail = 0, targets_here = 0, arcs_here = 0;
    }
    __syncthreads();
    const unsigned long long found = kl_added(met, at.met);
    at.met = at.met_before;
    at.met_before = met;
    at.turn ^= 1;
    if (leaves) break;
    at.arcs = found;
    at.queued = at.arcs < kCut;
    if (wanted != nullptr) at.wanted -= targets_all;
    at.writers = blocks;
    at.level++;
  }

  // What bfs_wide wants to know.
  if (blockIdx.x != 0 || threadIdx.x >= 32) return;
  const int* const lengths = counts + (at.level & 1) * most_lists;
  int longest = 0;
  for (int i = lane; i < at.writers; i += 32) longest = max(longest, kl_load(lengths + i));
  at.longest = __reduce_max_sync(kWarp, longest);
  at.large |= at.arcs >= kMuch;
  if (lane != 0) return;
  *state = at;
}

KL_KERNEL_BOUNDS(kWideThreads, 2, bfs_wide, const long long* offsets, const int* neighbors,
                 const long long* in_offsets, const int* in_neighbors, const unsigned* closed,
                 const unsigned* wanted, int n, int limit, int levels, int little, long long much,
                 int* depths, int* parents, unsigned* bits, int4* entries, int* counts,
                 int most_lists, int room, int4* pieces, int* piece_counts,
                 unsigned long long* totals_at, unsigned long long* state_at, unsigned* barrier) {
  __shared__ int tail, pieces_tail, targets_here, large_here;
  __shared__ unsigned long long arcs_here;
  Totals* const totals = reinterpret_cast<Totals*>(totals_at);
  State* const state = reinterpret_cast<State*>(state_at);
  const int lane = kl_lane(), blocks = gridDim.x, side = room / blocks;
  const int words = (n + 31) / 32;
  const long long thread = static_cast<long long>(blockIdx.x) * blockDim.x + threadIdx.x;
  const long long warps = static_cast<long long>(blocks) * (blockDim.x / 32), warp = thread / 32;
  const bool first_thread = threadIdx.x == 0;
  State at = *state;
  Totals now = {at.arcs, at.longest, at.large, 0, 0};
  if (thread == 0) totals[0] = totals[1] = totals[2] = {0, 0, 0, 0, 0};
  kl_grid_sync(barrier);

  for (int budget = levels, calm = 0;; budget--) {
    at.arcs = now.arcs;
    at.longest = now.longest;
    at.large = now.large;
    at.wanted -= now.targets;
    at.done = outcome(now.arcs, at.level, limit, wanted, at.wanted);
    at.queued = at.queued != 0 && now.longest <= room / at.writers;
    calm = now.arcs < static_cast<unsigned>(little) && at.queued ? calm + 1 : 0;
    if (at.done != kGoesOn || budget == 0 || calm == kCalm) break;
    Totals* const next = totals + (at.level + 1) % 3;
    if (thread == 0) totals[(at.level + 2) % 3] = {0, 0, 0, 0, 0};
    if (first_thread) tail = 0, pieces_tail = 0, targets_here = 0, large_here = 0, arcs_here = 0;
    __syncthreads();

    const int depth = at.level + 1;
    const long long half = at.level & 1;
    const KlQueue frontier = {entries + half * room, counts + half * most_lists, at.writers,
                              room / at.writers};
    const KlQueue queue = {entries + (half ^ 1) * room, counts + (half ^ 1) * most_lists, blocks,
                           side};
    unsigned* const seen = bits + static_cast<long long>(at.turned) * words;
    const bool pulls = in_neighbors != nullptr && now.arcs > static_cast<unsigned long long>(much);
    unsigned long long arcs = 0;
    int large = 0;

    const auto reach = [&](int v, int from, int degree) {
      kl_store(depths + v, depth);  // a sweep may be reading it
      if (parents != nullptr) parents[v] = from;
      if (wanted != nullptr && has(wanted, v)) atomicAdd(&targets_here, 1);
      arcs += degree;
      large += degree > kPiece;
    };
    const auto visit = [&](bool active, int from, long long arc) {
      int v = 0, degree = 0;
      long long begin = 0;
      bool fresh = false;
      if (active) {
        v = __ldg(neighbors + arc);
        unsigned* const word = seen + (v >> 5);
        const unsigned bit = 1u << (v & 31);
        if ((kl_load(word) & bit) == 0 && (atomicOr(word, bit) & bit) == 0) {
          begin = __ldg(offsets + v);
          degree = static_cast<int>(__ldg(offsets + v + 1) - begin);
          fresh = true;
          reach(v, from, degree);
        }
      }
      kl_append(queue, &tail, v, from, begin, fresh ? degree : 0);
    };

    if (pulls) {
      unsigned* const after = bits + static_cast<long long>(at.turned ^ 1) * words;
      for (long long w = warp; w < words; w += warps) {
        const unsigned old = seen[w], skipped = old | closed[w];
        const int v = static_cast<int>(w) * 32 + lane;
        int from = -1;
        if (skipped != kWarp) {
          long long i = 0, end = 0;
          if (((skipped >> lane) & 1) == 0) {
            i = __ldg(in_offsets + v);
            end = __ldg(in_offsets + v + 1);
            const long long enough = min(end, i + kAlone);
            while (i < enough && from < 0) {
              const int u = __ldg(in_neighbors + i++);
              if (has(seen, u)) from = u;
            }
          }
          unsigned left = __ballot_sync(kWarp, from < 0 && i < end);
          for (; left != 0; left &= left - 1) {  // long rows, one after the other, by all lanes
            const int owner = __ffs(left) - 1;
            const long long stop = __shfl_sync(kWarp, end, owner);
            unsigned hits = 0;
            for (long long j = __shfl_sync(kWarp, i, owner); j < stop && hits == 0; j += 32) {
              const int u = j + lane < stop ? __ldg(in_neighbors + j + lane) : -1;
              hits = __ballot_sync(kWarp, u >= 0 && has(seen, u));
              const int hit = __shfl_sync(kWarp, u, hits == 0 ? 0 : __ffs(hits) - 1);
              if (hits != 0 && lane == owner) from = hit;
            }
          }
        }
        const unsigned fresh = __ballot_sync(kWarp, from >= 0);
        if (lane == 0) after[w] = old | fresh;
        if (from >= 0) {
          reach(v, from, static_cast<int>(__ldg(offsets + v + 1) - __ldg(offsets + v)));
        }
      }
    } else {
      const KlQueue cut = {pieces, piece_counts, blocks, side};
      const auto take = [&](KlPiece piece) {
        const bool cuts = piece.degree > kPiece;
        if (cuts && piece.degree == kUncounted) {
          piece.degree = static_cast<int>(__ldg(offsets + piece.vertex + 1) - piece.begin);
        }
        kl_append_pieces(cut, &pieces_tail, cuts, piece);
        kl_expand(piece, visit);
      };
      if (at.queued) {
        kl_drain(frontier, now.longest, take);
      } else {
        for (long long w = warp; w < words; w += warps) {
          const int v = static_cast<int>(w) * 32 + lane;
          KlPiece piece = {v, 0, 0, 0};
          // Others write depths meanwhile, but none that equal this level.
          if (v < n && kl_load(depths + v) == at.level) {
            piece.begin = __ldg(offsets + v);
            piece.degree = static_cast<int>(__ldg(offsets + v + 1) - piece.begin);
          }
          if (__any_sync(kWarp, piece.degree > 0)) take(piece);
        }
      }
      if (now.large != 0 || !at.queued) {
        __syncthreads();
        if (first_thread) {
          piece_counts[blockIdx.x] = min(pieces_tail, side);
          if (pieces_tail != 0) atomicMax(&next->pieces, pieces_tail);
        }
        kl_grid_sync(barrier);
        kl_drain(cut, kl_load(&next->pieces),
                 [&](const KlPiece& piece) { kl_expand(piece, visit); });
      }
    }

    const unsigned low = __reduce_add_sync(kWarp, static_cast<unsigned>(arcs & 0xffffff));
    const unsigned high = __reduce_add_sync(kWarp, static_cast<unsigned>(arcs >> 24));
    large = __reduce_add_sync(kWarp, large);
    if (lane == 0 && large != 0) atomicAdd(&large_here, large);
    if (lane == 0 && (low | high) != 0) {
      atomicAdd(&arcs_here, (static_cast<unsigned long long>(high) << 24) + low);
    }
    __syncthreads();
    if (first_thread) {
      queue.counts[blockIdx.x] = min(tail, side);
      if (arcs_here != 0) {
        atomicAdd(&next->arcs, arcs_here);
        atomicMax(&next->longest, tail);
        if (large_here != 0) atomicAdd(&next->large, large_here);
      }
      if (targets_here != 0) atomicAdd(&next->targets, targets_here);
    }
    at.queued = !pulls;
    at.turned ^= static_cast<int>(pulls);
    at.writers = blocks;
    at.level = depth;
    kl_grid_sync(barrier);
    now = totals[at.level % 3];
  }
  if (thread == 0) *state = at;
}
