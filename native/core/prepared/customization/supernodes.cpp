#include "prepared/customization/supernodes.hpp"

#include <algorithm>

#include "parallel/team.hpp"

namespace kleene::prepared {
namespace {

using parallel::Buffer;

// What a source costs beside its triangles, in triangles.
constexpr std::int64_t kSourceWork = 4;

// Subtrees for each thread: more are of more equal work, but leave more above them.
constexpr std::int64_t kSubtreesPerThread = 8;

// Calls visit(target, source, triangles) for all sources of all targets, by source.
template <class Visit>
void visit_sources(const Elimination& elimination, const Supernodes& supernodes,
                   const std::int32_t* supernode_of, Visit&& visit) {
  for (std::int64_t s = 0; s < supernodes.count(); ++s) {
    const std::int32_t first = supernodes.starts[s], end = supernodes.starts[s + 1];
    const std::int64_t heads_end = elimination.offsets[end],
                       heads_begin = elimination.offsets[end - 1];
    for (std::int64_t i = heads_begin; i + 1 < heads_end;) {  // the last has no other above it
      const std::int32_t target = supernode_of[elimination.heads[i]];
      const Source source{i, static_cast<std::int32_t>(heads_end - i),
                          static_cast<std::int32_t>(i - heads_begin), first, end - first};
      std::int64_t triangles = 0;
      while (i < heads_end && elimination.heads[i] < supernodes.starts[target + 1]) {
        triangles += heads_end - 1 - i++;
      }
      visit(target, source, source.vertices * triangles);
    }
  }
}

}  // namespace

Supernodes find_supernodes(const Elimination& elimination) {
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
  Supernodes made;
  made.starts = Buffer<std::int32_t>(count + 1);
  made.firsts = Buffer<std::int32_t>(count);
  for (std::int64_t v = n - 1; v >= 0; --v) {
    made.starts[supernode_of[v]] = static_cast<std::int32_t>(v);
  }
  made.starts[count] = static_cast<std::int32_t>(n);
  for (std::int64_t s = 0; s < count; ++s) made.firsts[s] = static_cast<std::int32_t>(s);
  for (std::int64_t s = 0; s < count; ++s) {
    const std::int32_t parent = elimination.parents[made.starts[s + 1] - 1];
    if (parent < 0) continue;
    std::int32_t& first = made.firsts[supernode_of[parent]];
    first = std::min(first, made.firsts[s]);
  }

  // Count sources, by the supernode after the target; add up; fill in.
  made.work = Buffer<std::int64_t>(count + 1);
  made.source_offsets = Buffer<std::int64_t>(count + 1);
  std::fill_n(made.source_offsets.data(), count + 1, 0);
  made.work[0] = 0;
  for (std::int64_t s = 0; s < count; ++s) {
    const std::int64_t vertices = made.starts[s + 1] - made.starts[s];
    const std::int64_t above = size(made.starts[s + 1] - 1);
    made.work[s + 1] = vertices * (vertices - 1) / 2 * (vertices / 3 + above) + kSourceWork;
  }
  visit_sources(elimination, made, supernode_of.data(),
                [&](std::int32_t target, const Source&, std::int64_t triangles) {
                  ++made.source_offsets[target + 1];
                  made.work[target + 1] += triangles + kSourceWork;
                });
  for (std::int64_t s = 0; s < count; ++s) {
    made.work[s + 1] += made.work[s];
    made.source_offsets[s + 1] += made.source_offsets[s];
  }
  made.sources = Buffer<Source>(made.source_offsets[count]);
  Buffer<std::int64_t> next(count);
  std::copy_n(made.source_offsets.data(), count, next.data());
  visit_sources(elimination, made, supernode_of.data(),
                [&](std::int32_t target, const Source& source, std::int64_t) {
                  made.sources[next[target]++] = source;
                });
  return made;
}

Shares share_supernodes(const Supernodes& supernodes, int threads) {
  Shares shares;
  if (threads == 1) {
    shares.subtrees.push_back({0, supernodes.count()});
    return shares;
  }
  const std::int64_t* const work = supernodes.work.data();
  const std::int64_t most = work[supernodes.count()] / (kSubtreesPerThread * threads) + 1;
  for (std::int64_t s = supernodes.count() - 1; s >= 0;) {
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

namespace {

void visit_subtrees(const Supernodes& supernodes, const Shares& shares, int threads,
                    parallel::Monitor& monitor,
                    parallel::FunctionRef<void(std::int32_t, std::int32_t)> body) {
  parallel::parallel_for(static_cast<std::int64_t>(shares.subtrees.size()), 1, threads, monitor,
                         [&](std::int64_t i, std::int64_t, int) {
                           const auto [begin, end] = shares.subtrees[i];
                           body(supernodes.starts[begin], supernodes.starts[end]);
                         });
}

}  // namespace

void bottom_up(const Supernodes& supernodes, int threads, parallel::Monitor& monitor,
               parallel::FunctionRef<void(std::int32_t, std::int32_t)> body) {
  const Shares shares = share_supernodes(supernodes, threads);
  visit_subtrees(supernodes, shares, threads, monitor, body);
  for (const std::int64_t s : shares.above) body(supernodes.starts[s], supernodes.starts[s + 1]);
}

void top_down(const Supernodes& supernodes, int threads, parallel::Monitor& monitor,
              parallel::FunctionRef<void(std::int32_t, std::int32_t)> body) {
  const Shares shares = share_supernodes(supernodes, threads);
  for (auto s = shares.above.rbegin(); s != shares.above.rend(); ++s) {
    body(supernodes.starts[*s], supernodes.starts[*s + 1]);
  }
  visit_subtrees(supernodes, shares, threads, monitor, body);
}

}  // namespace kleene::prepared
