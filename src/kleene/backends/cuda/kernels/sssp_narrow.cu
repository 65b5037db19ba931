// Shortest paths from one source where frontiers are small and paths long: roads and grids. Like
// sssp_near_far.cu, near vertices first, far ones later, until nothing is near; but made for
// waiting less. A hop is one barrier among few blocks, which also adds up how many vertices are
// near next; four lanes have a vertex together; whatever a hop needs was asked for as early as
// it was known. Between two barriers a block goes on for some hops with what it found itself.
//
// Distances below the threshold are near. An entry, near or far, holds the distance it was made
// with, and is out of date unless that is still the distance of its vertex. Each block keeps the
// far vertices it found. When nothing is near, the smallest far distance is found, the threshold
// rises to delta above it, and every block looks through its far vertices. Delta is doubled when
// there were few near vertices between barriers, and halved when there were so many that better
// distances are found for most of them later. What a list has no room for is a bit of its vertex;
// all bits are looked at whenever the threshold rises.
#include "near_far.cuh"

const int kThreads = 256;
const int kLocal = 256;  // entries that a block keeps to itself for its next hop
const int kNear = 16;    // vertices on: those of a line of offsets, likely to come soon

enum Done { kGoesOn, kAll, kEnough };

// What all blocks know, between launches.
struct State {
  unsigned long long met, met_before;  // words of the barrier that take turns
  unsigned long long threshold;
  unsigned long long horizon;   // everything up to here is final, if enough is found
  unsigned long long expanded;  // entries taken
  unsigned long long overflow;  // was a sum too large for the type?
  double delta;
  long long entries;  // near ones since the threshold was raised
  long long rounds;   // since then
  int near;           // entries of the queue
  int spilled;        // are there bits to look at?
  int done;
  int hop;
  int bucket;  // how often the threshold was raised
  int turn;    // of the two words
  int sweeps;  // how often there were bits to look at
  int unused;
};

// What is found when the threshold rises; three of them take turns.
struct Rise {
  unsigned long long nearest;   // far distance, all bits turned
  unsigned long long farthest;  // of the targets
  unsigned unsettled;           // targets
  unsigned unused;
};

struct Control {
  State state;
  Rise rises[3];
};

KL_KERNEL(sssp_narrow_begin, int source, int n, Word* distances, unsigned* spilled,
          int* far_vertices, Word* far_words, int* far_counts, int blocks,
          unsigned long long* control_at, unsigned long long* meeting) {
  const long long stride = static_cast<long long>(gridDim.x) * blockDim.x;
  const long long thread = static_cast<long long>(blockIdx.x) * blockDim.x + threadIdx.x;
  for (long long v = thread; v < n; v += stride) {
    distances[v] = v == source ? 0 : kNone;
    if (v % 32 == 0) spilled[v / 32] = 0;
  }
  for (long long b = thread; b < blocks; b += stride) far_counts[b] = b == 0;
  if (thread != 0) return;
  far_vertices[0] = source;
  far_words[0] = 0;
  meeting[0] = meeting[1] = 0;
  *reinterpret_cast<Control*>(control_at) = {};
}

