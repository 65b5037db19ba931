// The inner loops of climbs, one version per vector instruction set, chosen at run time
// (simd/levels.hpp).
//
// A climb visits the ancestors of a vertex in the elimination tree, from the lowest to the root,
// and relaxes their upward pairs. Heads of pairs are ancestors too, and a vertex has one ancestor
// at each depth, so values are kept by depth, in an array of some hundred entries: no queue, and
// nothing the size of the graph. Entries are named by place, which grows on the way up: the deepest
// level of the forest is place 0, and roots have the last place.
//
// Places come in blocks of 16. A row of pairs lists the blocks that its heads lie in, each with a
// mask of the places. Values are stored without gaps, so a block of values is spread out to the
// places of its mask, and a block is relaxed by a few vector instructions: on the highways of the
// world a climb has 6,700 pairs in 675 blocks.
#pragma once

#include <cstdint>

namespace kleene::prepared {

constexpr int kBlock = 16;  // places

struct ClimbRow {
  std::int64_t values;  // where its values begin; they end where those of the next row begin
  std::int64_t blocks;  // likewise its blocks
  std::int32_t parent;  // n for roots
  std::int32_t place;
};

struct ClimbBlock {
  std::int32_t index;  // first place / kBlock
  std::uint32_t mask;
};

struct ClimbRows {
  std::int64_t n;
  std::int64_t arcs;
  const ClimbRow* rows;  // n + 1
  const ClimbBlock* blocks;
};

// A climb from one vertex. `best` is padded to whole blocks and holds "no path" above the start.
template <class Value>
struct Climb {
  const Value* values;      // of pairs: up from an origin, down from a destination
  Value* best;              // by place
  std::int32_t* tails;      // by place: the place that the best path comes from; or null
  std::int32_t* ancestors;  // by place: the vertex; or null
};

template <class Value>
struct Meeting {
  Value value;
  std::int32_t place;  // -1 where the climbs do not meet
};

enum class PathKind { kMinPlus, kSignedMinPlus, kMaxMin, kMaxTimes };

template <class Value>
struct ClimbKernel {
  // Climbs from v to its lowest ancestor of rank `end` or more, which is returned and not relaxed;
  // n if there is none.
  std::int32_t (*climb)(const ClimbRows&, const Climb<Value>&, std::int32_t v, std::int32_t end,
                        Value no_path);

  // Goes on from a common ancestor of both ends, and returns the best path over any of them. With
  // `prune`, paths do not improve as they grow, and ancestors beyond the best path are not relaxed.
  Meeting<Value> (*meet)(const ClimbRows&, const Climb<Value>& origin,
                         const Climb<Value>& destination, std::int32_t v, Value no_path,
                         bool prune);

  // The best path over any of `count` common ancestors, where both ends have climbed to the root.
  Value (*join)(const Value* origin, const Value* destination, std::int64_t count, Value no_path);
};

// The version for a level of simd::levels(); -1 is the best. With tails and ancestors, or without.
template <class Value, PathKind kind>
ClimbKernel<Value> climb_kernel(bool with_tails, int level = -1);

}  // namespace kleene::prepared
