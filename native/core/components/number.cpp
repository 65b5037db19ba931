// Numbers of components by decreasing size. In most graphs nearly all components are single
// vertices: these need no sorting, since they come last, in the order of their vertices.
#include <algorithm>
#include <vector>

#include "components/components.hpp"
#include "parallel/team.hpp"

namespace kleene::components {

template <class Id>
Buffer<std::int64_t> number_by_size(std::int64_t n, Id* component, int threads, Monitor& monitor) {
  constexpr std::int64_t kGrain = 1 << 14;

  // 1. Number components by their first vertices; count their vertices.
  Buffer<Id> number_of(n);  // of a representative
  parallel_fill(number_of.data(), n, Id{-1}, threads, monitor);
  std::vector<std::int64_t> sizes;
  for (std::int64_t v = 0; v < n; ++v) {
    if (v % kGrain == 0) monitor.poll();
    Id& number = number_of[component[v]];
    if (number < 0) {
      number = static_cast<Id>(sizes.size());
      sizes.push_back(0);
    }
    ++sizes[number];
  }

  // 2. Put them in the order of their sizes.
  std::vector<Id> order(sizes.size());
  // untestable (= 0 to = 1): the first is 0 already
  for (std::size_t i = 0; i < order.size(); ++i) order[i] = static_cast<Id>(i);
  // untestable (> to >=): components of one vertex are sorted, too, and keep their order
  const auto singles = std::stable_partition(order.begin(), order.end(),
                                             [&](Id number) { return sizes[number] > 1; });
  std::stable_sort(order.begin(), singles, [&](Id a, Id b) { return sizes[a] > sizes[b]; });
  Buffer<std::int64_t> sorted(static_cast<std::int64_t>(sizes.size()));
  std::vector<Id> rank(sizes.size());
  for (std::size_t i = 0; i < order.size(); ++i) {
    sorted[static_cast<std::int64_t>(i)] = sizes[order[i]];
    rank[order[i]] = static_cast<Id>(i);
  }

  // 3. Give every vertex the number of its component.
  parallel_for(n, kGrain, threads, monitor, [&](std::int64_t begin, std::int64_t end, int) {
    for (std::int64_t v = begin; v < end; ++v) component[v] = rank[number_of[component[v]]];
  });
  return sorted;
}

template Buffer<std::int64_t> number_by_size(std::int64_t, std::int32_t*, int, Monitor&);
template Buffer<std::int64_t> number_by_size(std::int64_t, std::int64_t*, int, Monitor&);

template <class Id>
void number_by_first(std::int64_t n, std::int64_t count, Id* component) {
  std::vector<Id> number(static_cast<std::size_t>(count), Id{-1});
  Id next = 0;
  for (std::int64_t v = 0; v < n; ++v) {
    Id& own = number[static_cast<std::size_t>(component[v])];
    if (own < 0) own = next++;
    component[v] = own;
  }
}

template void number_by_first(std::int64_t, std::int64_t, std::int32_t*);
template void number_by_first(std::int64_t, std::int64_t, std::int64_t*);

}  // namespace kleene::components
