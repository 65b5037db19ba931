// Shortest paths from one source, in one launch, for lengths that are not negative: near vertices
// first, far ones later.
//
// Distances below a threshold are near. Near vertices are expanded, again when a better distance is
// found, until none is left; then everything below the threshold is final, the threshold rises, and
// far vertices that are below it now become near.
//
//   for each round
//     if nothing is near: raise the threshold, and look through the far vertices;
//     else: take a share of the vertices in the queue;
//     some hops: expand what this block found near itself, in shared memory;
//     what is too much for one block goes into the queue, for all; a barrier of the whole grid.
//
// So blocks meet about once for every threshold rather than once for every hop: on roads and grids
// paths have thousands of hops, and what counts is how long one takes.
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
  unsigned long long hops;        // of the block that made most
  unsigned long long overflow;
};

__device__ __forceinline__ Totals look(const Totals* at) {
  return {kl_load(&at->arcs),      kl_load(&at->waiting), kl_load(&at->farthest),
          kl_load(&at->unsettled), kl_load(&at->longest), kl_load(&at->near_spills),
          kl_load(&at->far_spills)};
}

// ---- the search ---------------------------------------------------------------------------------

#define PARAMETERS                                                                                 \
  const long long *offsets, const int *neighbors, const KL_TYPE *lengths, int n, Word *distances,  \
      int4 *entries, int *counts, int capacity, int *far_vertices, Word *far_words,                \
      int *far_counts, int far_capacity, unsigned *spilled, const int *targets, int target_count,  \
      double least, double most, unsigned long long low, unsigned long long high, int degree_mean, \
      int keep, int hops, int rounds, unsigned long long launch_arcs,                              \
      unsigned long long *control_at, unsigned *barrier, int source, unsigned long long limit_word
#define ARGUMENTS                                                                                \
  offsets, neighbors, lengths, n, distances, entries, counts, capacity, far_vertices, far_words, \
      far_counts, far_capacity, spilled, targets, target_count, least, most, low, high,          \
      degree_mean, keep, hops, rounds, launch_arcs, control_at, barrier, source, limit_word

