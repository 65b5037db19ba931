// A fixed-size array that is not zeroed when made: large outputs are first touched by the threads
// that fill them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>

namespace kleene {

template <class T>
class Buffer {
 public:
  Buffer() = default;
  explicit Buffer(std::int64_t size)
      : data_(std::make_unique_for_overwrite<T[]>(static_cast<std::size_t>(size))), size_(size) {}

  T* data() { return data_.get(); }
  const T* data() const { return data_.get(); }
  std::int64_t size() const { return size_; }
  T& operator[](std::int64_t i) { return data_[static_cast<std::size_t>(i)]; }
  const T& operator[](std::int64_t i) const { return data_[static_cast<std::size_t>(i)]; }

  // Gives the memory away; the new owner frees it with delete[].
  T* release() {
    size_ = 0;
    return data_.release();
  }

 private:
  std::unique_ptr<T[]> data_;
  std::int64_t size_ = 0;
};

}  // namespace kleene
