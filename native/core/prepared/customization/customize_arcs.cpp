// Which arcs of a graph a pair starts from. It depends on the structure alone, so that new weights
// for the same streets need not look again.
#include <algorithm>
#include <atomic>
#include <utility>

#include "parallel/team.hpp"
#include "prepared/customization/customize.hpp"

namespace kleene::prepared {
namespace {

using namespace parallel;

constexpr std::int64_t kVertices = 1 << 10, kPairs = 1 << 15;  // of a piece of work

void keep_first(std::atomic<std::int64_t>& first, std::int64_t found) {
  std::int64_t held = first.load(std::memory_order_relaxed);
  while ((held < 0 || found < held) && !first.compare_exchange_weak(held, found)) {
  }
}

// Entries of a list, by the lower vertex of the pair.
class Rows {
 public:
  explicit Rows(std::int64_t n) : n_(n), ends_(n + 1) { std::fill_n(ends_.data(), n + 1, 0); }

  // Any thread, in any order.
  void count(std::int32_t v) { std::atomic_ref(ends_[v]).fetch_add(1, std::memory_order_relaxed); }

  // Between counting and filling: every end becomes a begin.
  PairArcs::List allocate() {
    std::int64_t total = 0;
    for (std::int64_t v = 0; v <= n_; ++v) total += std::exchange(ends_[v], total);
    return {Buffer<std::int64_t>(total), Buffer<std::int32_t>(total)};
  }

  // Any thread, in any order. Begins become ends again.
  void enter(PairArcs::List& list, std::int32_t v, std::int64_t pair, std::int64_t arc) {
    const std::int64_t at = std::atomic_ref(ends_[v]).fetch_add(1, std::memory_order_relaxed);
    list.pairs[at] = pair;
    list.arcs[at] = static_cast<std::int32_t>(arc);
  }

  void sort(PairArcs::List& list, std::int64_t v) const {
    const std::int64_t begin = v == 0 ? 0 : ends_[v - 1];
    for (std::int64_t i = begin; i < ends_[v]; ++i) {
      for (std::int64_t j = i; j > begin && list.pairs[j] < list.pairs[j - 1]; --j) {
        std::swap(list.pairs[j], list.pairs[j - 1]);
        std::swap(list.arcs[j], list.arcs[j - 1]);
      }
    }
  }

 private:
  const std::int64_t n_;
  Buffer<std::int64_t> ends_;
};

}  // namespace

template <class Id>
PairArcs find_arcs(const graph::Arcs<Id>& arcs, const std::int32_t* order,
                   const std::int32_t* ranks, const Elimination& elimination, int threads,
                   Monitor& monitor) {
  PairArcs found;
  Rows up(arcs.n), down(arcs.n);
  std::atomic<std::int64_t> loop{-1}, unknown{-1};
  // In the order of ranks: rows of neighbors are near each other then.
  const auto for_each_arc = [&](auto&& visit) {
    parallel_for(arcs.n, kVertices, threads, monitor,
                 [&](std::int64_t begin, std::int64_t end, int) {
                   for (std::int64_t rank = begin; rank < end; ++rank) {
                     const std::int64_t tail = order[rank];
                     for (std::int64_t i = arcs.offsets[tail]; i < arcs.offsets[tail + 1]; ++i) {
                       visit(tail, i, static_cast<std::int32_t>(rank), ranks[arcs.neighbors[i]]);
                     }
                   }
                 });
  };
  for_each_arc([&](std::int64_t tail, std::int64_t, std::int32_t from, std::int32_t to) {
    if (from == to) {
      keep_first(loop, tail);
    } else {
      (from < to ? up : down).count(std::min(from, to));
    }
  });
  found.up = up.allocate();
  found.down = down.allocate();
  for_each_arc([&](std::int64_t, std::int64_t arc, std::int32_t from, std::int32_t to) {
    if (from == to) return;
    const std::int64_t pair = elimination.place(std::min(from, to), std::max(from, to));
    if (pair < 0) keep_first(unknown, arc);
    if (from < to) {
      up.enter(found.up, from, pair, arc);
    } else {
      down.enter(found.down, to, pair, arc);
    }
  });
  parallel_for(arcs.n, kVertices, threads, monitor, [&](std::int64_t begin, std::int64_t end, int) {
    for (std::int64_t v = begin; v < end; ++v) {
      up.sort(found.up, v);
      down.sort(found.down, v);
    }
  });
  found.loop = loop;
  found.unknown = unknown;
  return found;
}

template <class Value>
bool StartValues<Value>::are_symmetric(int threads) const {
  const PairArcs::List &up = arcs.up, &down = arcs.down;
  if (up.pairs.size() != down.pairs.size()) return false;
  std::atomic<bool> differ{false};
  Monitor uncounted;
  parallel_for(up.pairs.size(), kPairs, threads, uncounted,
               [&](std::int64_t begin, std::int64_t end, int) {
                 if (differ.load(std::memory_order_relaxed)) return;
                 bool same = true;  // without branches in between: the weights are far apart
                 for (std::int64_t i = begin; i < end; ++i) {
                   same &= up.pairs[i] == down.pairs[i];
                   same &= weight(up.arcs[i]) == weight(down.arcs[i]);
                 }
                 if (!same) differ.store(true, std::memory_order_relaxed);
               });
  return !differ.load(std::memory_order_relaxed);
}

template <class Value>
void StartValues<Value>::set(const PairArcs::List& list, std::int64_t pairs, Value none,
                             Value* values, int threads) const {
  Monitor uncounted;
  parallel_for(pairs, kPairs, threads, uncounted, [&](std::int64_t begin, std::int64_t end, int) {
    std::fill(values + begin, values + end, none);
    const std::int64_t* const first = list.pairs.data();
    const std::int64_t* const last = first + list.pairs.size();
    const std::int64_t from = std::lower_bound(first, last, begin) - first;
    const std::int64_t to = std::lower_bound(first, last, end) - first;
    for (std::int64_t i = from; i < to; ++i) values[list.pairs[i]] = weight(list.arcs[i]);
  });
}

template PairArcs find_arcs(const graph::Arcs<std::int32_t>&, const std::int32_t*,
                            const std::int32_t*, const Elimination&, int, Monitor&);
template PairArcs find_arcs(const graph::Arcs<std::int64_t>&, const std::int32_t*,
                            const std::int32_t*, const Elimination&, int, Monitor&);
template struct StartValues<float>;
template struct StartValues<double>;
template struct StartValues<std::int32_t>;
template struct StartValues<std::int64_t>;
template struct StartValues<std::uint8_t>;

}  // namespace kleene::prepared
