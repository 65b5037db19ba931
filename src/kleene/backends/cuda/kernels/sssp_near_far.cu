// Shortest paths from one source, in one launch, for lengths that are not negative: near vertices
// first, far ones later.
//
// Distances below a threshold are near. Near vertices are expanded, again when a better distance is
// found, until none is left; then everything below the threshold is final, the threshold rises, and
// far vertices that are below it now become near.
//
//   for each round
//     if nothing is near: raise the threshold, and look through the far vertices;
//     else: expand the vertices of the queue, all blocks together;
//     what is near goes into the queue of the next round; a barrier of the whole grid.
//
// That suits wide frontiers, whose arcs the lanes of a warp share; sssp_narrow.cu is for small
// ones.
//
// An entry, near or far, holds the distance it was made with. It is out of date, and dropped,
// unless that is still the distance of its vertex, so that no vertex is expanded twice at one
// distance. Every list has an end. What no list has room for is noted in a bit per vertex, and all
// bits are looked at when nothing is near.
//
// The threshold rises by delta, from what it was or from the smallest far distance. Delta is
// doubled when the arcs relaxed below one threshold were too few to keep the device busy and there
// are few far vertices, too; it is halved when they were so many that more thresholds would save
// work.
//
// Integers are added in 32 bits as long as no sum is too large for them: then `overflow` is set,
// and the host begins again with 64.
//
// A. Davidson et al., "Work-efficient parallel GPU methods for single-source shortest paths", 2014.
// U. Meyer and P. Sanders, "Delta-stepping: a parallelizable shortest path algorithm", 2003.
#include "near_far.cuh"

const int kScan = 4;  // far entries that a thread looks at at a time

// ---- what blocks share --------------------------------------------------------------------------

// What a round adds up; three of them take turns: one is read, one is added to, one is cleared.
struct Totals {
  unsigned long long arcs;      // relaxed
  unsigned long long waiting;   // near entries, and far ones times 2^32
  unsigned long long farthest;  // of the targets
  unsigned unsettled;           // targets
  unsigned longest;             // list of a block
  unsigned near_spills;         // vertices that only have a bit
  unsigned far_spills;
};

// What all blocks know. It is in memory between launches.
struct State {
  unsigned long long threshold;
  unsigned long long horizon;      // everything up to here is final, if done is 2
  unsigned long long arcs;         // relaxed
  unsigned long long bucket_arcs;  // since the threshold was raised
  double delta;
  unsigned started;
  unsigned done;  // 1: all is found, 2: enough is
  unsigned round;
  unsigned bucket;  // how often the threshold was raised
  unsigned near_spills;
  unsigned far_spills;
  unsigned far;      // vertices when the threshold was raised
  unsigned checked;  // were the targets looked at in the round before?
  unsigned spills;   // in all
  unsigned unused;
};

struct Control {
  State state;
  Totals totals[3];
  unsigned long long nearest[3];  // of the far distances, all bits turned; they take turns, too
  unsigned long long expanded;    // entries
  unsigned long long overflow;
};

__device__ __forceinline__ Totals look(const Totals* at) {
  return {kl_load(&at->arcs),      kl_load(&at->waiting), kl_load(&at->farthest),
          kl_load(&at->unsettled), kl_load(&at->longest), kl_load(&at->near_spills),
          kl_load(&at->far_spills)};
}

// ---- lists of a block ---------------------------------------------------------------------------

// What a block adds up in shared memory.
struct Here {
  unsigned long long arcs;
  unsigned long long expanded;
  unsigned long long nearest;  // all bits turned
  unsigned long long farthest;
  int listed;  // entries in the queue
  int far;     // entries that wait
  unsigned unsettled;
  unsigned near_spills;
  unsigned far_spills;
};

