#include "prepared/supernodes.hpp"

#include <algorithm>

namespace kleene::prepared {
namespace {

using parallel::Buffer;

// What a source costs beside its triangles, in triangles.
constexpr std::int64_t kSourceWork = 4;

// Subtrees for each thread: more are of more equal work, but leave more above them.
constexpr std::int64_t kSubtreesPerThread = 8;

// Calls visit(source, place, target, triangles) for all sources of all targets, by source.
template <class Visit>
void visit_sources(const Elimination& elimination, std::int64_t count, const std::int32_t* starts,
                   const std::int32_t* supernode_of, Visit&& visit) {
  for (std::int64_t s = 0; s < count; ++s) {
    const std::int32_t last = starts[s + 1] - 1;
    const std::int64_t vertices = starts[s + 1] - starts[s];
    const std::int32_t* const heads = elimination.heads + elimination.offsets[last];
    const std::int64_t size = elimination.offsets[last + 1] - elimination.offsets[last];
    for (std::int64_t place = 0; place + 1 < size;) {  // the last neighbor has none above it
      const std::int32_t target = supernode_of[heads[place]];
      std::int64_t triangles = 0, end = place;
      while (end < size && heads[end] < starts[target + 1]) triangles += size - 1 - end++;
      visit(static_cast<std::int32_t>(s), static_cast<std::int32_t>(place), target,
            vertices * triangles);
      place = end;
    }
  }
}

}  // namespace

SupernodeArrays find_supernodes(const Elimination& elimination) {
  const std::int64_t n = elimination.n;
  const auto size = [&](std::int64_t v) {
    return elimination.offsets[v + 1] - elimination.offsets[v];
  };
  Buffer<std::int32_t> supernode_of(n);
  std::int64_t count = 0;
  for (std::int64_t v = 0; v < n; ++v) {
    const bool joins = v > 0 && elimination.parents[v - 1] == v && size(v - 1) == size(v) + 1;
    if (!joins) ++count;
    supernode_of[v] = static_cast<std::int32_t>(count - 1);
  }
  SupernodeArrays made{Buffer<std::int32_t>(count + 1), Buffer<std::int32_t>(count),
                       Buffer<std::int64_t>(count + 1), Buffer<std::int64_t>(count + 1)};
  for (std::int64_t v = n - 1; v >= 0; --v) made.starts[supernode_of[v]] = v;
  made.starts[count] = static_cast<std::int32_t>(n);
  for (std::int64_t s = 0; s < count; ++s) made.firsts[s] = static_cast<std::int32_t>(s);
  for (std::int64_t s = 0; s < count; ++s) {
    const std::int32_t parent = elimination.parents[made.starts[s + 1] - 1];
    if (parent < 0) continue;
    std::int32_t& first = made.firsts[supernode_of[parent]];
    first = std::min(first, made.firsts[s]);
  }

  // Count, add up, fill in.
  std::int64_t* const offsets = made.source_offsets.data();
  std::fill_n(offsets, count + 1, 0);
  made.work[0] = 0;
  for (std::int64_t s = 0; s < count; ++s) {
    const std::int64_t vertices = made.starts[s + 1] - made.starts[s];
    const std::int64_t above = size(made.starts[s + 1] - 1);
    made.work[s + 1] = vertices * (vertices - 1) / 2 * (vertices / 3 + above) + kSourceWork;
  }
  visit_sources(elimination, count, made.starts.data(), supernode_of.data(),
                [&](std::int32_t, std::int32_t, std::int32_t target, std::int64_t triangles) {
                  ++offsets[target];
                  made.work[target + 1] += triangles + kSourceWork;
                });
  std::int64_t total = 0;
  for (std::int64_t s = 0; s < count; ++s) {
    made.work[s + 1] += made.work[s];
    total += offsets[s];
    offsets[s] = total;  // the end; filled backwards below
  }
  offsets[count] = total;
  made.sources = Buffer<std::int32_t>(total);
  made.source_places = Buffer<std::int32_t>(total);
  Buffer<std::int64_t> next(count);
  for (std::int64_t s = 0; s < count; ++s) next[s] = s == 0 ? 0 : offsets[s - 1];
  visit_sources(elimination, count, made.starts.data(), supernode_of.data(),
                [&](std::int32_t source, std::int32_t place, std::int32_t target, std::int64_t) {
                  const std::int64_t at = next[target]++;
                  made.sources[at] = source;
                  made.source_places[at] = place;
                });
  for (std::int64_t s = count; s > 0; --s) offsets[s] = offsets[s - 1];
  offsets[0] = 0;
  return made;
}

Shares share_supernodes(const Supernodes& supernodes, int threads) {
  Shares shares;
  if (threads == 1) {
    shares.subtrees.push_back({0, supernodes.count});
    return shares;
  }
  const std::int64_t* const work = supernodes.work;
  const std::int64_t most = work[supernodes.count] / (kSubtreesPerThread * threads) + 1;
  for (std::int64_t s = supernodes.count - 1; s >= 0;) {
    const std::int64_t first = supernodes.firsts[s], end = s + 1;
    if (work[end] - work[first] > most) {
      shares.above.push_back(s--);
      continue;
    }
    s = first - 1;
    // Small ones beside each other are one.
    if (!shares.subtrees.empty()) {
      Shares::Range& next = shares.subtrees.back();
      if (next.begin == end && work[next.end] - work[first] <= most) {
        next.begin = first;
        continue;
      }
    }
    shares.subtrees.push_back({first, end});
  }
  std::reverse(shares.above.begin(), shares.above.end());
  return shares;
}

}  // namespace kleene::prepared
