// A fixed-size array that is not zeroed when made: large outputs are first touched by the threads
// that fill them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <new>

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

// The same on a cache line's boundary, for what vector instructions read: a vector that straddles
// two lines costs two reads.
template <class T>
class AlignedBuffer {
 public:
  AlignedBuffer() = default;
  explicit AlignedBuffer(std::int64_t size)
      : data_(static_cast<T*>(::operator new[](static_cast<std::size_t>(size) * sizeof(T), kLine))),
        size_(size) {}

  T* data() { return data_.get(); }
  std::int64_t size() const { return size_; }
  T& operator[](std::int64_t i) { return data_[static_cast<std::size_t>(i)]; }

 private:
  static constexpr std::align_val_t kLine{64};
  struct Free {
    void operator()(T* p) const { ::operator delete[](p, kLine); }
  };

  std::unique_ptr<T[], Free> data_;
  std::int64_t size_ = 0;
};

}  // namespace kleene