// How vertices get into the lists, with all lanes of a warp. Every list has an end; what finds no
// room is noted in a bit per vertex.
struct Lists {
  Here* here;
  int4* queue;  // that blocks share: entry k of the list of block b stands at k * blocks + b
  int capacity;
  int* far_vertices;
  Word* far_words;
  int far_capacity;
  unsigned* spilled;
  int lane;
  Word nearest;  // of the far distances that this thread has put there

  __device__ __forceinline__ void spill(int v, unsigned* count) {
    atomicOr(spilled + (v >> 5), 1u << (v & 31));
    atomicAdd(count, 1u);
  }
  __device__ __forceinline__ void append_far(bool active, int v, Word distance) {
    const unsigned some = __ballot_sync(kWarp, active);
    if (some == 0) return;
    int first = 0;
    if (lane == 0) first = atomicAdd(&here->far, __popc(some));
    const int place = __shfl_sync(kWarp, first, 0) + __popc(some & ((1u << lane) - 1));
    if (active) {
      nearest = min(nearest, distance);
      if (place < far_capacity) {
        far_vertices[place] = v;
        far_words[place] = distance;
      } else {
        spill(v, &here->far_spills);
      }
    }
  }
  // Into this block's list of the queue. A vertex with many arcs has several entries.
  __device__ __forceinline__ void append_near(int v, Word distance, long long begin, int degree) {
    if (!__any_sync(kWarp, degree > 0)) return;
    const int arcs_each = degree <= kPiece ? kPiece : max(kPiece, (degree - 1) / capacity + 1);
    const int pieces = degree <= kPiece ? degree > 0 : (degree - 1) / arcs_each + 1;
    unsigned many = __ballot_sync(kWarp, pieces > 1);
    const unsigned some = __ballot_sync(kWarp, pieces > 0);
    int first = __popc(some & ((1u << lane) - 1)), total = __popc(some);
    if (many != 0) {
      first = pieces;
      for (int step = 1; step < 32; step *= 2) {
        const int other = __shfl_up_sync(kWarp, first, step);
        if (lane >= step) first += other;
      }
      total = __shfl_sync(kWarp, first, 31);
      first -= pieces;
    }
    int base = 0;
    if (lane == 0) base = atomicAdd(&here->listed, total);
    first += __shfl_sync(kWarp, base, 0);
    if (pieces == 1 && first < capacity) {
      queue[static_cast<unsigned>(first) * gridDim.x + blockIdx.x] =
          pack(v, distance, begin, degree);
    }
    if (first + pieces > capacity && pieces > 0) spill(v, &here->near_spills);
    for (; many != 0; many &= many - 1) {
      const int owner = __ffs(many) - 1;
      const int of = __shfl_sync(kWarp, v, owner), place = __shfl_sync(kWarp, first, owner);
      const int all = __shfl_sync(kWarp, degree, owner);
      const int each = __shfl_sync(kWarp, arcs_each, owner);
      const Word reached = __shfl_sync(kWarp, distance, owner);
      const long long from = __shfl_sync(kWarp, begin, owner);
      const int parts = (all - 1) / each + 1;
      for (int i = lane; i < parts && place + i < capacity; i += 32) {
        const int skipped = i * each;
        queue[static_cast<unsigned>(place + i) * gridDim.x + blockIdx.x] =
            pack(of, reached, from + skipped, min(each, all - skipped));
      }
    }
  }
};

// ---- the search ---------------------------------------------------------------------------------

