#include "graph/stored_rows.hpp"

#include <algorithm>

namespace kleene::graph {

// What is checked is the copy, which no other thread writes to.

template <class Offset>
bool copy_offsets(const Offset* offsets, std::int64_t n, std::int64_t stored, std::int64_t* copy) {
  std::copy_n(offsets, n + 1, copy);
  bool sound = copy[0] == 0 && copy[n] <= stored;
  for (std::int64_t v = 0; v < n; ++v) sound &= copy[v] <= copy[v + 1];
  return sound;
}

template <class Id>
bool copy_heads(const Id* heads, std::int64_t count, std::int64_t n, std::int32_t* copy) {
  bool sound = true;
  for (std::int64_t i = 0; i < count; ++i) {
    const Id v = heads[i];
    sound &= 0 <= v && v < static_cast<Id>(n);
    copy[i] = static_cast<std::int32_t>(v);
  }
  return sound;
}

template bool copy_offsets(const std::int32_t*, std::int64_t, std::int64_t, std::int64_t*);
template bool copy_offsets(const std::int64_t*, std::int64_t, std::int64_t, std::int64_t*);
template bool copy_heads(const std::int32_t*, std::int64_t, std::int64_t, std::int32_t*);
template bool copy_heads(const std::int64_t*, std::int64_t, std::int64_t, std::int32_t*);

}  // namespace kleene::graph
