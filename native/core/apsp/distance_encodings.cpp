#include "apsp/distance_encodings.hpp"

#include <algorithm>
#include <array>
#include <atomic>
#include <bit>
#include <cstring>
#include <limits>
#include <vector>

#include "graph/no_path.hpp"
#include "parallel/team.hpp"

namespace kleene::apsp {
namespace {

using Word = std::uint64_t;
constexpr std::int64_t kBits = 64;
constexpr double kNoLength = graph::kNoPath<double>;

struct LocalArc {
  std::int32_t tail, head;
};

// One graph with ids from 0, and the working memory for it, which a thread reuses.
struct Workspace {
  std::int64_t n = 0;
  std::vector<LocalArc> arcs;
  std::vector<Word> reached, frontier, next_frontier;  // n sets of vertices
  std::vector<std::int32_t> hops;                      // n x n; -1 for no path
  std::vector<double> lengths;                         // n x n
  std::vector<std::int32_t> next;                      // n x n: the second vertex on the path
  std::vector<std::int64_t> arc_ids;                   // n x n: which arc leads there, or -1
};

// An array of at least `size` entries, not initialised.
template <class T>
T* room(std::vector<T>& memory, std::int64_t size) {
  // untestable (< to <=): resized to the size that it has
  if (memory.size() < static_cast<std::size_t>(size)) memory.resize(static_cast<std::size_t>(size));
  return memory.data();
}

// Returns the position of an arc that leaves the graph, or -1. Of parallel arcs the lightest
// counts, and the first of those.
std::int64_t enter_arcs(const SmallGraphs& graphs, std::int64_t g, bool paths, Workspace& work) {
  const std::int64_t first = graphs.vertices[g], n = graphs.vertices[g + 1] - first;
  const std::int64_t base = graphs.local ? 0 : first;
  const bool weighted = graphs.lengths != nullptr;
  work.n = n;
  work.arcs.clear();
  double* lengths = weighted ? room(work.lengths, n * n) : nullptr;
  std::int64_t* ids = paths ? room(work.arc_ids, n * n) : nullptr;
  std::int32_t* next = paths ? room(work.next, n * n) : nullptr;
  if (weighted) std::fill(lengths, lengths + n * n, kNoLength);
  for (std::int64_t v = 0; weighted && v < n; ++v) lengths[v * n + v] = 0;
  if (paths) std::fill(ids, ids + n * n, std::int64_t{-1});

  const auto enter = [&](std::int64_t arc, std::int64_t s, std::int64_t t) {
    const std::int64_t pair = s * n + t;
    if (weighted) {
      if (graphs.lengths[arc] >= lengths[pair]) return;
      lengths[pair] = graphs.lengths[arc];
      if (paths) next[pair] = static_cast<std::int32_t>(t);
    } else {
      work.arcs.push_back({static_cast<std::int32_t>(s), static_cast<std::int32_t>(t)});
      if (paths && ids[pair] >= 0) return;
    }
    if (paths) ids[pair] = arc;
  };
  for (std::int64_t arc = graphs.arcs[g]; arc < graphs.arcs[g + 1]; ++arc) {
    const std::int64_t s = graphs.tails[arc] - base, t = graphs.heads[arc] - base;
    if (s < 0 || s >= n || t < 0 || t >= n) return arc;
    if (s == t) continue;
    enter(arc, s, t);
    if (graphs.symmetric) enter(arc, t, s);
  }
  return -1;
}

// ---- hops ---------------------------------------------------------------------------------------

// Byte i of entry b is bit i of b, in the order of memory.
constexpr std::array<std::array<std::uint8_t, 8>, 256> make_spread() {
  std::array<std::array<std::uint8_t, 8>, 256> made{};
  for (std::size_t b = 0; b < 256; ++b) {
    for (std::size_t i = 0; i < 8; ++i) made[b][i] = static_cast<std::uint8_t>(b >> i & 1);
  }
  return made;
}
constexpr auto kSpread = make_spread();

// For up to 64 vertices. The distance to t is the number of levels at whose start t was not reached
// yet: every level adds the complement of the set, spread out to bytes, eight bytes at a time. So
// nothing depends on single bits, and nothing branches on them.
void count_hops_in_words(Workspace& work) {
  const std::int64_t n = work.n, eights = (n + 7) / 8;
  const Word all = n == kBits ? ~Word{0} : (Word{1} << n) - 1;
  Word reached[kBits], before[kBits];
  std::uint8_t counts[kBits][kBits] = {};
  const auto add = [&](std::int64_t v, Word set) {
    for (std::int64_t e = 0; e < eights; ++e) {
      Word sum, spread;
      std::memcpy(&sum, counts[v] + 8 * e, 8);
      std::memcpy(&spread, kSpread[set >> 8 * e & 255].data(), 8);
      sum += spread;
      std::memcpy(counts[v] + 8 * e, &sum, 8);
    }
  };
  // untestable (< to <=): one set more, which is not read
  for (std::int64_t v = 0; v < n; ++v) reached[v] = Word{1} << v;
  for (Word gained = 1; gained != 0;) {
    std::copy(reached, reached + n, before);
    for (const LocalArc arc : work.arcs) reached[arc.tail] |= before[arc.head];
    gained = 0;
    for (std::int64_t v = 0; v < n; ++v) gained |= reached[v] ^ before[v];
    if (gained == 0) break;
    for (std::int64_t v = 0; v < n; ++v) add(v, all & ~before[v]);
  }
  std::int32_t* hops = room(work.hops, n * n);
  for (std::int64_t v = 0; v < n; ++v) {
    for (std::int64_t t = 0; t < n; ++t) hops[v * n + t] = counts[v][t];
    for (Word lost = all & ~reached[v]; lost != 0; lost &= lost - 1) {
      hops[v * n + std::countr_zero(lost)] = -1;
    }
  }
}

// For more vertices. A vertex at distance k from t leads to one at distance k - 1, which gained t
// at the level before.
void count_hops_in_sets(Workspace& work, CancelCheck& check_cancelled) {
  const std::int64_t n = work.n, words = (n + kBits - 1) / kBits;
  const auto sets = static_cast<std::size_t>(n * words);
  std::int32_t* hops = room(work.hops, n * n);
  std::fill(hops, hops + n * n, -1);
  work.frontier.assign(sets, 0);
  for (std::int64_t v = 0; v < n; ++v) {
    work.frontier[static_cast<std::size_t>(v * words + v / kBits)] = Word{1} << (v % kBits);
    hops[v * n + v] = 0;
  }
  work.reached = work.frontier;
  bool changed = true;
  for (std::int32_t level = 1; changed; ++level) {
    changed = false;
    check_cancelled();
    work.next_frontier.assign(sets, 0);
    for (const LocalArc arc : work.arcs) {
      const Word* theirs = work.frontier.data() + arc.head * words;
      Word* reached = work.reached.data() + arc.tail * words;
      Word* next = work.next_frontier.data() + arc.tail * words;
      std::int32_t* row = hops + arc.tail * n;
      for (std::int64_t w = 0; w < words; ++w) {
        const Word gained = theirs[w] & ~reached[w];
        if (gained == 0) continue;
        changed = true;
        reached[w] |= gained;
        next[w] |= gained;
        for (Word left = gained; left != 0; left &= left - 1) {
          row[w * kBits + std::countr_zero(left)] = level;
        }
      }
    }
    work.frontier.swap(work.next_frontier);
  }
}

// The next vertex of a path is one nearer to its end; the smallest of those.
void choose_next(Workspace& work) {
  const std::int64_t n = work.n;
  std::int32_t* next = work.next.data();
  std::fill(next, next + n * n, std::numeric_limits<std::int32_t>::max());
  for (const LocalArc arc : work.arcs) {
    const std::int32_t* here = work.hops.data() + arc.tail * n;
    const std::int32_t* there = work.hops.data() + arc.head * n;
    std::int32_t* chosen = next + arc.tail * n;
    for (std::int64_t t = 0; t < n; ++t) {
      const bool nearer = there[t] >= 0 && there[t] + 1 == here[t];
      chosen[t] = nearer ? std::min(chosen[t], arc.head) : chosen[t];
    }
  }
}

// ---- lengths ------------------------------------------------------------------------------------

template <bool Paths>
void add_lengths(Workspace& work, CancelCheck& check_cancelled) {
  const std::int64_t n = work.n;
  for (std::int64_t k = 0; k < n; ++k) {
    if (k % kBits == 0) check_cancelled();
    const double* onward = work.lengths.data() + k * n;
    for (std::int64_t i = 0; i < n; ++i) {
      double* row = work.lengths.data() + i * n;
      const double to_k = row[k];
      if (to_k == kNoLength) continue;
      for (std::int64_t j = 0; j < n; ++j) {
        const double through = to_k + onward[j];
        if constexpr (Paths) {
          if (through < row[j]) {
            row[j] = through;
            work.next.data()[i * n + j] = work.next.data()[i * n + k];
          }
        } else {
          row[j] = std::min(row[j], through);
        }
      }
    }
  }
}

// ---- the tables ---------------------------------------------------------------------------------

// Entries with `steps` places each, for one graph of the batch.
void write_paths(const Workspace& work, bool weighted, std::int64_t side, std::int64_t steps,
                 std::int64_t* paths) {
  const std::int64_t n = work.n;
  std::fill(paths, paths + side * side * steps, std::int64_t{-1});
  for (std::int64_t i = 0; i < n; ++i) {
    for (std::int64_t j = 0; j < n; ++j) {
      const std::int64_t pair = i * n + j;
      // untestable (< to <=): only a vertex itself is at zero hops, along a path of no arcs
      if (weighted ? work.lengths.data()[pair] == kNoLength : work.hops.data()[pair] < 0) continue;
      std::int64_t* path = paths + (i * side + j) * steps;
      std::int64_t v = i;
      for (std::int64_t step = 0; step < steps && v != j; ++step) {
        const std::int64_t u = work.next.data()[v * n + j];
        path[step] = work.arc_ids.data()[v * n + u];
        v = u;
      }
    }
  }
}

template <class T>
void write_values(const Workspace& work, bool weighted, const Tables<T>& tables, T* values) {
  const std::int64_t n = work.n, side = tables.side;
  const T unreachable = tables.unreachable;
  const double farthest = tables.farthest;
  const auto most_hops = static_cast<std::int32_t>(std::min<double>(farthest, n));
  for (std::int64_t i = 0; i < n; ++i) {
    T* row = values + i * side;
    if (weighted) {
      const double* lengths = work.lengths.data() + i * n;
      for (std::int64_t j = 0; j < n; ++j) {
        const auto length = static_cast<T>(std::min(lengths[j], farthest));
        row[j] = lengths[j] == kNoLength ? unreachable : length;
      }
    } else {
      const std::int32_t* hops = work.hops.data() + i * n;
      for (std::int64_t j = 0; j < n; ++j) {
        row[j] = hops[j] < 0 ? unreachable : static_cast<T>(std::min(hops[j], most_hops));
      }
    }
    std::fill(row + n, row + side, tables.pad);
  }
  std::fill(values + n * side, values + side * side, tables.pad);
}

template <class T>
void encode_one(const SmallGraphs& graphs, std::int64_t g, const Tables<T>& tables, Workspace& work,
                CancelCheck& check_cancelled) {
  const bool weighted = graphs.lengths != nullptr, paths = tables.paths != nullptr;
  if (weighted) {
    paths ? add_lengths<true>(work, check_cancelled) : add_lengths<false>(work, check_cancelled);
  } else {
    // untestable (<= to <): sets of one word give the same
    work.n <= kBits ? count_hops_in_words(work) : count_hops_in_sets(work, check_cancelled);
    if (paths) choose_next(work);
  }
  const std::int64_t area = tables.side * tables.side;
  write_values(work, weighted, tables, tables.values + g * area);
  if (paths) {
    std::int64_t* place = tables.paths + g * area * tables.steps;
    write_paths(work, weighted, tables.side, tables.steps, place);
  }
}

}  // namespace

template <class T>
std::int64_t encode_distances(const SmallGraphs& graphs, const Tables<T>& tables, int threads,
                              Monitor& monitor) {
  constexpr std::int64_t kMostAtOnce = 16, kFine = std::numeric_limits<std::int64_t>::max();
  const std::int64_t grain = std::clamp<std::int64_t>(graphs.count / (8 * threads), 1, kMostAtOnce);
  std::vector<Workspace> workspaces(static_cast<std::size_t>(threads));
  std::atomic<std::int64_t> bad{kFine};
  const auto encode = [&](std::int64_t begin, std::int64_t end, int thread) {
    Workspace& work = workspaces[static_cast<std::size_t>(thread)];
    CancelCheck check_cancelled(monitor, thread);
    for (std::int64_t g = begin; g < end; ++g) {
      const std::int64_t wrong = enter_arcs(graphs, g, tables.paths != nullptr, work);
      if (wrong < 0) {
        encode_one(graphs, g, tables, work, check_cancelled);
        continue;
      }
      std::int64_t known = bad.load();
      // untestable (< to <=): the same arc again
      while (wrong < known && !bad.compare_exchange_weak(known, wrong)) {
      }
    }
  };
  parallel_for(graphs.count, grain, threads, monitor, encode);
  return bad == kFine ? -1 : bad.load();
}

#define KLEENE_ENCODE(T) \
  template std::int64_t encode_distances(const SmallGraphs&, const Tables<T>&, int, Monitor&);
KLEENE_ENCODE(std::uint8_t)
KLEENE_ENCODE(std::int16_t)
KLEENE_ENCODE(std::int32_t)
KLEENE_ENCODE(std::int64_t)
KLEENE_ENCODE(float)
KLEENE_ENCODE(double)
#undef KLEENE_ENCODE

}  // namespace kleene::apsp
