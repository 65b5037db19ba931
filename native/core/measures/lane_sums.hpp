// The inner loops of betweenness by lanes: sums of rows of numbers, a lane for each source, one
// version per vector instruction set, chosen at run time (simd/levels.hpp).
//
// Each vertex has a row of kLanes numbers in an array, and a set of lanes. Rows are not cleared
// between batches: a number counts only where a set says so.
#pragma once

#include <cstdint>
#include <type_traits>

namespace kleene::measures {

// Some of the lanes.
template <int kLanes>
using LaneSet = std::conditional_t<
    kLanes <= 8, std::uint8_t,
    std::conditional_t<kLanes <= 16, std::uint16_t,
                       std::conditional_t<kLanes <= 32, std::uint32_t, std::uint64_t>>>;

// A vertex, and the lanes whose source it has the distance of a level from.
template <int kLanes>
struct LevelEntry {
  std::int32_t vertex;
  LaneSet<kLanes> lanes;
};

struct ArcView {
  const std::int64_t* offsets;
  const std::int32_t* neighbors;
};

// One step forward, from a level to the next.
template <int kLanes>
struct ForwardStep {
  ArcView outgoing, incoming;
  LaneSet<kLanes> all;           // the lanes of the batch
  const LaneSet<kLanes>* front;  // of each vertex, its lanes in this level
  LaneSet<kLanes>* next;         // and in the next one
  LaneSet<kLanes>* seen;         // in any level so far
  const double* from;            // numbers of paths to vertices of this level
  double* to;                    // and of the next one
};

// What a step forward has found.
struct Found {
  std::int64_t entries = 0;
  std::int64_t frontier_arcs = 0;  // leave the vertices of the next level
  std::int64_t closed_arcs = 0;    // enter vertices that all lanes have seen now
  double largest = 0;              // number of paths
};

// One step backward: the vertices of a level collect from the next one.
template <int kLanes>
struct BackwardStep {
  ArcView outgoing;
  const LaneSet<kLanes>* next;   // of each vertex, its lanes in the next level; null: there is none
  LaneSet<kLanes>* front;        // filled: lanes in this level
  const double* counts;          // of paths, at this level
  const double* from;            // what the next level hands back, for one path
  double* to;                    // the same of this level
  const double* source_weights;  // of each lane
  const double* target_weights;  // of each vertex
  bool is_first;                 // the level of the sources
  bool endpoints;
  double* through;  // sums of vertices
  double* along;    // sums of arcs, or null
};

template <int kLanes>
struct LaneSums {
  // Vertices begin .. end - 1 collect from the frontier; `found` has room for all of them.
  using Pull = Found(const ForwardStep<kLanes>& step, std::int64_t begin, std::int64_t end,
                     LevelEntry<kLanes>* found);
  // Entries of the frontier add to their heads; lists each head once, with no lanes yet. `found`
  // has room for the heads of all arcs, or for all vertices.
  using Push = Found(const ForwardStep<kLanes>& step, const LevelEntry<kLanes>* entries,
                     std::int64_t count, LevelEntry<kLanes>* found);
  using PullBack = void(const BackwardStep<kLanes>& step, const LevelEntry<kLanes>* entries,
                        std::int64_t count);

  Pull* pull;
  Push* push;
  PullBack* pull_back;
};

// The version for a level of simd::levels(); -1 is the best.
template <int kLanes>
LaneSums<kLanes> lane_sums(int level = -1);

}  // namespace kleene::measures
