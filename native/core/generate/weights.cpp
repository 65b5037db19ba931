// Random weights for the arcs of a graph that exists already.
#include <type_traits>

#include "generate/generate.hpp"
#include "generate/random.hpp"
#include "parallel/team.hpp"

namespace kleene::generate {
namespace {

constexpr std::int64_t kRowGrain = 1 << 6;  // rows handed to a thread at a time

}  // namespace

template <class Id, class Value>
Buffer<Value> arc_values(std::int64_t n, std::int64_t first, std::int64_t rows,
                         const std::int64_t* offsets, const Id* neighbors, bool symmetric,
                         std::int64_t low, std::uint64_t count, std::uint64_t seed, int threads,
                         Monitor& monitor) {
  const Stream stream(seed, Purpose::kWeights);
  const auto value = [&](std::uint64_t bits) {
    if constexpr (std::is_same_v<Value, double>) {
      return unit(bits);
    } else if constexpr (std::is_same_v<Value, float>) {
      return static_cast<float>(bits >> 40) * 0x1p-24f;
    } else {
      return static_cast<Value>(low + static_cast<std::int64_t>(below(bits, count)));
    }
  };
  Buffer<Value> values(offsets[rows]);
  parallel_for(rows, kRowGrain, threads, monitor, [&](auto begin, auto end, int) {
    for (std::int64_t v = begin; v < end; ++v) {
      for (std::int64_t i = offsets[v]; i < offsets[v + 1]; ++i) {
        values[i] = value(arc_bits(stream, n, first + v, neighbors[i], symmetric));
      }
    }
  });
  return values;
}

#define KLEENE_VALUE(ID, VALUE)                                                                    \
  template Buffer<VALUE> arc_values<ID, VALUE>(std::int64_t, std::int64_t, std::int64_t,           \
                                               const std::int64_t*, const ID*, bool, std::int64_t, \
                                               std::uint64_t, std::uint64_t, int, Monitor&);
#define KLEENE_ID(ID)            \
  KLEENE_VALUE(ID, std::int32_t) \
  KLEENE_VALUE(ID, std::int64_t) \
  KLEENE_VALUE(ID, float)        \
  KLEENE_VALUE(ID, double)

KLEENE_ID(std::int32_t)
KLEENE_ID(std::int64_t)

}  // namespace kleene::generate
