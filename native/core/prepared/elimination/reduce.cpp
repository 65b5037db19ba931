// Rounds of independent sets: in a round, a vertex of degree at most 2 is eliminated unless a
// neighbor was eliminated in the same round. A round halves chains and takes at least a sixth of a
// tree, so the depth of the elimination tree grows with the logarithm of their size. A ladder,
// which can only be taken from its ends, would become as deep as it is long: after 4 log2(n) rounds
// what is left is left.
//
// To eliminate v between a and b is to write b into the list of a, and a into that of b; v itself
// stays in both. A list is tidied (v and repeated entries removed) when a quarter of its entries
// may be stale. So a hub is not searched for every leaf that it loses, and all together takes time
// linear in the arcs. A vertex of degree at most 2 is noticed at once: of a longer list, a third
// would be stale.
#include <algorithm>
#include <bit>
#include <utility>
#include <vector>

#include "prepared/elimination/eliminate.hpp"

namespace kleene::prepared {
namespace {

using Vertex = std::int32_t;

constexpr std::int64_t kPollEvery = 1 << 12;  // vertices

class Lists {
 public:
  explicit Lists(const graph::Arcs<Vertex>& arcs)
      : begin_(arcs.n + 1), size_(arcs.n), stale_(arcs.n), gone_(arcs.n), seen_(arcs.n) {
    begin_[0] = 0;
    for (std::int64_t v = 0; v < arcs.n; ++v) {
      const std::int64_t degree = arcs.degree(static_cast<Vertex>(v));
      begin_[v + 1] = begin_[v] + degree + degree / 4 + 2;  // entries that come before a tidying
    }
    entries_ = Buffer<Vertex>(begin_[arcs.n]);
    for (std::int64_t v = 0; v < arcs.n; ++v) {
      Vertex* end =
          std::copy_if(arcs.neighbors + arcs.offsets[v], arcs.neighbors + arcs.offsets[v + 1],
                       &entries_[begin_[v]], [&](Vertex u) { return u != v; });
      size_[v] = static_cast<Vertex>(end - &entries_[begin_[v]]);
      stale_[v] = 0;
      gone_[v] = seen_[v] = false;
    }
  }

  const Vertex* row(Vertex v) const { return &entries_[begin_[v]]; }
  std::int64_t size(Vertex v) const { return size_[v]; }
  bool gone(Vertex v) const { return gone_[v]; }
  void remove(Vertex v) { gone_[v] = true; }

  // Of a list without stale entries this is the degree; shorter lists than 3 have none.
  void lose_neighbor(Vertex v) {
    ++stale_[v];
    if (4 * stale_[v] >= size_[v]) tidy(v);
  }

  // The entry of the lost neighbor is followed by one that may be there already.
  void replace_neighbor(Vertex v, Vertex by) {
    entries_[begin_[v] + size_[v]++] = by;
    ++stale_[v];
    lose_neighbor(v);
  }

  void tidy(Vertex v) {
    Vertex* const first = &entries_[begin_[v]];
    Vertex* const last = std::remove_if(first, first + size_[v], [&](Vertex u) {
      return gone_[u] || std::exchange(seen_[u], true);
    });
    std::for_each(first, last, [&](Vertex u) { seen_[u] = false; });
    size_[v] = static_cast<Vertex>(last - first);
    stale_[v] = 0;
  }

 private:
  Buffer<std::int64_t> begin_;
  Buffer<Vertex> entries_;
  Buffer<std::int32_t> size_;
  Buffer<std::int32_t> stale_;  // at most so many entries are gone or repeated
  Buffer<bool> gone_;
  Buffer<bool> seen_;  // false between calls
};

// Fills the order with eliminated vertices; returns how many.
std::int64_t run_rounds(std::int64_t n, Lists& lists, Vertex* order, Monitor& monitor) {
  const int most_rounds = 4 * std::bit_width(static_cast<std::uint64_t>(n));
  std::vector<Vertex> candidates, next;
  Buffer<std::uint8_t> blocked_in(n), queued_in(n);  // the last round in which it was so
  for (std::int64_t v = 0; v < n; ++v) {
    blocked_in[v] = queued_in[v] = 0;
    if (lists.size(static_cast<Vertex>(v)) <= 2) candidates.push_back(static_cast<Vertex>(v));
  }
  std::int64_t eliminated = 0, visited = 0;
  for (int round = 1; round <= most_rounds && !candidates.empty(); ++round) {
    next.clear();
    const auto queue = [&](Vertex v) {
      if (queued_in[v] == round) return;
      queued_in[v] = static_cast<std::uint8_t>(round);
      next.push_back(v);
    };
    for (const Vertex v : candidates) {
      if (++visited % kPollEvery == 0) monitor.poll();
      if (blocked_in[v] == round) {
        queue(v);
        continue;
      }
      order[eliminated++] = v;
      lists.remove(v);
      const Vertex* const around = lists.row(v);
      const std::int64_t degree = lists.size(v);
      for (std::int64_t i = 0; i < degree; ++i) {
        const Vertex u = around[i];
        blocked_in[u] = static_cast<std::uint8_t>(round);
        degree == 2 ? lists.replace_neighbor(u, around[1 - i]) : lists.lose_neighbor(u);
        if (lists.size(u) <= 2) queue(u);
      }
    }
    candidates.swap(next);
  }
  return eliminated;
}

}  // namespace

Reduction reduce(const graph::Arcs<Vertex>& arcs, Monitor& monitor) {
  const std::int64_t n = arcs.n;
  Lists lists(arcs);
  Reduction result{0, Buffer<Vertex>(n), {}, {}};
  result.eliminated = run_rounds(n, lists, result.order.data(), monitor);

  const std::int64_t left = n - result.eliminated;
  Vertex* const rest = result.order.data() + result.eliminated;
  Buffer<Vertex> place(n);
  result.offsets = Buffer<std::int64_t>(left + 1);
  result.offsets[0] = 0;
  for (std::int64_t v = 0, i = 0; v < n; ++v) {
    const auto vertex = static_cast<Vertex>(v);
    if (lists.gone(vertex)) continue;
    lists.tidy(vertex);
    place[v] = static_cast<Vertex>(i);
    rest[i] = vertex;
    result.offsets[i + 1] = result.offsets[i] + lists.size(vertex);
    ++i;
  }
  result.neighbors = Buffer<Vertex>(result.offsets[left]);
  for (std::int64_t i = 0; i < left; ++i) {
    const Vertex* const row = lists.row(rest[i]);
    std::transform(row, row + lists.size(rest[i]), &result.neighbors[result.offsets[i]],
                   [&](Vertex u) { return place[u]; });
  }
  return result;
}

}  // namespace kleene::prepared
