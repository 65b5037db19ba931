// How many shortest paths lead from a source to each vertex: whole numbers of any size, from the
// distances alone. Distances may come from any search; see shortest_path_arcs.hpp.
//
// All counts have the same number of 64-bit words, the least significant first: enough for the
// largest, which a first pass in floats tells up to its last bits.
#pragma once

#include <cstdint>

#include "graph/arcs.hpp"
#include "measures/shortest_path_arcs.hpp"

namespace kleene::measures {

using namespace graph;

template <class Id>
class PathCounts {
 public:
  // The distances of all vertices, `no_path` where there is none. `lengths` may be null: then
  // distances count arcs. Throws CycleOfLengthZero.
  template <class Value>
  PathCounts(const Arcs<Id>& arcs, const Value* lengths, const Value* distances, Value no_path,
             Id source, CancelCheck check_cancelled)
      : paths_(arcs.n) {
    for (Id u = 0; u < arcs.n; ++u) {
      if ((u + 1) % kCheckEvery == 0) check_cancelled();
      if (distances[u] == no_path) continue;
      for (std::int64_t i = arcs.offsets[u]; i < arcs.offsets[u + 1]; ++i) {
        const Value length = lengths ? lengths[i] : Value{1};
        if (distances[u] + length == distances[arcs.neighbors[i]])
          tight_.add(u, arcs.neighbors[i], i);
      }
    }
    paths_.count(source, tight_, check_cancelled);
  }
  PathCounts(const PathCounts&) = delete;  // one of its parts refers to the other
  PathCounts& operator=(const PathCounts&) = delete;

  // Words for each count.
  std::int64_t words() {
    constexpr std::int64_t kBits = 64;
    const std::int64_t bits = paths_.largest().exponent() + 1;  // rounding may hide one
    return (bits + kBits - 1) / kBits;
  }

  // Fills so many words for each vertex, which must hold 0.
  void fill(std::int64_t words, std::uint64_t* counts, CancelCheck check_cancelled) const {
    counts[std::int64_t{paths_.order()[0]} * words] = 1;
    std::int64_t added = 0;  // since the last check
    for (const Id u : paths_.order()) {
      paths_.for_arcs(u, [&](Id v) {
        add(counts + std::int64_t{u} * words, counts + std::int64_t{v} * words, words);
        added += words;
      });
      if (added < kCheckEvery) continue;
      check_cancelled();
      added = 0;
    }
  }

 private:
  static void add(const std::uint64_t* from, std::uint64_t* to, std::int64_t words) {
    std::uint64_t carry = 0;
    for (std::int64_t k = 0; k < words; ++k) {
      const std::uint64_t half = to[k] + carry;
      carry = half < carry;
      to[k] = half + from[k];
      carry += to[k] < half;
    }
  }

  TightArcs<Id> tight_;
  ShortestPathArcs<Id> paths_;
};

}  // namespace kleene::measures
