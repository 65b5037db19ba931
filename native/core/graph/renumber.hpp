// From vertex numbers with gaps to ids 0 .. n - 1, in the same order.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <utility>
#include <vector>

#include "graph/arcs.hpp"
#include "parallel/team.hpp"

namespace kleene::graph {

template <class Id>
struct Renumbered {
  Buffer<Id> sources;
  Buffer<Id> targets;
  Buffer<std::int64_t> numbers;  // the number that each id stands for
};

// All numbers lie in [low, low + span). One byte for each of them marks whether it occurs; counting
// them block by block gives every block the id of its first. Takes 1 + sizeof(Id) bytes of memory
// per number of the range. When the numbers are 0 .. span - 1 already, `sources` is empty.
template <class InId, class Id>
Renumbered<Id> renumber(std::int64_t arcs, const InId* sources, const InId* targets,
                        std::int64_t low, std::int64_t span, int threads, Monitor& monitor) {
  constexpr std::int64_t kArcGrain = 1 << 16;
  constexpr std::int64_t kBlock = 1 << 16;
  const auto place = [low](InId v) { return static_cast<std::int64_t>(v) - low; };

  std::vector<std::uint8_t> occurs(static_cast<std::size_t>(span));
  const auto mark = [&](InId v) {  // threads may mark one number at once: all write the same
    std::atomic_ref<std::uint8_t> mark_of(occurs[static_cast<std::size_t>(place(v))]);
    if (mark_of.load(std::memory_order_relaxed) == 0) mark_of.store(1, std::memory_order_relaxed);
  };
  parallel_for(arcs, kArcGrain, threads, monitor, [&](auto begin, auto end, int) {
    std::for_each(sources + begin, sources + end, mark);
    std::for_each(targets + begin, targets + end, mark);
  });

  std::vector<std::int64_t> first(static_cast<std::size_t>((span + kBlock - 1) / kBlock));
  parallel_for(span, kBlock, threads, monitor, [&](auto begin, auto end, int) {
    first[begin / kBlock] = std::count(occurs.data() + begin, occurs.data() + end, 1);
  });
  std::int64_t n = 0;
  for (std::int64_t& count : first) n += std::exchange(count, n);
  if (low == 0 && n == span) return {};

  Renumbered<Id> made{Buffer<Id>(arcs), Buffer<Id>(arcs), Buffer<std::int64_t>(n)};
  Buffer<Id> id_of(span);
  parallel_for(span, kBlock, threads, monitor, [&](auto begin, auto end, int) {
    std::int64_t id = first[begin / kBlock];
    for (std::int64_t i = begin; i < end; ++i) {
      id_of[i] = static_cast<Id>(id);
      if (occurs[static_cast<std::size_t>(i)] != 0) made.numbers[id++] = low + i;
    }
  });
  parallel_for(arcs, kArcGrain, threads, monitor, [&](auto begin, auto end, int) {
    for (std::int64_t i = begin; i < end; ++i) {
      made.sources[i] = id_of[place(sources[i])];
      made.targets[i] = id_of[place(targets[i])];
    }
  });
  return made;
}

}  // namespace kleene::graph
