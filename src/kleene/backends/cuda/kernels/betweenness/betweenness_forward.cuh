// Betweenness, the forward pass: a level from the one before it.
#pragma once
#include "betweenness/betweenness.cuh"

template <class Paths>
struct Forward : Level<Paths> {
  using Base = Level<Paths>;
  using Base::counts;
  using Base::in;
  using Base::level;
  using Base::out;
  using Base::params;
  using Base::parts;
  using Base::paths;

  __device__ Forward(const BetweennessParams& p, int at) : Base(p, at) {}

  // ---- 1. who is ready ----

  // Lists the rows that arcs of this level make ready.
  __device__ void list_ready(unsigned long long begin, unsigned long long end) const {
    for (unsigned long long i = begin + kl_global_warp(); i < end; i += kl_total_warps()) {
      const int row = params.entry_row[i], v = row % params.n;
      const long long first = out.offsets[v], last = out.offsets[v + 1];
      if (out.is_hub(first, last)) continue;
      list_heads(row / params.n, params.entry_lanes[i], first, last);
    }
    const auto visit = [&](long long, int group, int, unsigned lanes, long long first,
                           long long last) { list_heads(group, lanes, first, last); };
    Base::for_segments(out, Base::frontier(level), visit);
  }

  // The heads of some arcs, whose tail is in the level in these lanes; a lane to an arc.
  __device__ void list_heads(int group, unsigned lanes, long long begin, long long end) const {
    const long long base = static_cast<long long>(group) * params.n;
    for (long long at = begin; at < end; at += 32) {
      const long long arc = at + kl_lane();
      const bool valid = arc < end;
      const int head = valid ? static_cast<int>(base + __ldg(out.neighbors + arc)) : 0;
      const unsigned made = make_ready(paths, group * params.m + arc, valid ? lanes : 0, head);
      append(made != 0 && atomicOr(params.ready + head, made) == 0, head);
    }
  }

  // Lanes in which the head is in the next level: it was in none before.
  __device__ unsigned make_ready(const HopPaths&, long long, unsigned lanes, int head) const {
    if (lanes == 0) return 0;
    lanes &= ~params.seen[head];
    return lanes == 0 ? 0 : lanes & ~kl_load(params.ready + head);
  }

  // Lanes in which this arc was the last one to the head that was missing. The lanes of the warp
  // are the sources, for one arc after the other.
  __device__ unsigned make_ready(const TightPaths&, long long arc, unsigned lanes, int head) const {
    const unsigned own = lanes == 0 ? 0 : lanes & paths.tight[arc];
    unsigned made = 0;
    for (unsigned left = __ballot_sync(kAllLanes, own != 0); left != 0; left &= left - 1) {
      const int of = __ffs(left) - 1;
      const unsigned tight = __shfl_sync(kAllLanes, own, of);
      const long long row = __shfl_sync(kAllLanes, head, of);
      const bool last =
          Base::has(tight) && atomicSub(params.missing + row * 32 + kl_lane(), 1) == 1;
      const unsigned none_missing = __ballot_sync(kAllLanes, last);
      if (kl_lane() == of) made = none_missing;
    }
    return made;
  }

  // Adds the rows of some lanes to the entries of the next level.
  __device__ void append(bool is_new, int row) const {
    const unsigned lanes = __ballot_sync(kAllLanes, is_new);
    if (lanes == 0) return;
    unsigned long long place = 0;
    if (kl_lane() == 0) {
      place = atomicAdd(&params.state->entries, static_cast<unsigned long long>(__popc(lanes)));
    }
    place = __shfl_sync(kAllLanes, place, 0);
    if (is_new) params.entry_row[place + kl_rank(lanes)] = row;
  }

  // ---- 2. hubs ----

  // Sums of the segments of hubs that are ready.
  __device__ void sum_segments() const {
    const auto visit = [&](long long item, int group, int, unsigned lanes, long long begin,
                           long long end) {
      parts.store(item, sum_tails(group, lanes, begin, end));
    };
    Base::for_segments(in, params.ready, visit);
  }

  // ---- 3. numbers of paths ----

  // Numbers of paths to the entries of the next level.
  __device__ void settle(unsigned long long begin, unsigned long long end) const {
    int reached = 0, group_of_reached = 0;
    for (unsigned long long i = begin + kl_global_warp(); i < end; i += kl_total_warps()) {
      const int row = params.entry_row[i], group = row / params.n, v = row - group * params.n;
      const unsigned lanes = params.ready[row];
      const long long first = in.offsets[v], last = in.offsets[v + 1];
      const Count sum = in.is_hub(first, last) ? Base::join_segments(in, group, v)
                                               : sum_tails(group, lanes, first, last);
      if (Base::has(lanes)) {
        counts.store(row, sum);
        if (is_too_large(sum)) kl_store(&params.state->overflow, 1);
      }
      if (params.endpoints != 0) {
        if (group != group_of_reached) add_reached(group_of_reached, reached);
        group_of_reached = group;
        reached += Base::has(lanes) && Base::target_weight(v) != 0 ? 1 : 0;
      }
      __syncwarp();  // all lanes have read what is ready
      if (kl_lane() == 0) enter(i, row, lanes);
    }
    if (params.endpoints != 0) add_reached(group_of_reached, reached);
  }

  __device__ void enter(unsigned long long entry, int row, unsigned lanes) const {
    params.entry_lanes[entry] = lanes;
    params.ready[row] = 0;
    params.seen[row] |= lanes;
    Base::frontier(level + 1)[row] = lanes;
  }

  __device__ void add_reached(int group, int& reached) const {
    if (reached != 0) atomicAdd(params.reached + group * 32 + kl_lane(), reached);
    reached = 0;
  }

  // The sum over some incoming arcs, for the lanes of the head.
  __device__ Count sum_tails(int group, unsigned lanes, long long begin, long long end) const {
    const long long base = static_cast<long long>(group) * params.n;
    Count sum = make_count(0);
    for (long long at = begin; at < end; at += 32) {
      const long long arc = at + kl_lane();
      const bool valid = arc < end;
      const int tail = valid ? static_cast<int>(base + __ldg(in.neighbors + arc)) : 0;
      const unsigned own = valid ? lanes & paths.incoming(group * params.m + arc, tail) : 0;
      Base::for_rows(counts, own, tail, [&](int, Count count) { add(sum, count); });
    }
    return sum;
  }
};
