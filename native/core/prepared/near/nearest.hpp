// The k nearest of some facilities for some sources, in an eliminated graph.
//
// A best path climbs from the source to one of its ancestors, and descends from there. So every
// ancestor of a facility keeps the first k labels (distance, facility) of what it descends to, in
// the order of distance and then of the list; labels climb from the lowest rank on. A source climbs
// and takes the labels of its ancestors. A label that k others keep out of an ancestor is kept out
// of the source by the same ones.
//
// An ancestor has no more labels than there are facilities below it, so all of them together take
// no more memory than the facilities have ancestors.
#pragma once

#include <cstdint>

#include "parallel/monitor.hpp"
#include "prepared/pairs/climb.hpp"

namespace kleene::prepared {

// Ranks.
struct RankList {
  const std::int32_t* ranks;
  std::int64_t count;
};

// Rows of k, in the caller's memory, filled with "no path" and -1.
template <class Value>
struct NearestRows {
  std::int64_t k;
  Value* distances;
  std::int32_t* facilities;  // positions in the list
};

// `values.up` leads from the sources up, `values.down` down to the facilities: to measure from the
// facilities to the sources, exchange them. Lengths must not be negative. Facilities beyond the
// limit do not count.
template <class Value>
void nearest(const Elimination& elimination, const ClimbTree& tree, const PairValues<Value>& values,
             const RankList& sources, const RankList& facilities, Value limit,
             const NearestRows<Value>& rows, int threads, parallel::Monitor& monitor);

}  // namespace kleene::prepared
