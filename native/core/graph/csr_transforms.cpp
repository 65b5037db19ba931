#include <algorithm>
#include <atomic>
#include <cmath>
#include <type_traits>
#include <utility>
#include <vector>

#include "graph/csr.hpp"
#include "parallel/team.hpp"

namespace kleene::graph {
namespace {

constexpr std::int64_t kRowGrain = 1 << 10;  // sparse rows handed to a thread at a time

// Turns row lengths in offsets[0 .. n) into offsets, and allocates the rows.
template <class Id, class Weight>
void lay_out(std::int64_t n, Csr<Id, Weight>& csr) {
  csr.offsets[n] = 0;
  std::int64_t sum = 0;
  for (std::int64_t v = 0; v <= n; ++v) sum += std::exchange(csr.offsets[v], sum);
  csr.neighbors = Buffer<Id>(sum);
  if constexpr (kWeighted<Weight>) csr.weights = Buffer<Weight>(sum);
}

// How many runs of rows to work on at once, where each has a counter per vertex: the counters must
// not outweigh the arcs.
int runs_for(std::int64_t n, const std::int64_t* offsets, int threads) {
  const std::int64_t most = 1 + offsets[n] / (4 * std::max<std::int64_t>(n, 1));
  return static_cast<int>(std::min<std::int64_t>(threads, most));
}

// Cuts the rows into runs with about as many arcs each: run i is [cuts[i], cuts[i + 1]).
std::vector<std::int64_t> even_cuts(std::int64_t n, const std::int64_t* offsets, int runs) {
  std::vector<std::int64_t> cuts{0};
  for (int run = 1; run < runs; ++run) {
    const std::int64_t* at = std::lower_bound(offsets, offsets + n, offsets[n] / runs * run);
    // untestable (max to min): all rows in the last run, for one thread
    cuts.push_back(std::max<std::int64_t>(cuts.back(), at - offsets));
  }
  cuts.push_back(n);
  return cuts;
}

// Calls put(v, from the first?, arc) for the arcs of two sorted rows, in order; for one that both
// have, the lighter.
template <class Id, class Weight, class Put>
void merge_rows(const Id* a, std::int64_t i, std::int64_t i_end, [[maybe_unused]] const Weight* aw,
                const Id* b, std::int64_t j, std::int64_t j_end, [[maybe_unused]] const Weight* bw,
                Put&& put) {
  while (i < i_end && j < j_end) {
    if (a[i] < b[j]) {
      put(a[i], true, i);
      ++i;
    } else if (b[j] < a[i]) {
      put(b[j], false, j);
      ++j;
    } else {
      bool first = true;
      // untestable (< to <=): which of two equal weights is taken
      if constexpr (kWeighted<Weight>) first = !(bw[j] < aw[i]);
      put(a[i], first, first ? i : j);
      ++i, ++j;
    }
  }
  for (; i < i_end; ++i) put(a[i], true, i);
  for (; j < j_end; ++j) put(b[j], false, j);
}

}  // namespace

// For increasing u, the arcs from u to larger vertices v must appear, one after another, at the
// beginning of the rows of v. If all do, and no row has more arcs to smaller vertices, both halves
// of the matrix are the same. Every thread takes a run of u, and has a cursor into every row.
template <class Id, class Weight>
bool is_symmetric(const Arcs<Id, Weight>& arcs, int threads, Monitor& monitor) {
  const std::int64_t n = arcs.n;
  const std::int64_t* const offsets = arcs.offsets;
  const Id* const neighbors = arcs.neighbors;
  [[maybe_unused]] const Weight* const weights = arcs.weights;
  const int runs = runs_for(n, offsets, threads);
  const std::vector<std::int64_t> cuts = even_cuts(n, offsets, runs);
  std::atomic<bool> symmetric{true};
  std::atomic<std::int64_t> excess{0};  // of arcs to larger vertices over those to smaller ones
  parallel_for(runs, 1, runs, monitor, [&](std::int64_t run, std::int64_t, int) {
    const auto first = static_cast<Id>(cuts[run]);
    std::vector<std::int64_t> cursors(offsets, offsets + n);
    // untestable (> to >=): finds where the cursors are already
    for (std::int64_t v = first; first > 0 && v < n; ++v) {
      const Id* const row = neighbors + offsets[v];
      cursors[v] = std::lower_bound(row, neighbors + offsets[v + 1], first) - neighbors;
    }
    std::int64_t more = 0;
    for (std::int64_t u = first; u < cuts[run + 1] && symmetric; ++u) {
      for (std::int64_t i = offsets[u]; i < offsets[u + 1]; ++i) {
        const Id v = neighbors[i];
        more += (v > u) - (v < u);
        // untestable (<= to <): a loop is its own twin, and the cursor is at it
        if (v <= u) continue;
        const std::int64_t twin = cursors[v]++;
        bool same = twin < offsets[v + 1] && neighbors[twin] == u;
        if constexpr (kWeighted<Weight>) same = same && weights[twin] == weights[i];
        if (!same) {
          symmetric = false;
          return;
        }
      }
    }
    excess += more;
  });
  return symmetric && excess == 0;
}

// Every thread counts, and later places, the arcs of its own run of rows. Runs follow one another
// in each row of the result, which is thereby sorted.
template <class Id, class Weight>
Csr<Id, Weight> transpose(const Arcs<Id, Weight>& arcs, int threads, Monitor& monitor) {
  const std::int64_t n = arcs.n;
  const std::int64_t* const offsets = arcs.offsets;
  const Id* const neighbors = arcs.neighbors;
  [[maybe_unused]] const Weight* const weights = arcs.weights;
  const int runs = runs_for(n, offsets, threads);
  const std::vector<std::int64_t> cuts = even_cuts(n, offsets, runs);
  std::vector<std::int64_t> cursors(static_cast<std::size_t>(runs * n));
  parallel_for(runs, 1, runs, monitor, [&](std::int64_t run, std::int64_t, int) {
    std::int64_t* const counts = cursors.data() + run * n;
    for (std::int64_t i = offsets[cuts[run]]; i < offsets[cuts[run + 1]]; ++i) {
      ++counts[neighbors[i]];
    }
  });
  Csr<Id, Weight> transposed{Buffer<std::int64_t>(n + 1), {}, {}};
  for (std::int64_t v = 0; v < n; ++v) {
    transposed.offsets[v] = 0;
    for (int run = 0; run < runs; ++run) transposed.offsets[v] += cursors[run * n + v];
  }
  lay_out(n, transposed);
  for (std::int64_t v = 0; v < n; ++v) {
    std::int64_t at = transposed.offsets[v];
    for (int run = 0; run < runs; ++run) at += std::exchange(cursors[run * n + v], at);
  }
  parallel_for(runs, 1, runs, monitor, [&](std::int64_t run, std::int64_t, int) {
    std::int64_t* const cursor = cursors.data() + run * n;
    for (std::int64_t u = cuts[run]; u < cuts[run + 1]; ++u) {
      for (std::int64_t i = offsets[u]; i < offsets[u + 1]; ++i) {
        const std::int64_t at = cursor[neighbors[i]]++;
        transposed.neighbors[at] = static_cast<Id>(u);
        if constexpr (kWeighted<Weight>) transposed.weights[at] = weights[i];
      }
    }
  });
  return transposed;
}

template <class Id, class Weight>
Csr<Id, Weight> unite(const Arcs<Id, Weight>& arcs, const Arcs<Id, Weight>& other, int threads,
                      Monitor& monitor) {
  const std::int64_t n = arcs.n;
  const auto merge = [&](std::int64_t v, auto&& put) {
    merge_rows(arcs.neighbors, arcs.offsets[v], arcs.offsets[v + 1], arcs.weights, other.neighbors,
               other.offsets[v], other.offsets[v + 1], other.weights, put);
  };
  Csr<Id, Weight> joined{Buffer<std::int64_t>(n + 1), {}, {}};
  parallel_for(n, kRowGrain, threads, monitor, [&](std::int64_t begin, std::int64_t end, int) {
    for (std::int64_t v = begin; v < end; ++v) {
      std::int64_t length = 0;
      merge(v, [&](Id, bool, std::int64_t) { ++length; });
      joined.offsets[v] = length;
    }
  });
  lay_out(n, joined);
  parallel_for(n, kRowGrain, threads, monitor, [&](std::int64_t begin, std::int64_t end, int) {
    for (std::int64_t v = begin; v < end; ++v) {
      std::int64_t at = joined.offsets[v];
      merge(v, [&](Id u, [[maybe_unused]] bool first, [[maybe_unused]] std::int64_t arc) {
        joined.neighbors[at] = u;
        if constexpr (kWeighted<Weight>) {
          joined.weights[at] = first ? arcs.weights[arc] : other.weights[arc];
        }
        ++at;
      });
    }
  });
  return joined;
}

Csr<std::int32_t, double> csr_from_matrix(std::int64_t n, const double* matrix, bool loops,
                                          int threads, Monitor& monitor) {
  const std::int64_t grain = 1 + (1 << 16) / std::max<std::int64_t>(n, 1);
  const auto is_arc = [](double w) { return w != 0 && std::isfinite(w); };
  const auto keeps_loop = [&](std::int64_t v) {
    const double w = matrix[v * n + v];
    return loops && is_arc(w) && w < 0;  // untestable (< to <=): zero is no arc
  };
  Csr<std::int32_t, double> csr{Buffer<std::int64_t>(n + 1), {}, {}};
  parallel_for(n, grain, threads, monitor, [&](std::int64_t begin, std::int64_t end, int) {
    for (std::int64_t v = begin; v < end; ++v) {
      const double* const row = matrix + v * n;
      std::int64_t length = 0;
      for (std::int64_t u = 0; u < n; ++u) length += is_arc(row[u]);
      csr.offsets[v] = length - is_arc(row[v]) + keeps_loop(v);
    }
  });
  lay_out(n, csr);
  std::atomic<bool> changed{false};
  parallel_for(n, grain, threads, monitor, [&](std::int64_t begin, std::int64_t end, int) {
    for (std::int64_t v = begin; v < end; ++v) {
      const double* const row = matrix + v * n;
      std::int64_t at = csr.offsets[v];
      for (std::int64_t u = 0; u < n; ++u) {
        const double weight = row[u];
        // untestable (< to <=): zero is no arc
        if (!is_arc(weight) || (u == v && !(loops && weight < 0))) continue;
        if (at == csr.offsets[v + 1]) changed = true;
        if (changed) return;
        csr.neighbors[at] = static_cast<std::int32_t>(u);
        csr.weights[at] = weight;
        ++at;
      }
      if (at != csr.offsets[v + 1]) changed = true;
    }
  });
  if (changed) throw BadArc{BadArc::Fault::kChanged, 0};
  return csr;
}

#define KLEENE_TRANSFORMS(ID, W)                                    \
  template Csr<ID, W> transpose(const Arcs<ID, W>&, int, Monitor&); \
  template bool is_symmetric(const Arcs<ID, W>&, int, Monitor&);    \
  template Csr<ID, W> unite(const Arcs<ID, W>&, const Arcs<ID, W>&, int, Monitor&);
#define KLEENE_ID(ID)                 \
  KLEENE_TRANSFORMS(ID, NoWeight)     \
  KLEENE_TRANSFORMS(ID, float)        \
  KLEENE_TRANSFORMS(ID, double)       \
  KLEENE_TRANSFORMS(ID, std::int32_t) \
  KLEENE_TRANSFORMS(ID, std::int64_t)

KLEENE_ID(std::int32_t)
KLEENE_ID(std::int64_t)

}  // namespace kleene::graph
