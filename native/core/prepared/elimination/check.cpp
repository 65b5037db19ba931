// Whether arrays are an elimination of a graph: those of a file are, before anything else reads
// them (src/kleene/prepared/files.py).
//
// Every pass relies on what the passes before it found right: offsets lead into the heads, then
// heads are ranks, then the parents form a tree.
#include <algorithm>

#include "parallel/first_fault.hpp"
#include "parallel/team.hpp"
#include "prepared/elimination/eliminate.hpp"

namespace kleene::prepared {
namespace {

constexpr std::int64_t kGrain = 1 << 12;  // ranks handed to a thread at a time
constexpr std::int64_t kScanned = 8;      // heads up to which a scan beats a binary search

// Returns where a rank is in [begin, end), which is ascending, or where it would be.
const std::int32_t* find(const std::int32_t* begin, const std::int32_t* end, std::int32_t rank) {
  if (end - begin > kScanned) return std::lower_bound(begin, end, rank);
  return std::find_if(begin, end, [&](std::int32_t head) { return head >= rank; });
}

bool contains(const Elimination& e, std::int32_t v, std::int32_t head) {
  const std::int32_t* const end = e.heads + e.offsets[v + 1];
  const std::int32_t* const at = find(e.heads + e.offsets[v], end, head);
  return at != end && *at == head;
}

bool heads_ascend(const Elimination& e, std::int64_t v) {
  std::int64_t below = v;
  for (std::int64_t i = e.offsets[v]; i < e.offsets[v + 1]; ++i) {
    if (e.heads[i] <= below) return false;
    below = e.heads[i];
  }
  return below < e.n;
}

// The heads of v after the first, which is the parent, must be heads of the parent. The search goes
// on from the last one that was found, in steps that double: a parent may have long rows and many
// children.
bool heads_are_of_parent(const Elimination& e, std::int64_t v) {
  const std::int64_t first = e.offsets[v];
  if (e.offsets[v + 1] - first < 2) return true;
  const std::int32_t parent = e.heads[first];
  const std::int32_t* at = e.heads + e.offsets[parent];
  const std::int32_t* const end = e.heads + e.offsets[parent + 1];
  for (std::int64_t i = first + 1; i < e.offsets[v + 1]; ++i) {
    const std::int32_t head = e.heads[i];
    std::int64_t step = 1;
    while (step < end - at && at[step] < head) step *= 2;
    at = find(at, at + std::min<std::int64_t>(step + 1, end - at), head);
    if (at == end || *at != head) return false;
  }
  return true;
}

Fault row_fault(const Elimination& e, std::int64_t v) {
  if (!heads_ascend(e, v)) return Fault::kHeads;
  const bool root = e.offsets[v] == e.offsets[v + 1];
  if (e.parents[v] != (root ? -1 : e.heads[e.offsets[v]])) return Fault::kParents;
  return heads_are_of_parent(e, v) ? Fault::kNone : Fault::kFill;
}

// In a postorder that is read from its end, the parent of each vertex is the vertex before or an
// ancestor of that one: the path to the root is a stack, and what is left of it once is never
// looked at again.
Finding postorder_fault(const Elimination& e) {
  for (std::int64_t v = e.n - 2; v >= 0; --v) {
    std::int64_t at = v + 1;
    while (at != e.parents[v] && at != -1) at = e.parents[at];
    if (at != e.parents[v]) return {Fault::kPostorder, v};
  }
  return {Fault::kNone, 0};
}

}  // namespace

Finding check_elimination(const Elimination& e, const std::int32_t* order,
                          const std::int32_t* ranks, std::int64_t heads,
                          const graph::Arcs<std::int32_t>& graph, int threads,
                          parallel::Monitor& monitor) {
  // Calls fault(rank) for all ranks; returns the first that is not kNone.
  const auto first = [&](auto&& fault) -> Finding {
    parallel::FirstFault found;
    parallel::parallel_for(e.n, kGrain, threads, monitor, [&](auto begin, auto end, int) {
      for (std::int64_t v = begin; v < end; ++v) {
        if (fault(v) != Fault::kNone) return found.note(v);
      }
    });
    if (!found.any()) return {Fault::kNone, 0};
    return {fault(found.position()), found.position()};
  };

  if (e.offsets[0] != 0 || e.offsets[e.n] != heads) return {Fault::kOffsets, 0};
  Finding finding = first([&](std::int64_t v) {
    if (e.offsets[v] > e.offsets[v + 1]) return Fault::kOffsets;
    const bool known = order[v] >= 0 && order[v] < e.n;
    return known && ranks[order[v]] == v ? Fault::kNone : Fault::kOrder;
  });
  if (finding.fault == Fault::kNone) {
    finding = first([&](std::int64_t v) { return row_fault(e, v); });
  }
  if (finding.fault == Fault::kNone) finding = postorder_fault(e);
  if (finding.fault == Fault::kNone) {
    finding = first([&](std::int64_t rank) {
      const auto v = static_cast<std::int32_t>(rank);
      for (std::int64_t i = graph.offsets[order[v]]; i < graph.offsets[order[v] + 1]; ++i) {
        const std::int32_t u = ranks[graph.neighbors[i]];
        if (u != v && !contains(e, std::min(u, v), std::max(u, v))) return Fault::kArcs;
      }
      return Fault::kNone;
    });
  }
  return finding;
}

}  // namespace kleene::prepared