KL_KERNEL_BOUNDS(512, 2, near_far_rounds, const long long* offsets, const int* neighbors,
                 const KL_TYPE* lengths, int n, Word* distances, int4* entries, int* counts,
                 int capacity, int* far_vertices, Word* far_words, int* far_counts,
                 int far_capacity, unsigned* spilled, const int* targets, int target_count,
                 double least, double most, unsigned long long low, unsigned long long high,
                 int degree_mean, int rounds, unsigned long long launch_arcs,
                 unsigned long long* control_at, unsigned* barrier, int source,
                 unsigned long long limit_word) {
  __shared__ Here here;
  Control* const control = reinterpret_cast<Control*>(control_at);
  const int lane = kl_lane(), warps = blockDim.x / 32, warp = threadIdx.x / 32;
  const unsigned lists = gridDim.x, block = blockIdx.x;
  const bool first_thread = threadIdx.x == 0;
  const Word limit = static_cast<Word>(limit_word);
  int* const own_far_vertices = far_vertices + static_cast<long long>(block) * far_capacity;
  Word* const own_far_words = far_words + static_cast<long long>(block) * far_capacity;

  State at = control->state;
  if (first_thread) {
    here = {};
    here.far = far_counts[block];
  }
  if (at.started == 0) {
    if (first_thread) here.far = block == 0;
    if (first_thread && block == 0) {
      own_far_vertices[0] = source;
      own_far_words[0] = 0;
      kl_store(distances + source, static_cast<Word>(0));
    }
    at.delta = least;
  }
  kl_grid_sync(barrier);  // all have read the state, and may write it

  Word threshold = static_cast<Word>(at.threshold);
  unsigned arcs = 0, expanded = 0;  // of this thread in a round
  Lists own = {&here,   entries, capacity, own_far_vertices, own_far_words, far_capacity,
               spilled, lane,    kNone};

  // ---- arcs ----

  const auto reach = [&](Word from, KL_TYPE length) -> Word {
    const Word through = sum(from, length);
    if (through == kNone && limit == kNone - 1) kl_store(&control->overflow, 1ull);
    return through;
  };
  // All arcs of the pieces that the lanes bring, shared by the lanes.
  const auto expand = [&](const Piece& piece, Word from) {
    int end = piece.degree;
    for (int step = 1; step < 32; step *= 2) {
      const int other = __shfl_up_sync(kWarp, end, step);
      if (lane >= step) end += other;
    }
    const int total = __shfl_sync(kWarp, end, 31);
    const long long shift = piece.begin - (end - piece.degree);
    for (int first = 0; first < total; first += 32) {
      const int arc = first + lane;
      int owner = 0;  // the first lane whose arcs end past this one
      for (int step = 16; step > 0; step /= 2) {
        if (__shfl_sync(kWarp, end, owner + step - 1) <= arc) owner += step;
      }
      const long long place = __shfl_sync(kWarp, shift, owner) + arc;
      const Word start = __shfl_sync(kWarp, from, owner);
      int v = 0, degree = 0;
      long long begin = 0;
      Word through = kNone;
      bool lower = false;
      if (arc < total) {
        v = __ldg(neighbors + place);
        const KL_TYPE length = __ldg(lengths + place);
        through = reach(start, length);
        if (through <= limit && through < kl_load(distances + v)) {
          const Word old = atomicMin(distances + v, through);
          if (through < threshold) {  // asked for before it is known whether it is needed
            begin = __ldg(offsets + v);
            degree = static_cast<int>(__ldg(offsets + v + 1) - begin);
          }
          lower = through < old;
        }
      }
      if (!__any_sync(kWarp, lower)) continue;
      if (!lower) degree = 0;
      own.append_near(v, through, begin, degree);
      own.append_far(lower && through >= threshold, v, through);
    }
  };
  const auto take = [&](bool active, int4 entry) {
    Piece piece = {0, 0, 0, 0};
    if (active) piece = unpack(entry);
    Word from = kNone;
    if (active) {
      from = kl_load(distances + piece.vertex);
      if (tag_of(from) != piece.tag) {
        piece.degree = 0;  // out of date
      } else {
        arcs += piece.degree;
        expanded++;
      }
    }
    expand(piece, from);
  };

  // ---- what is done when nothing is near ----

  // Several entries of each thread at once: they take as long to come as one.
  const auto scan_far = [&] {
    const int size = min(here.far, far_capacity);
    __syncthreads();
    if (first_thread) here.far = 0;
    for (int first = 0; first < size; first += kScan * blockDim.x) {
      int v[kScan], degree[kScan];
      long long begin[kScan];
      Word distance[kScan], current[kScan];
#pragma unroll
      for (int i = 0; i < kScan; i++) {
        const int place = first + i * blockDim.x + threadIdx.x;
        v[i] = place < size ? own_far_vertices[place] : -1;
        distance[i] = place < size ? own_far_words[place] : kNone;
      }
      __syncthreads();  // what is kept goes to places that were read
#pragma unroll
      for (int i = 0; i < kScan; i++) {
        current[i] = kNone;
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
    __syncthreads();  // what the scan kept is in its place
    const int words = (n + 31) / 32, stride = lists * blockDim.x;
    for (int first = block * blockDim.x + warp * 32; first < words; first += stride) {
      const int w = first + lane;
      unsigned left = 0;
      if (w < words && kl_load(spilled + w) != 0) left = atomicExch(spilled + w, 0u);
      while (__any_sync(kWarp, left != 0)) {
        const bool active = left != 0;
        const int v = active ? w * 32 + __ffs(left) - 1 : 0;
        left &= left - 1;
        const Word distance = active ? kl_load(distances + v) : kNone;
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
        atomicMax(&here.farthest, static_cast<unsigned long long>(distance));
      } else {
        atomicAdd(&here.unsettled, 1u);
      }
    }
  };

  // ---- rounds ----

  unsigned long long done_arcs = 0, done_expanded = 0;  // the second in the first thread
  for (int budget = rounds; budget > 0; at.round++) {
    const Totals now = look(control->totals + at.round % 3);
    const unsigned long long known = kl_load(control->nearest + at.bucket % 3);
    unsigned long long bar = known;  // the smallest far distance that was told, bits turned
    at.arcs += now.arcs;
    at.bucket_arcs += now.arcs;
    at.near_spills += now.near_spills;
    at.far_spills += now.far_spills;
    done_arcs += now.arcs;
    if (at.checked != 0 && now.unsettled == 0) {
      at.done = 2;
      at.horizon = now.farthest;
    }
    at.checked = 0;
    const bool empty = static_cast<unsigned>(now.waiting) == 0;
    const bool raises = empty && at.near_spills == 0;
    const Word lowest = at.started != 0 ? ~static_cast<Word>(known) : 0;
    if (raises && at.done == 0 && lowest == kNone && at.far_spills == 0) at.done = 1;
    if (at.done != 0) break;
    budget = done_arcs > launch_arcs ? 0 : budget - 1;
    if (block == 0 && first_thread) control->totals[(at.round + 2) % 3] = {};
    const int side = at.round & 1;
    own.queue = entries + static_cast<long long>(side ^ 1) * capacity * lists;

    if (raises) {
      const unsigned far = static_cast<unsigned>(now.waiting >> 32);
      if (at.bucket_arcs > high) {
        at.delta = fmax(at.delta / 2, least);
      } else if (at.bucket_arcs < low && at.started != 0 &&
                 (far < at.far || static_cast<unsigned long long>(far) * degree_mean < low)) {
        at.delta = fmin(at.delta * 2, most);
      }
      at.far = far;
      const Word settled = threshold;
      const Word base = lowest == kNone ? threshold : max(threshold, lowest);
      threshold = sum(base, Type::from(at.delta));
      if (lowest != kNone) threshold = max(threshold, lowest + 1);
      at.started = 1;
      at.bucket++;
      at.bucket_arcs = 0;
      bar = 0;
      if (block == 0 && first_thread) control->nearest[(at.bucket + 1) % 3] = 0;
      if (targets != nullptr) {
        check_targets(settled);
        at.checked = 1;
      }
      scan_far();
    }
    if (empty) {
      if ((at.near_spills | at.far_spills) != 0) {
        at.spills += at.near_spills + at.far_spills;
        sweep_spilled();
      }
      at.near_spills = at.far_spills = 0;
    } else if (now.longest > 0) {
      const int4* const full = entries + static_cast<long long>(side) * capacity * lists;
      const int* const sizes = counts + side * lists;
      const unsigned places = now.longest * lists, threads = lists * blockDim.x;
      // Few entries go to as many warps as there are; many are read in their order.
      const unsigned own_place = places <= threads
                                     ? (static_cast<unsigned>(lane) * warps + warp) * lists + block
                                     : block * blockDim.x + threadIdx.x;
      for (unsigned first = 0; first < places; first += threads) {
        const unsigned place = first + own_place;
        int4 entry = make_int4(0, 0, 0, 0);
        bool active = false;
        if (place < places) {
          const unsigned k = place / lists;
          entry = kl_fetch(full + place);
          active = static_cast<int>(k) < kl_load(sizes + (place - k * lists));
        }
        if (__any_sync(kWarp, active)) take(active, entry);
      }
    }

    const unsigned warp_arcs = __reduce_add_sync(kWarp, arcs);
    const unsigned warp_expanded = __reduce_add_sync(kWarp, expanded);
    const Word warp_nearest = warp_min(own.nearest);
    if (lane == 0) {
      if (warp_arcs != 0) atomicAdd(&here.arcs, static_cast<unsigned long long>(warp_arcs));
      if (warp_expanded != 0) {
        atomicAdd(&here.expanded, static_cast<unsigned long long>(warp_expanded));
      }
      if (warp_nearest != kNone) {
        atomicMax(&here.nearest, static_cast<unsigned long long>(static_cast<Word>(~warp_nearest)));
      }
    }
    arcs = expanded = 0;
    own.nearest = kNone;
    __syncthreads();
    if (first_thread) {
      Totals* const next = control->totals + (at.round + 1) % 3;
      const int listed = min(here.listed, capacity), far = min(here.far, far_capacity);
      counts[(side ^ 1) * lists + block] = listed;
      if ((listed | far) != 0) {
        atomicAdd(&next->waiting,
                  static_cast<unsigned long long>(far) << 32 | static_cast<unsigned>(listed));
      }
      if (here.arcs != 0) atomicAdd(&next->arcs, here.arcs);
      if (listed != 0) atomicMax(&next->longest, static_cast<unsigned>(listed));
      if (here.nearest > bar) atomicMax(control->nearest + at.bucket % 3, here.nearest);
      if (here.near_spills != 0) atomicAdd(&next->near_spills, here.near_spills);
      if (here.far_spills != 0) atomicAdd(&next->far_spills, here.far_spills);
      if (here.unsettled != 0) atomicAdd(&next->unsettled, here.unsettled);
      if (here.farthest != 0) atomicMax(&next->farthest, here.farthest);
      done_expanded += here.expanded;
      here.arcs = here.expanded = here.nearest = here.farthest = 0;
      here.unsettled = here.near_spills = here.far_spills = 0;
      here.listed = 0;
      kl_meet_for_all(barrier, lists);
    }
    __syncthreads();
  }

  if (first_thread) {
    far_counts[block] = min(here.far, far_capacity);
    atomicAdd(&control->expanded, done_expanded);
    if (block == 0) {
      at.threshold = threshold;
      control->state = at;
    }
  }
}

// Distances as they are answered. Integers may have become wider.
KL_KERNEL(near_far_finish, const Word* words, int n, void* distances, int bytes) {
  const int v = blockIdx.x * blockDim.x + threadIdx.x;
  if (v >= n) return;
  const Word word = words[v];
  const KL_TYPE value = Type::value(word);
  if (static_cast<KL_TYPE>(0.5) != 0) {
    static_cast<KL_TYPE*>(distances)[v] = word == kNone ? KlLimits<float>::none() : value;
  } else if (bytes == 8) {
    static_cast<long long*>(distances)[v] = word == kNone ? KlLimits<long long>::none() : value;
  } else {
    static_cast<int*>(distances)[v] = word == kNone ? KlLimits<int>::none() : value;
  }
}
