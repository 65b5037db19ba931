// Answers no larger than what searches reach: compressed rows of vertices, distances and
// predecessors, one row per source.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <vector>

#include "graph/csr.hpp"
#include "parallel/buffer.hpp"
#include "parallel/team.hpp"

namespace kleene::graph {

using namespace parallel;

// What one source reaches, by vertex.
template <class Id, class Value>
struct ReachedRow {
  Buffer<Id> vertices;
  Buffer<Value> distances;
  Buffer<Id> predecessors;

  std::int64_t bytes() const {
    const auto ids = static_cast<std::size_t>(vertices.size() + predecessors.size());
    return static_cast<std::int64_t>(ids * sizeof(Id) +
                                     static_cast<std::size_t>(distances.size()) * sizeof(Value));
  }
};

// Row i is what source i reaches: entries offsets[i] .. offsets[i + 1], by vertex.
template <class Id, class Value>
struct Reached {
  Buffer<std::int64_t> offsets;
  Buffer<Id> vertices;
  Buffer<Value> distances;
  Buffer<Id> predecessors;  // empty unless asked for
};

// Counts what rows take, here and once more in the arrays that they are joined in.
class MemoryBudget {
 public:
  MemoryBudget(std::int64_t available, std::int64_t rows) : available_(available), rows_(rows) {}

  void take(std::int64_t bytes) {
    const std::int64_t used = used_.fetch_add(2 * bytes, std::memory_order_relaxed) + 2 * bytes;
    const std::int64_t done = done_.fetch_add(1, std::memory_order_relaxed) + 1;
    if (used <= available_) return;
    const double all = static_cast<double>(used) / static_cast<double>(done);
    throw MemoryNeeded{static_cast<std::int64_t>(all * static_cast<double>(rows_))};
  }

 private:
  const std::int64_t available_, rows_;
  std::atomic<std::int64_t> used_{0}, done_{0};
};

template <class T>
void move_row(Buffer<T>& from, Buffer<T>& to, std::int64_t at) {
  std::copy_n(from.data(), from.size(), to.data() + at);
  from = Buffer<T>();
}

template <class Id, class Value>
Reached<Id, Value> joined_rows(std::vector<ReachedRow<Id, Value>>& rows, bool with_predecessors,
                               int threads, Monitor& monitor) {
  const auto count = static_cast<std::int64_t>(rows.size());
  Reached<Id, Value> all;
  all.offsets = Buffer<std::int64_t>(count + 1);
  all.offsets[0] = 0;
  for (std::int64_t i = 0; i < count; ++i) {
    all.offsets[i + 1] = all.offsets[i] + rows[static_cast<std::size_t>(i)].vertices.size();
  }
  const std::int64_t size = all.offsets[count];
  all.vertices = Buffer<Id>(size);
  all.distances = Buffer<Value>(size);
  all.predecessors = Buffer<Id>(with_predecessors ? size : 0);
  constexpr std::int64_t kGrain = 64;
  parallel_for(count, kGrain, threads, monitor, [&](std::int64_t begin, std::int64_t end, int) {
    for (std::int64_t i = begin; i < end; ++i) {
      ReachedRow<Id, Value>& row = rows[static_cast<std::size_t>(i)];
      const std::int64_t at = all.offsets[i];
      move_row(row.vertices, all.vertices, at);
      move_row(row.distances, all.distances, at);
      move_row(row.predecessors, all.predecessors, at);
    }
  });
  return all;
}

}  // namespace kleene::graph