// With kHops, blocks expand what they find themselves, and vertices of few arcs by single threads;
// without, everything goes through the queue.
template <bool kHops>
__device__ __forceinline__ void search(PARAMETERS) {
  KL_DYNAMIC_SHARED(int4, local);  // two lists of `keep` entries
  __shared__ Here here;
  Control* const control = reinterpret_cast<Control*>(control_at);
  const int lane = kl_lane(), warps = blockDim.x / 32, warp = threadIdx.x / 32;
  const unsigned before = (1u << lane) - 1;
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
  const unsigned long long hops_before = kl_load(&control->hops);
  kl_grid_sync(barrier);  // all have read the state, and may write it

  Word threshold = static_cast<Word>(at.threshold);
  int hop = 0;                      // the next one
  unsigned arcs = 0, expanded = 0;  // of this thread in a round
  Lists<kHops> own = {&here,         local,        keep,    entries, capacity, own_far_vertices,
                      own_far_words, far_capacity, spilled, lane,    kNone};

  // ---- arcs ----

  const auto reach = [&](Word from, KL_TYPE length) -> Word {
    const Word through = sum(from, length);
    if (through == kNone && limit == kNone - 1) kl_store(&control->overflow, 1ull);
    return through;
  };
  const auto fetch_early = [&](long long arc) {
    kl_prefetch(neighbors + arc);
    kl_prefetch(lengths + arc);
  };
  // All arcs of the pieces that the lanes bring, shared by the lanes. A distance of "no path" tells
  // of a piece that is out of date.
  const auto expand_wide = [&](int next, const Piece& piece, Word from) {
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
        through = start == kNone ? kNone : reach(start, length);
        if (through <= limit && (kHops || through < kl_load(distances + v))) {
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
      if (kHops && degree > 0) fetch_early(begin);
      own.append_near(next, keep, v, through, begin, degree);
      own.append_far(lower && through >= threshold, v, through);
    }
  };
  // Few arcs of each vertex: all that may be needed is asked for at once, rather than one thing
  // after the other, since time goes into waiting.
  const auto expand_narrow = [&](int next, const Piece& piece) {
    int v[kNarrow], degree[kNarrow];
    long long begin[kNarrow];
    Word through[kNarrow], old[kNarrow], from = 0;
    KL_TYPE length[kNarrow];
    if (piece.degree > 0) from = kl_load(distances + piece.vertex);
#pragma unroll
    for (int i = 0; i < kNarrow; i++) {
      v[i] = 0;
      length[i] = 0;
      if (i < piece.degree) {
        v[i] = __ldg(neighbors + piece.begin + i);
        length[i] = __ldg(lengths + piece.begin + i);
      }
    }
    const int valid = tag_of(from) == piece.tag ? piece.degree : 0;
    arcs += valid;
    expanded += valid > 0;
#pragma unroll
    for (int i = 0; i < kNarrow; i++) through[i] = i < valid ? reach(from, length[i]) : kNone;
#pragma unroll
    for (int i = 0; i < kNarrow; i++) {
      degree[i] = 0;
      begin[i] = 0;
      old[i] = 0;
      if (through[i] <= limit) {
        old[i] = atomicMin(distances + v[i], through[i]);
        if (through[i] < threshold) {
          begin[i] = __ldg(offsets + v[i]);
          degree[i] = static_cast<int>(__ldg(offsets + v[i] + 1) - begin[i]);
        }
      }
    }
    unsigned near[kNarrow], far[kNarrow];
    int nears = 0, fars = 0, near_place[kNarrow], far_place[kNarrow];
    bool rest = false;
#pragma unroll
    for (int i = 0; i < kNarrow; i++) {
      const bool lower = through[i] < old[i];
      if (!lower) degree[i] = 0;
      if (degree[i] > 0) fetch_early(begin[i]);
      near[i] = __ballot_sync(kWarp, degree[i] > 0 && degree[i] <= kPiece);
      far[i] = __ballot_sync(kWarp, lower && through[i] >= threshold);
      near_place[i] = nears + __popc(near[i] & before);
      far_place[i] = fars + __popc(far[i] & before);
      nears += __popc(near[i]);
      fars += __popc(far[i]);
      rest |= degree[i] > kPiece;
    }
    int first = 0;
    if (lane == 0 && nears > 0) first = atomicAdd(&here.tails[next % 3], nears);
    if (lane == 1 && fars > 0) first = atomicAdd(&here.far, fars);
    const int near_first = __shfl_sync(kWarp, first, 0), far_first = __shfl_sync(kWarp, first, 1);
    rest |= near_first + nears > keep;
#pragma unroll
    for (int i = 0; i < kNarrow; i++) {
      if (((near[i] >> lane) & 1) != 0 && near_first + near_place[i] < keep) {
        local[(next & 1) * keep + near_first + near_place[i]] =
            pack(v[i], through[i], begin[i], degree[i]);
        degree[i] = 0;
      }
      if (((far[i] >> lane) & 1) != 0) {
        own.nearest = min(own.nearest, through[i]);
        const int place = far_first + far_place[i];
        if (place < far_capacity) {
          own_far_vertices[place] = v[i];
          own_far_words[place] = through[i];
        } else {
          own.spill(v[i], &here.far_spills);
        }
      }
    }
    if (__any_sync(kWarp, rest)) {
#pragma unroll
      for (int i = 0; i < kNarrow; i++) own.append_queue(v[i], through[i], begin[i], degree[i]);
    }
  };
  const auto take = [&](int next, bool active, int4 entry) {
    Piece piece = {0, 0, 0, 0};
    if (active) piece = unpack(entry);
    if (kHops && __all_sync(kWarp, piece.degree <= kNarrow)) {
      expand_narrow(next, piece);
      return;
    }
    Word from = kNone;
    if (active) {
      from = kl_load(distances + piece.vertex);
      if (tag_of(from) != piece.tag) {
        from = kNone;                  // out of date
        if (!kHops) piece.degree = 0;  // worth waiting for, where entries have many arcs
      } else {
        arcs += piece.degree;
        expanded++;
      }
    }
    expand_wide(next, piece, from);
  };

  // ---- what is done when nothing is near ----

  // Several entries of each thread at once: they take as long to come as one. A block that has far
  // more of them than others leaves some to these.
  const auto scan_far = [&](unsigned in_all) {
    const int room = min(keep, static_cast<int>(max(kFair, 2 * (in_all / lists))));
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
        if (kHops && degree[i] > 0) fetch_early(begin[i]);
        own.append_near(hop, room, v[i], distance[i], begin[i], degree[i]);
      }
    }
    if constexpr (kHops) {
      __syncthreads();
      if (first_thread) here.tails[hop % 3] = min(here.tails[hop % 3], room);
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
        own.append_near(hop, keep, v, distance, begin, degree);
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
      scan_far(far);
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
        if (__any_sync(kWarp, active)) take(hop, active, entry);
      }
    }

    if constexpr (kHops) {
      for (const int stop = hop + hops; hop < stop; hop++) {
        __syncthreads();
        const int size = min(here.tails[hop % 3], keep);
        if (size == 0) break;
        if (first_thread) here.tails[(hop + 2) % 3] = 0;
        const int4* const list = local + (hop & 1) * keep;
        for (int first = 0; first < size; first += blockDim.x) {
          const int place = first + lane * warps + warp;  // few go to many warps
          const bool active = place < size;
          int4 entry = make_int4(0, 0, 0, 0);
          if (active) entry = list[place];
          if (__any_sync(kWarp, active)) take(hop + 1, active, entry);
        }
      }
      if (budget == 0) {  // shared memory does not last
        __syncthreads();
        const int size = min(here.tails[hop % 3], keep);
        for (int first = warp * 32; first < size; first += blockDim.x) {
          Piece piece = {0, 0, 0, 0};
          if (first + lane < size) piece = unpack(local[(hop & 1) * keep + first + lane]);
          own.append_queue(piece.vertex, piece.tag, piece.begin, piece.degree);
        }
        __syncthreads();
        if (first_thread) here.tails[hop % 3] = 0;
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
      const unsigned waiting = listed + min(here.tails[hop % 3], keep);
      counts[(side ^ 1) * lists + block] = listed;
      if ((waiting | far) != 0) {
        atomicAdd(&next->waiting, static_cast<unsigned long long>(far) << 32 | waiting);
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
    atomicMax(&control->hops, hops_before + hop);
    if (block == 0) {
      at.threshold = threshold;
      control->state = at;
    }
  }
}

KL_KERNEL_BOUNDS(256, 2, near_far_hops, PARAMETERS) { search<true>(ARGUMENTS); }

KL_KERNEL_BOUNDS(512, 2, near_far_rounds, PARAMETERS) { search<false>(ARGUMENTS); }

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