KL_KERNEL_BOUNDS(kThreads, 1, sssp_narrow, const long long* offsets, const int* neighbors,
                 const KL_TYPE* lengths, int n, unsigned long long limit_word, double least,
                 int hops, int locals, int few, int many_near, const int* targets, int target_count,
                 Word* distances, int4* entries, int* counts, int capacity, int* far_vertices,
                 Word* far_words, int* far_counts, int far_capacity, unsigned* spilled,
                 unsigned long long* control_at, unsigned long long* meeting) {
  __shared__ int4 local[2][kLocal];
  __shared__ int local_tails[3];  // hop s reads s + 2, writes s, clears s + 1, all modulo 3
  __shared__ int tail, far_tail, kept;
  __shared__ unsigned spills;
  __shared__ unsigned long long met, nearest_here;
  Control* const control = reinterpret_cast<Control*>(control_at);
  const int lane = kl_lane(), blocks = gridDim.x, block = blockIdx.x;
  const bool first_thread = threadIdx.x == 0;
  const unsigned before = (1u << lane) - 1;
  const unsigned warps = blocks * (blockDim.x / 32);
  const unsigned place = lane / 4 * warps + block * (blockDim.x / 32) + threadIdx.x / 32;
  const int own_list = place % blocks, own_k = place / blocks, step = blockDim.x / 4;
  int* const own_vertices = far_vertices + static_cast<long long>(block) * far_capacity;
  Word* const own_words = far_words + static_cast<long long>(block) * far_capacity;
  const Word limit = static_cast<Word>(limit_word);
  State at = control->state;
  Word threshold = static_cast<Word>(at.threshold);
  int4* queue = entries;
  int own = -1;  // the hop for which this block keeps what is near; -1: for all blocks
  if (at.delta == 0) at.delta = least;
  if (first_thread) {
    tail = local_tails[0] = local_tails[1] = local_tails[2] = 0;
    spills = at.spilled != 0 && block == 0;
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
  // The lanes' near vertices go into this block's list of the queue, long ones in pieces.
  const auto append_near = [&](int v, Word distance, long long begin, int degree) {
    unsigned some = __ballot_sync(kWarp, degree > 0);
    if (some == 0) return;
    unsigned large = __ballot_sync(kWarp, degree > kPiece);
    int k = 0;
    if (own >= 0 && some != large) {
      if (lane == 0) k = atomicAdd(local_tails + own % 3, __popc(some & ~large));
      k = __shfl_sync(kWarp, k, 0) + __popc(some & ~large & before);
      if (degree > 0 && degree <= kPiece && k < kLocal) {
        local[own & 1][k] = pack(v, distance, begin, degree);
        degree = 0;
      }
      some = __ballot_sync(kWarp, degree > 0);
      if (some == 0) return;
      k = 0;
    }
    if (lane == 0 && some != large) k = atomicAdd(&tail, __popc(some & ~large));
    k = __shfl_sync(kWarp, k, 0) + __popc(some & ~large & before);
    if (degree > 0 && degree <= kPiece) {
      if (k < capacity)
        put(k, v, distance, begin, degree);
      else
        spill(v);
    }
    for (; large != 0; large &= large - 1) {
      const int owner = __ffs(large) - 1;
      const int of = __shfl_sync(kWarp, v, owner), arcs = __shfl_sync(kWarp, degree, owner);
      const Word reached = __shfl_sync(kWarp, distance, owner);
      const long long start = __shfl_sync(kWarp, begin, owner);
      const int each = max(kPiece, (arcs - 1) / capacity + 1);  // so that a list has room for all
      const int pieces = (arcs - 1) / each + 1;
      int first = 0;
      if (lane == 0) first = atomicAdd(&tail, pieces);
      first = __shfl_sync(kWarp, first, 0);
      for (int i = lane; i < pieces && first + i < capacity; i += 32) {
        const int skipped = i * each;
        put(first + i, of, reached, start + skipped, min(each, arcs - skipped));
      }
      if (lane == 0 && first + pieces > capacity) spill(of);
    }
  };
  const auto append_far = [&](bool active, int v, Word distance) {
    const unsigned some = __ballot_sync(kWarp, active);
    if (some == 0) return;
    int first = 0;
    if (lane == 0) first = atomicAdd(&far_tail, __popc(some));
    first = __shfl_sync(kWarp, first, 0) + __popc(some & before);
    if (!active) return;
    if (first < far_capacity) {
      own_vertices[first] = v;
      own_words[first] = distance;
    } else {
      spill(v);
    }
  };
  // Four lanes relax the arcs of an entry.
  const auto take = [&](const Piece& piece) {
    Word from = 0;
    if (piece.degree > 0) from = kl_load(distances + piece.vertex);
    for (int i = lane & 3; __any_sync(kWarp, i < piece.degree); i += 4) {
      int v = 0, degree = 0;
      long long begin = 0;
      Word through = kNone, old = 0;
      if (i < piece.degree) {
        v = __ldg(neighbors + piece.begin + i);
        const KL_TYPE length = __ldg(lengths + piece.begin + i);
        if (tag_of(from) == piece.tag) through = sum(from, length);
        if (through == kNone && tag_of(from) == piece.tag && limit == kNone - 1) {
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
        if (v > kNear) kl_prefetch(offsets + v - kNear);
        if (v < n - kNear) kl_prefetch(offsets + v + kNear);
      }
      append_near(v, through, begin, near ? degree : 0);
      append_far(lower && !near, v, through);
    }
  };
  // All blocks wait for each other; a number is added up on the way.
  const auto meet = [&](unsigned long long number) {
    if (first_thread) {
      met = blocks == 1 ? at.met + (number << 16)
                        : kl_meet_and_add(meeting + at.turn, at.met, number);
    }
    __syncthreads();
    const unsigned long long added = kl_added(met, at.met);
    at.met = at.met_before;
    at.met_before = met;
    at.turn ^= 1;
    return added;
  };

  for (int budget = hops;; budget--) {
    const long long room = static_cast<long long>(capacity) * blocks;
    const int side = at.hop & 1;
    const int4* const full = entries + side * room;
    queue = entries + (side ^ 1) * room;
    if (budget == 0) break;
    if (at.near > 0) {
      int k = own_k, length = 0;
      unsigned slot = place;
      int4 entry = make_int4(0, 0, 0, 0);
      if (k < capacity) {
        entry = kl_fetch(full + slot);
        length = kl_load(counts + side * blocks + own_list);
      }
      own = locals > 0 ? 0 : -1;
      while (__any_sync(kWarp, k < length)) {
        take(k < length ? unpack(entry) : Piece{0, 0, 0, 0});
        k += step;
        slot += 8 * warps;
        if (k < length) entry = kl_fetch(full + slot);
      }
      for (int hop = 1; hop <= locals; hop++) {
        __syncthreads();
        const int size = min(local_tails[(hop + 2) % 3], kLocal);
        if (size == 0) break;
        own = hop < locals ? hop : -1;
        if (first_thread) local_tails[(hop + 1) % 3] = 0;
        const int first = (threadIdx.x & ~31) / 4;  // eight entries to a warp
        for (int i = first; i < size; i += blockDim.x / 4) {
          const int mine = i + lane / 4;
          take(mine < size ? unpack(local[(hop + 1) & 1][mine]) : Piece{0, 0, 0, 0});
        }
      }
      own = -1;
    } else {
      // Nothing is near: what is the smallest far distance, and are the targets final?
      Rise* const rise = control->rises + at.bucket % 3;
      const int many = min(far_tail, far_capacity), words = (n + 31) / 32;
      if (first_thread) nearest_here = 0, kept = 0;
      __syncthreads();
      Word nearest = kNone;
      for (int i = threadIdx.x; i < many; i += blockDim.x) {
        const Word word = own_words[i];
        if (word == kl_load(distances + own_vertices[i])) nearest = min(nearest, word);
      }
      const auto each_spilled = [&](auto look) {
        for (int w = block * blockDim.x + threadIdx.x; w < words; w += blocks * blockDim.x) {
          for (unsigned left = kl_load(spilled + w); left != 0; left &= left - 1) {
            const int v = w * 32 + __ffs(left) - 1;
            look(v, kl_load(distances + v));
          }
        }
      };
      if (at.spilled) each_spilled([&](int, Word word) { nearest = min(nearest, word); });
      nearest = warp_min(nearest);
      if (lane == 0 && nearest != kNone) {
        atomicMax(&nearest_here, static_cast<unsigned long long>(static_cast<Word>(~nearest)));
      }
      if (block == 0 && !at.spilled) {
        for (int i = threadIdx.x; i < target_count; i += blockDim.x) {
          const Word word = kl_load(distances + targets[i]);
          if (word >= threshold)
            atomicAdd(&rise->unsettled, 1u);
          else
            atomicMax(&rise->farthest, static_cast<unsigned long long>(word));
        }
      } else if (block == 0 && first_thread) {
        atomicAdd(&rise->unsettled, 1u);
      }
      __syncthreads();
      if (first_thread && nearest_here != 0) atomicMax(&rise->nearest, nearest_here);
      meet(0);
      const Word lowest = ~static_cast<Word>(kl_load(&rise->nearest));
      if (target_count > 0 && kl_load(&rise->unsettled) == 0) {
        at.done = kEnough;
        at.horizon = kl_load(&rise->farthest);
      }
      if (kl_load(&rise->nearest) == 0) at.done = kAll;
      if (at.done != kGoesOn) break;
      if (block == 0 && first_thread) control->rises[(at.bucket + 2) % 3] = {0, 0, 0, 0};
      if (at.entries < few * at.rounds) at.delta *= 2;
      if (at.entries > many_near * at.rounds) at.delta = fmax(at.delta / 2, least);
      at.entries = at.rounds = 0;
      at.sweeps += at.spilled;
      threshold = max(sum(lowest, Type::from(at.delta)), static_cast<Word>(lowest + 1));
      at.bucket++;

      // Near ones into the queue; the others stay, without gaps.
      if (first_thread) spills = 0;
      __syncthreads();
      for (int first = 0; first < many; first += blockDim.x) {
        const int i = first + threadIdx.x;
        int v = 0, degree = 0;
        Word word = kNone;
        long long begin = 0;
        if (i < many) {
          v = own_vertices[i];
          word = own_words[i];
          if (word != kl_load(distances + v)) word = kNone;
        }
        const bool near = word < threshold, stays = word != kNone && !near;
        if (near) {
          begin = __ldg(offsets + v);
          degree = static_cast<int>(__ldg(offsets + v + 1) - begin);
        }
        append_near(v, word, begin, degree);
        const unsigned some = __ballot_sync(kWarp, stays);
        __syncthreads();  // all have read their part
        int base = 0;
        if (lane == 0 && some != 0) base = atomicAdd(&kept, __popc(some));
        base = __shfl_sync(kWarp, base, 0) + __popc(some & before);
        if (stays) {
          own_vertices[base] = v;
          own_words[base] = word;
        }
        __syncthreads();
      }
      if (first_thread) far_tail = kept;
      if (at.spilled) {
        for (int first = block * blockDim.x; first < words; first += blocks * blockDim.x) {
          const int w = first + threadIdx.x;
          unsigned left = w < words ? kl_load(spilled + w) : 0;
          while (__any_sync(kWarp, left != 0)) {
            const int v = left != 0 ? w * 32 + __ffs(left) - 1 : -1;
            const Word word = v < 0 ? kNone : kl_load(distances + v);
            long long begin = 0;
            int degree = 0;
            if (word < threshold) {
              atomicAnd(spilled + w, ~(1u << (v & 31)));
              begin = __ldg(offsets + v);
              degree = static_cast<int>(__ldg(offsets + v + 1) - begin);
            } else if (v >= 0) {
              spills = 1;
            }
            append_near(v, word, begin, degree);
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
    const unsigned long long added = meet(number);
    at.near = static_cast<int>(added & 0xffffffff);
    at.spilled = (added >> 32) != 0;
    at.expanded += at.near;
    at.entries += at.near;
    at.rounds++;
    at.hop++;
  }

  if (first_thread) far_counts[block] = min(far_tail, far_capacity);
  __syncthreads();
  if (at.done == kGoesOn) meet(0);  // the state is not written before all have read it
  if (block == 0 && first_thread) {
    at.threshold = threshold;
    at.overflow = kl_load(&control->state.overflow);
    control->state = at;
  }
}
