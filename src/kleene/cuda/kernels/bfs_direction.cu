// Breadth-first search in one launch: no level goes back to the host. After Beamer et al. 2012.
//
// A level is done in one of three ways, chosen by all blocks from the same totals:
//   push   the frontier is in the queue (frontier.cuh), its vertices mark their neighbours;
//   sweep  the same for a frontier that is not in the queue: the vertices of this depth, all looked
//          at; those with very many arcs wait in a list, and then all warps share each;
//   pull   every vertex that was not found looks for one that was among the sources of its arcs,
//          and stops at the first. Found before this level means found in the level before: had it
//          been earlier, the vertex would have been found too. So one bit per vertex is enough,
//          and the bits of this level go to a second set.
// Frontiers that are too long for the queue are cut, and then swept.
//
// While a frontier has few arcs, few blocks play and the others sleep: a barrier among them takes
// less time, and none at all for a block alone.
#include "frontier.cuh"
#include "kleene.cuh"

const int kThreads = 512;      // of a block at most
const int kHub = 4096;         // arcs of a vertex that all warps share in a sweep
const int kAlone = 32;         // arcs that a thread looks through by itself in a pull
const int kHurried = 1 << 17;  // with fewer arcs, time is spent on waiting, not on work

// What a level adds up; three of them take turns: one is read, one is added to, one is cleared.
struct Totals {
  unsigned long long arcs;  // that leave what was found
  int longest;              // list of a block
  int hubs;
  int targets;
  int unused;
};

