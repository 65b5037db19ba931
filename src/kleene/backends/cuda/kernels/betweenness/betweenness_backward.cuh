// Betweenness, the backward pass: a level from those above it.
#pragma once
#include "betweenness/betweenness.cuh"

template <class Paths>
struct Backward : Level<Paths> {
  using Base = Level<Paths>;
  using Base::counts;
  using Base::level;
  using Base::out;
  using Base::params;
  using Base::parts;
  using Base::paths;
  using Base::rest;

  __device__ Backward(const BetweennessParams& p, int at) : Base(p, at) {}

  // ---- 1. all rows but hubs ----

  __device__ void finish_entries(unsigned long long begin, unsigned long long end) const {
    for (unsigned long long i = begin + kl_global_warp(); i < end; i += kl_total_warps()) {
      const int row = params.entry_row[i], group = row / params.n, v = row - group * params.n;
      const unsigned lanes = params.entry_lanes[i];
      if (kl_lane() == 0) Base::frontier(level)[row] = lanes;
      const long long first = out.offsets[v], last = out.offsets[v + 1];
      if (out.is_hub(first, last)) continue;
      finish(row, v, lanes, sum_heads(group, row, lanes, first, last));
    }
  }

  // ---- 2. hubs ----

  __device__ void sum_segments() const {
    const auto visit = [&](long long item, int group, int v, unsigned lanes, long long begin,
                           long long end) {
      parts.store(item, sum_heads(group, group * params.n + v, lanes, begin, end));
    };
    Base::for_segments(out, Base::frontier(level), visit);
  }

  __device__ void finish_hubs() const {
    const long long hubs = static_cast<long long>(params.groups) * out.hub_count;
    for (long long item = kl_global_warp(); item < hubs; item += kl_total_warps()) {
      const int group = static_cast<int>(item / out.hub_count);
      const int v = out.hubs[item % out.hub_count], row = group * params.n + v;
      const unsigned lanes = Base::frontier(level)[row];
      if (lanes != 0) finish(row, v, lanes, Base::join_segments(out, group, v));
    }
  }

  // ---- sums ----

  // The rest of the heads of some outgoing arcs, which is the rest of their tail for each path that
  // arrives there; adds to the sums of the arcs.
  __device__ Count sum_heads(int group, int row, unsigned lanes, long long begin,
                             long long end) const {
    const long long base = static_cast<long long>(group) * params.n;
    const Count arriving = Base::has(lanes) ? counts.load(row) : make_count(0);
    Count sum = make_count(0);
    for (long long at = begin; at < end; at += 32) {
      const long long arc = at + kl_lane();
      const bool valid = arc < end;
      const int head = valid ? static_cast<int>(base + __ldg(out.neighbors + arc)) : 0;
      const unsigned own = valid ? lanes & paths.outgoing(group * params.m + arc, head) : 0;
      double part = 0;  // of the arc of this lane
      Base::for_rows(rest, own, head, [&](int k, Count more) {
        add(sum, more);
        if (params.along == nullptr) return;
        const double all = warp_sum(to_double(product(arriving, more)));
        if (static_cast<int>(kl_lane()) == k) part = all;
      });
      if (params.along != nullptr && own != 0) params.along[group * params.m + arc] += part;
    }
    return sum;
  }

  // Stores the rest of a row, and adds to the sum of its vertex. Level 0 has the sources.
  __device__ void finish(int row, int v, unsigned lanes, Count sum) const {
    double value = 0;
    if (Base::has(lanes)) {
      const Count arriving = counts.load(row);
      const double onward = to_double(product(arriving, sum)), ends = Base::target_weight(v);
      rest.store(row, quotient(make_count(onward + ends), arriving));
      if (level > 0) {
        value = params.endpoints != 0 ? onward + ends : onward;
      } else if (params.endpoints != 0) {
        value = params.reached[row / params.n * 32 + kl_lane()];
      }
    }
    value = warp_sum(value);
    if (kl_lane() == 0) params.through[row] += value;
  }
};
