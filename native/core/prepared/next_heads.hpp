// The lower neighbors of each vertex in turn, without a transposed copy of the pairs.
#pragma once

#include <algorithm>

#include "parallel/buffer.hpp"
#include "prepared/elimination.hpp"

namespace kleene::prepared {

// Every vertex v stands in the list of the upward neighbor that takes from it next; when that has
// had its turn, v moves on to the one after.
class NextHeads {
 public:
  explicit NextHeads(const Elimination& elimination)
      : elimination_(elimination),
        first_(elimination.n),
        next_(elimination.n),
        place_(elimination.n) {
    std::fill_n(first_.data(), elimination.n, -1);
    std::copy_n(elimination.offsets, elimination.n, place_.data());
  }

  // Calls take(v, place of (v, u)) for the lower neighbors v of u. Vertices come in ascending
  // order.
  template <class Take>
  void visit(std::int32_t u, Take&& take) {
    for (std::int32_t v = first_[u]; v >= 0;) {
      const std::int32_t following = next_[v];
      take(v, place_[v]++);
      enter(v);
      v = following;
    }
    enter(u);
  }

 private:
  void enter(std::int32_t v) {
    if (place_[v] == elimination_.offsets[v + 1]) return;
    std::int32_t& list = first_[elimination_.heads[place_[v]]];
    next_[v] = list;
    list = v;
  }

  const Elimination elimination_;
  parallel::Buffer<std::int32_t> first_, next_;
  parallel::Buffer<std::int64_t> place_;
};

}  // namespace kleene::prepared