// What all players know. It is in memory for blocks that wake up, and for the next launch.
struct State {
  unsigned long long explored;  // arcs that leave vertices found so far
  int level;                    // of the frontier
  int done;                     // 1: all is found, 2: enough is
  int queued;                   // is the frontier in the queue?
  int turned;                   // which set of bits is the one to read
  int wanted;                   // targets that were not found
  int players;                  // blocks that are awake
  int writers;                  // blocks that wrote the queue
  int budget;                   // levels of this launch that are left
  unsigned call;
  int unused;
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

KL_KERNEL_BOUNDS(kThreads, 2, bfs_direction, const long long* offsets, const int* neighbors,
                 const long long* in_offsets, const int* in_neighbors, const unsigned* closed,
                 const unsigned* wanted, int n, long long m, int source, int limit, int levels,
                 int alpha, int few, int few_arcs, int alone_arcs, int* depths, int* parents,
                 unsigned* bits, int4* entries, int* counts, int capacity, int* hubs,
                 unsigned long long* totals_at, unsigned long long* state_at, unsigned* barrier,
                 unsigned* call) {
  __shared__ int tail;
  __shared__ int targets_here;
  __shared__ unsigned long long arcs_here;
  Totals* const totals = reinterpret_cast<Totals*>(totals_at);
  State* const state = reinterpret_cast<State*>(state_at);
  const int lane = kl_lane(), blocks = gridDim.x;
  const int words = (n + 31) / 32;
  const long long thread = static_cast<long long>(blockIdx.x) * blockDim.x + threadIdx.x;
  const bool first_thread = threadIdx.x == 0;
  const long long room = static_cast<long long>(capacity) * blocks;
  const auto queue_of = [&](int level, int writers) -> KlQueue {
    const long long side = level & 1;
    return {entries + side * room, counts + side * blocks, writers,
            static_cast<int>(min(room / writers, 0x7fffffffll))};
  };

  State at = *state;
  at.players = blocks;
  at.budget = levels;
  at.call = 0;
  if (at.level < 0) {  // nothing was done yet
    const long long threads = static_cast<long long>(blocks) * blockDim.x;
    for (long long i = thread; i < 2ll * words; i += threads) bits[i] = 0;
    kl_grid_sync(barrier);
    if (blockIdx.x == 0 && threadIdx.x < 32) {
      const long long begin = offsets[source];
      const int degree = static_cast<int>(offsets[source + 1] - begin);
      if (lane == 0) {
        tail = 0;
        bits[source >> 5] = 1u << (source & 31);
        depths[source] = 0;
      }
      __syncwarp();
      kl_append(queue_of(0, 1), &tail, source, begin, lane == 0 ? degree : 0);
      __syncwarp();
      if (lane == 0) {
        const int targets = wanted != nullptr && has(wanted, source);
        counts[0] = tail;
        totals[0] = {static_cast<unsigned long long>(degree), tail, 0, targets, 0};
        totals[1] = {0, 0, 0, 0, 0};
      }
    }
    at.level = at.done = at.turned = 0;
    at.explored = 0;
    at.queued = at.writers = 1;
  }
  kl_grid_sync(barrier);

  for (bool joined = false;;) {
    const KlQueue frontier = queue_of(at.level, at.writers);
    const KlHead head = kl_head(frontier);
    const Totals now = totals[at.level % 3];
    if (!joined) {
      at.explored += now.arcs;
      at.wanted -= now.targets;
      if (now.arcs == 0) at.done = 1;
      if (at.level >= limit || (wanted != nullptr && at.wanted == 0)) at.done = 2;
      const auto fit = [&](unsigned long long arcs) {
        return arcs > static_cast<unsigned>(few_arcs)     ? blocks
               : arcs > static_cast<unsigned>(alone_arcs) ? few
                                                          : 1;
      };
      const bool ends = at.done != 0 || at.budget-- == 0;
      const int most = ends ? blocks : fit(now.arcs), least = ends ? blocks : fit(2 * now.arcs);
      if (most > at.players) {
        const unsigned before = at.call;
        at.players = most;
        at.call = kl_next_call(at.call, most);
        if (thread == 0) {
          if (ends) at.explored -= now.arcs, at.wanted += now.targets;  // the next launch looks again
          *state = at;
          kl_release_add(call, at.call - before);
        }
      } else if (least < at.players) {
        kl_meet(barrier, at.players);  // until all have read the totals
        at.players = least;
        if (static_cast<int>(blockIdx.x) >= least) {
          kl_sleep(call, at.call);
          at = *state;
          if (at.done != 0 || at.budget < 0) return;
          joined = true;
          continue;
        }
      } else if (ends && thread == 0) {
        at.explored -= now.arcs, at.wanted += now.targets;
        *state = at;
      }
      if (ends) return;
    }
    joined = false;
    Totals* const next = totals + (at.level + 1) % 3;
    if (thread == 0) totals[(at.level + 2) % 3] = {0, 0, 0, 0, 0};
    if (first_thread) tail = 0, arcs_here = 0, targets_here = 0;
    __syncthreads();

    const int depth = at.level + 1;
    const KlQueue queue = queue_of(depth, at.players);
    const long long warps = static_cast<long long>(at.players) * blockDim.x / 32;
    const long long warp = thread / 32;
    unsigned* const seen = bits + static_cast<long long>(at.turned) * words;
    const bool pulls = in_neighbors != nullptr && now.arcs > static_cast<unsigned>(n) / 16 &&
                       now.arcs * alpha > static_cast<unsigned long long>(m) - at.explored;
    const bool hurried = now.arcs < kHurried;
    unsigned long long arcs = 0;

    const auto reach = [&](int v, int from, int degree) {
      kl_store(depths + v, depth);  // a sweep may be reading it
      if (parents != nullptr) parents[v] = from;
      if (wanted != nullptr && has(wanted, v)) atomicAdd(&targets_here, 1);
      arcs += degree;
    };
    const auto visit = [&](bool active, int from, long long arc) {
      int v = 0, degree = 0;
      long long begin = 0;
      bool fresh = false;
      if (active) {
        v = __ldg(neighbors + arc);
        unsigned* const word = seen + (v >> 5);
        const unsigned bit = 1u << (v & 31);
        if (hurried) {  // all that may be needed at once, rather than one after the other
          begin = __ldg(offsets + v);
          degree = static_cast<int>(__ldg(offsets + v + 1) - begin);
          fresh = (atomicOr(word, bit) & bit) == 0;
        } else if ((kl_load(word) & bit) == 0 && (atomicOr(word, bit) & bit) == 0) {
          begin = __ldg(offsets + v);
          degree = static_cast<int>(__ldg(offsets + v + 1) - begin);
          fresh = true;
        }
      }
      if (fresh) {
        if (hurried && degree > 0) kl_prefetch(neighbors + begin);
        reach(v, from, degree);
      }
      kl_append(queue, &tail, v, begin, fresh ? degree : 0);
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
    } else if (at.queued && now.longest <= frontier.capacity) {
      kl_drain(frontier, head, now.longest, at.players,
               [&](const KlPiece& piece) { kl_expand(piece, visit); });
    } else {
      for (long long w = warp; w < words; w += warps) {
        const int v = static_cast<int>(w) * 32 + lane;
        KlPiece piece = {v, 0, 0};
        // Others write depths meanwhile, but none that equal this level.
        if (v < n && kl_load(depths + v) == at.level) {
          piece.begin = __ldg(offsets + v);
          piece.degree = static_cast<int>(__ldg(offsets + v + 1) - piece.begin);
          if (piece.degree > kHub) {
            hubs[atomicAdd(&next->hubs, 1)] = v;
            piece.degree = 0;
          }
        }
        if (__ballot_sync(kWarp, piece.degree > 0) != 0) kl_expand(piece, visit);
      }
      kl_meet(barrier, at.players);
      const int many = kl_load(&next->hubs);
      for (int h = 0; h < many; h++) {
        const int u = hubs[h];
        const long long end = __ldg(offsets + u + 1);
        for (long long i = __ldg(offsets + u) + warp * 32; i < end; i += warps * 32) {
          visit(i + lane < end, u, i + lane);
        }
      }
    }

    const unsigned low = __reduce_add_sync(kWarp, static_cast<unsigned>(arcs & 0xffffff));
    const unsigned high = __reduce_add_sync(kWarp, static_cast<unsigned>(arcs >> 24));
    if (lane == 0 && (low | high) != 0) {
      atomicAdd(&arcs_here, (static_cast<unsigned long long>(high) << 24) + low);
    }
    __syncthreads();
    if (first_thread) {
      queue.counts[blockIdx.x] = min(tail, queue.capacity);
      if (arcs_here != 0) {
        atomicAdd(&next->arcs, arcs_here);
        atomicMax(&next->longest, tail);
      }
      if (targets_here != 0) atomicAdd(&next->targets, targets_here);
    }
    at.queued = !pulls;
    at.turned ^= static_cast<int>(pulls);
    at.writers = at.players;
    at.level = depth;
    kl_meet(barrier, at.players);
  }
}
