#include "encodings.hpp"

#include <algorithm>
#include <array>
#include <atomic>
#include <bit>
#include <cstring>
#include <limits>
#include <vector>

#include "parallel.hpp"

namespace kleene {
namespace {

using Word = std::uint64_t;
constexpr std::int64_t kBits = 64;
constexpr double kNoPath = std::numeric_limits<double>::infinity();

struct LocalArc {
  std::int32_t source, target;
};

// One graph with ids from 0, and the working memory for it; a thread keeps its own and uses it
// again for its next graph.
struct Workplace {
  std::int64_t n = 0;
  std::vector<LocalArc> arcs;
  std::vector<Word> reached, fresh, next_fresh;  // n sets of vertices
  std::vector<std::int32_t> hops;                // n x n; -1 for no path
  std::vector<double> lengths;                   // n x n
  std::vector<std::int32_t> next;                // n x n: the second vertex on the path
  std::vector<std::int64_t> arc_ids;             // n x n: which arc leads there, or -1
};

// An array of so many entries, whatever they are.
template <class T>
T* room(std::vector<T>& memory, std::int64_t size) {
  if (memory.size() < static_cast<std::size_t>(size)) memory.resize(static_cast<std::size_t>(size));
  return memory.data();
}

// Returns the position of an arc that leaves the graph, or -1. Of parallel arcs the lightest
// counts, and the first of those.
std::int64_t enter_arcs(const SmallGraphs& graphs, std::int64_t g, bool paths, Workplace& at) {
  const std::int64_t first = graphs.vertices[g], n = graphs.vertices[g + 1] - first;
  const std::int64_t base = graphs.local ? 0 : first;
  const bool weighted = graphs.lengths != nullptr;
  at.n = n;
  at.arcs.clear();
  double* lengths = weighted ? room(at.lengths, n * n) : nullptr;
  std::int64_t* ids = paths ? room(at.arc_ids, n * n) : nullptr;
  std::int32_t* next = paths ? room(at.next, n * n) : nullptr;
  if (weighted) std::fill(lengths, lengths + n * n, kNoPath);
  for (std::int64_t v = 0; weighted && v < n; ++v) lengths[v * n + v] = 0;
  if (paths) std::fill(ids, ids + n * n, std::int64_t{-1});

  const auto enter = [&](std::int64_t arc, std::int64_t s, std::int64_t t) {
    const std::int64_t pair = s * n + t;
    if (weighted) {
      if (graphs.lengths[arc] >= lengths[pair]) return;
      lengths[pair] = graphs.lengths[arc];
      if (paths) next[pair] = static_cast<std::int32_t>(t);
    } else {
      at.arcs.push_back({static_cast<std::int32_t>(s), static_cast<std::int32_t>(t)});
      if (paths && ids[pair] >= 0) return;
    }
    if (paths) ids[pair] = arc;
  };
  for (std::int64_t arc = graphs.arcs[g]; arc < graphs.arcs[g + 1]; ++arc) {
    const std::int64_t s = graphs.sources[arc] - base, t = graphs.targets[arc] - base;
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
void count_hops_in_words(Workplace& at) {
  const std::int64_t n = at.n, eights = (n + 7) / 8;
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
  for (std::int64_t v = 0; v < n; ++v) reached[v] = Word{1} << v;
  for (Word gained = 1; gained != 0;) {
    std::copy(reached, reached + n, before);
    for (const LocalArc arc : at.arcs) reached[arc.source] |= before[arc.target];
    gained = 0;
    for (std::int64_t v = 0; v < n; ++v) gained |= reached[v] ^ before[v];
    if (gained == 0) break;
    for (std::int64_t v = 0; v < n; ++v) add(v, all & ~before[v]);
  }
  std::int32_t* hops = room(at.hops, n * n);
  for (std::int64_t v = 0; v < n; ++v) {
    for (std::int64_t t = 0; t < n; ++t) hops[v * n + t] = counts[v][t];
    for (Word lost = all & ~reached[v]; lost != 0; lost &= lost - 1) {
      hops[v * n + std::countr_zero(lost)] = -1;
    }
  }
}

// For more vertices. A vertex at distance k from t leads to one at distance k - 1, which gained t
// at the level before.
void count_hops_in_sets(Workplace& at, Watch& watch) {
  const std::int64_t n = at.n, words = (n + kBits - 1) / kBits;
  const auto sets = static_cast<std::size_t>(n * words);
  std::int32_t* hops = room(at.hops, n * n);
  std::fill(hops, hops + n * n, -1);
  at.fresh.assign(sets, 0);
  for (std::int64_t v = 0; v < n; ++v) {
    at.fresh[static_cast<std::size_t>(v * words + v / kBits)] = Word{1} << (v % kBits);
    hops[v * n + v] = 0;
  }
  at.reached = at.fresh;
  bool found = true;
  for (std::int32_t level = 1; found; ++level) {
    found = false;
    watch.look();
    at.next_fresh.assign(sets, 0);
    for (const LocalArc arc : at.arcs) {
      const Word* theirs = at.fresh.data() + arc.target * words;
      Word* reached = at.reached.data() + arc.source * words;
      Word* fresh = at.next_fresh.data() + arc.source * words;
      std::int32_t* row = hops + arc.source * n;
      for (std::int64_t w = 0; w < words; ++w) {
        const Word gained = theirs[w] & ~reached[w];
        if (gained == 0) continue;
        found = true;
        reached[w] |= gained;
        fresh[w] |= gained;
        for (Word left = gained; left != 0; left &= left - 1) {
          row[w * kBits + std::countr_zero(left)] = level;
        }
      }
    }
    at.fresh.swap(at.next_fresh);
  }
}

// The next vertex of a path is one nearer to its end; the smallest of those.
void choose_next(Workplace& at) {
  const std::int64_t n = at.n;
  std::int32_t* next = at.next.data();
  std::fill(next, next + n * n, std::numeric_limits<std::int32_t>::max());
  for (const LocalArc arc : at.arcs) {
    const std::int32_t* here = at.hops.data() + arc.source * n;
    const std::int32_t* there = at.hops.data() + arc.target * n;
    std::int32_t* chosen = next + arc.source * n;
    for (std::int64_t t = 0; t < n; ++t) {
      const bool nearer = there[t] >= 0 && there[t] + 1 == here[t];
      chosen[t] = nearer ? std::min(chosen[t], arc.target) : chosen[t];
    }
  }
}

// ---- lengths ------------------------------------------------------------------------------------

template <bool Paths>
void add_lengths(Workplace& at, Watch& watch) {
  const std::int64_t n = at.n;
  for (std::int64_t k = 0; k < n; ++k) {
    if (k % kBits == 0) watch.look();
    const double* onward = at.lengths.data() + k * n;
    for (std::int64_t i = 0; i < n; ++i) {
      double* row = at.lengths.data() + i * n;
      const double to_k = row[k];
      if (to_k == kNoPath) continue;
      for (std::int64_t j = 0; j < n; ++j) {
        const double through = to_k + onward[j];
        if constexpr (Paths) {
          if (through < row[j]) {
            row[j] = through;
            at.next.data()[i * n + j] = at.next.data()[i * n + k];
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
void write_paths(const Workplace& at, bool weighted, std::int64_t side, std::int64_t steps,
                 std::int64_t* paths) {
  const std::int64_t n = at.n;
  std::fill(paths, paths + side * side * steps, std::int64_t{-1});
  for (std::int64_t i = 0; i < n; ++i) {
    for (std::int64_t j = 0; j < n; ++j) {
      const std::int64_t pair = i * n + j;
      if (weighted ? at.lengths.data()[pair] == kNoPath : at.hops.data()[pair] < 0) continue;
      std::int64_t* path = paths + (i * side + j) * steps;
      std::int64_t v = i;
      for (std::int64_t step = 0; step < steps && v != j; ++step) {
        const std::int64_t u = at.next.data()[v * n + j];
        path[step] = at.arc_ids.data()[v * n + u];
        v = u;
      }
    }
  }
}

template <class T>
void write_values(const Workplace& at, bool weighted, const Tables<T>& tables, T* values) {
  const std::int64_t n = at.n, side = tables.side;
  const T unreachable = tables.unreachable;
  const double farthest = tables.farthest;
  const auto most_hops = static_cast<std::int32_t>(std::min<double>(farthest, n));
  for (std::int64_t i = 0; i < n; ++i) {
    T* row = values + i * side;
    if (weighted) {
      const double* lengths = at.lengths.data() + i * n;
      for (std::int64_t j = 0; j < n; ++j) {
        const auto length = static_cast<T>(std::min(lengths[j], farthest));
        row[j] = lengths[j] == kNoPath ? unreachable : length;
      }
    } else {
      const std::int32_t* hops = at.hops.data() + i * n;
      for (std::int64_t j = 0; j < n; ++j) {
        row[j] = hops[j] < 0 ? unreachable : static_cast<T>(std::min(hops[j], most_hops));
      }
    }
    std::fill(row + n, row + side, tables.pad);
  }
  std::fill(values + n * side, values + side * side, tables.pad);
}

template <class T>
void encode_one(const SmallGraphs& graphs, std::int64_t g, const Tables<T>& tables, Workplace& at,
                Watch& watch) {
  const bool weighted = graphs.lengths != nullptr, paths = tables.paths != nullptr;
  if (weighted) {
    paths ? add_lengths<true>(at, watch) : add_lengths<false>(at, watch);
  } else {
    at.n <= kBits ? count_hops_in_words(at) : count_hops_in_sets(at, watch);
    if (paths) choose_next(at);
  }
  const std::int64_t area = tables.side * tables.side;
  write_values(at, weighted, tables, tables.values + g * area);
  if (paths) {
    std::int64_t* place = tables.paths + g * area * tables.steps;
    write_paths(at, weighted, tables.side, tables.steps, place);
  }
}

}  // namespace

template <class T>
std::int64_t encode_distances(const SmallGraphs& graphs, const Tables<T>& tables, int threads,
                              Monitor& monitor) {
  constexpr std::int64_t kMostAtOnce = 16, kFine = std::numeric_limits<std::int64_t>::max();
  const std::int64_t grain = std::clamp<std::int64_t>(graphs.count / (8 * threads), 1, kMostAtOnce);
  std::vector<Workplace> workplaces(static_cast<std::size_t>(threads));
  std::atomic<std::int64_t> bad{kFine};
  const auto encode = [&](std::int64_t begin, std::int64_t end, int thread) {
    Workplace& at = workplaces[static_cast<std::size_t>(thread)];
    Watch watch(monitor, thread);
    for (std::int64_t g = begin; g < end; ++g) {
      const std::int64_t wrong = enter_arcs(graphs, g, tables.paths != nullptr, at);
      if (wrong < 0) {
        encode_one(graphs, g, tables, at, watch);
        continue;
      }
      std::int64_t known = bad.load();
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

}  // namespace kleene
