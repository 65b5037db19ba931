// Monotone priority queues of (distance, vertex): what is pushed is never nearer than what was
// popped last. There is no decrease-key: a vertex that gets nearer is pushed again, and the search
// drops stale entries.
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <type_traits>
#include <utility>
#include <vector>

namespace kleene::sssp {

template <class Id, class Value>
struct Entry {
  Value distance;
  Id vertex;
};

// Orders of entries. The second leaves no two vertices equal, so that what is popped does not
// depend on the heap.
struct ByDistance {
  template <class Item>
  bool operator()(const Item& a, const Item& b) const {
    return a.distance < b.distance;
  }
};
struct ByDistanceAndVertex {
  template <class Item>
  bool operator()(const Item& a, const Item& b) const {
    return a.distance < b.distance || (a.distance == b.distance && a.vertex < b.vertex);
  }
};

// A heap in which every entry has four children: half as deep as a binary one, and the four lie
// side by side (Johnson 1975).
template <class Id, class Value, class Before = ByDistance>
class QuadHeap {
 public:
  using Item = Entry<Id, Value>;

  bool empty() const { return items_.empty(); }
  void clear() { items_.clear(); }

  void push(Item item) {
    std::size_t hole = items_.size();
    items_.push_back(item);
    while (hole > 0) {
      const std::size_t up = (hole - 1) / 4;
      if (!before_(item, items_[up])) break;
      items_[hole] = items_[up];
      hole = up;
    }
    items_[hole] = item;
  }

  Item pop() {
    const Item top = items_.front();
    const Item last = items_.back();
    items_.pop_back();
    const std::size_t size = items_.size();
    if (size == 0) return top;
    std::size_t hole = 0;
    for (;;) {
      const std::size_t first = 4 * hole + 1;
      // untestable (>= to >): the child past the end is `last`, which is not nearer than itself
      if (first >= size) break;
      std::size_t least = first;
      // untestable (+ 1 to + 0): the first child is compared with itself
      // untestable (< to <=): the fifth, a child of the next entry, only passes farther ones
      for (std::size_t child = first + 1; child < std::min(first + 4, size); ++child) {
        if (before_(items_[child], items_[least])) least = child;
      }
      if (!before_(items_[least], last)) break;
      items_[hole] = items_[least];
      hole = least;
    }
    items_[hole] = last;
    return top;
  }

 private:
  std::vector<Item> items_;
  [[no_unique_address]] Before before_;
};

// A radix heap (Ahuja, Mehlhorn, Orlin and Tarjan 1990). Bucket b holds the entries whose distance
// first differs from the last one popped in bit b - 1; bucket 0 those that equal it. An entry only
// ever moves to lower buckets. Non-negative floats are ordered as their bits are.
template <class Id, class Value>
class RadixHeap {
 public:
  using Item = Entry<Id, Value>;

  bool empty() const { return size_ == 0; }

  void clear() {
    for (auto& bucket : buckets_) bucket.clear();
    size_ = 0;
    last_ = 0;
  }

  void push(Item item) {
    buckets_[bucket_of(key(item.distance))].push_back(item);
    ++size_;
  }

  Item pop() {
    if (buckets_[0].empty()) refill();
    const Item top = buckets_[0].back();
    buckets_[0].pop_back();
    --size_;
    return top;
  }

 private:
  using Key = std::conditional_t<sizeof(Value) == 4, std::uint32_t, std::uint64_t>;
  static constexpr std::size_t kBuckets = 8 * sizeof(Key) + 1;

  static Key key(Value distance) { return std::bit_cast<Key>(distance); }
  std::size_t bucket_of(Key at) const {
    return static_cast<std::size_t>(std::bit_width(static_cast<Key>(at ^ last_)));
  }

  // Moves the smallest entries to bucket 0, and their neighbours nearer to it.
  void refill() {
    std::size_t b = 1;
    while (buckets_[b].empty()) ++b;
    auto& bucket = buckets_[b];
    last_ = key(bucket.front().distance);
    for (const Item& item : bucket) last_ = std::min(last_, key(item.distance));
    for (const Item& item : bucket) buckets_[bucket_of(key(item.distance))].push_back(item);
    bucket.clear();
  }

  std::array<std::vector<Item>, kBuckets> buckets_;
  std::size_t size_ = 0;
  Key last_ = 0;
};

}  // namespace kleene::sssp
