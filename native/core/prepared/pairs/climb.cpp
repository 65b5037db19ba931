#include "prepared/pairs/climb.hpp"

#include <vector>

namespace kleene::prepared {
namespace {

// The depth of each vertex; roots have 0.
std::vector<std::int32_t> depths_of(const Elimination& elimination) {
  std::vector<std::int32_t> depths(static_cast<std::size_t>(elimination.n));
  for (std::int64_t v = elimination.n - 1; v >= 0; --v) {
    const std::int32_t parent = elimination.parents[v];
    depths[static_cast<std::size_t>(v)] =
        parent < 0 ? 0 : depths[static_cast<std::size_t>(parent)] + 1;
  }
  return depths;
}

}  // namespace

ClimbTree::ClimbTree(const Elimination& elimination)
    : n_(elimination.n), arcs_(elimination.arcs()), places_(0), rows_(elimination.n + 1) {
  std::vector<std::int32_t> places = depths_of(elimination);
  const std::int32_t deepest = n_ == 0 ? -1 : *std::max_element(places.begin(), places.end());
  for (std::int32_t& place : places) place = deepest - place;
  places_ = (deepest + kBlock) / kBlock * kBlock;

  std::vector<ClimbBlock> blocks;
  blocks.reserve(static_cast<std::size_t>(n_));
  for (std::int64_t v = 0; v < n_; ++v) {
    const auto first = static_cast<std::int64_t>(blocks.size());
    const std::int32_t parent = elimination.parents[v];
    rows_[v] = {elimination.offsets[v], first, parent < 0 ? n() : parent,
                places[static_cast<std::size_t>(v)]};
    std::int32_t last = -1;
    for (std::int64_t i = elimination.offsets[v]; i < elimination.offsets[v + 1]; ++i) {
      const std::int32_t place = places[static_cast<std::size_t>(elimination.heads[i])];
      if (place / kBlock != last) blocks.push_back({last = place / kBlock, 0});
      blocks.back().mask |= 1u << (place % kBlock);
    }
  }
  const auto count = static_cast<std::int64_t>(blocks.size());
  rows_[n_] = {arcs_, count, n(), 0};
  blocks_ = parallel::Buffer<ClimbBlock>(count);
  std::copy(blocks.begin(), blocks.end(), blocks_.data());
}

}  // namespace kleene::prepared
