// Random numbers by counter: item i of a stream depends on (seed, stream, i) and on nothing else,
// so that threads may make items in any order, on any platform, and get the same graph.
//
// The bits are those of SplitMix64 (Steele, Lea and Flood 2014, "Fast splittable pseudorandom
// number generators"), whose state is a counter to begin with. Everything here is integer
// arithmetic: no result depends on how a compiler or a libm rounds.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <utility>
#include <vector>

namespace kleene::generate {

// What a stream of random numbers is for. The values are part of what a seed means: changing one
// changes every graph made with it.
enum class Purpose : std::uint64_t {
  kArcs = 1,
  kRelabel = 2,
  kNoise = 3,
  kDegrees = 4,
  kTree = 5,
  kRows = 6,
  kDrop = 7,
  kWeights = 8,
  kPaths = 9,
};

// The high half of a 128-bit product.
inline std::uint64_t multiply_high(std::uint64_t a, std::uint64_t b) {
#ifdef __SIZEOF_INT128__
  return static_cast<std::uint64_t>(static_cast<unsigned __int128>(a) * b >> 64);
#else
  const std::uint64_t low = 0xffffffff, a1 = a >> 32, b1 = b >> 32, a0 = a & low, b0 = b & low;
  const std::uint64_t middle = a1 * b0 + (a0 * b0 >> 32);
  return a1 * b1 + (middle >> 32) + ((a0 * b1 + (middle & low)) >> 32);
#endif
}

// 64 random bits as a number of [0, bound). Its bias, at most bound / 2^64, is beyond measuring.
inline std::uint64_t below(std::uint64_t bits, std::uint64_t bound) {
  return multiply_high(bits, bound);
}

// 64 random bits as a number of [0, 1), a multiple of 2^-53.
inline double unit(std::uint64_t bits) { return static_cast<double>(bits >> 11) * 0x1p-53; }

class Stream {
 public:
  Stream(std::uint64_t seed, Purpose purpose)
      : key_(mix(mix(seed + kGolden) + static_cast<std::uint64_t>(purpose) * kGolden)) {}

  // The 64 random bits of item i.
  std::uint64_t operator[](std::uint64_t i) const { return mix(key_ + i * kGolden); }

  // A stream of its own for item i, for items that need an unknown number of draws.
  Stream branch(std::uint64_t i) const { return Stream(mix(~(*this)[i])); }

 private:
  explicit Stream(std::uint64_t key) : key_(key) {}

  static constexpr std::uint64_t kGolden = 0x9e3779b97f4a7c15;  // 2^64 / golden ratio, odd

  static std::uint64_t mix(std::uint64_t x) {
    x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9;
    x = (x ^ (x >> 27)) * 0x94d049bb133111eb;
    return x ^ (x >> 31);
  }

  std::uint64_t key_;
};

// The random bits of an arc of a graph of n vertices; with `symmetric` its opposite has the same.
inline std::uint64_t arc_bits(const Stream& stream, std::int64_t n, std::int64_t source,
                              std::int64_t target, bool symmetric) {
  // untestable (< to <=): swaps equal vertices
  if (symmetric && target < source) std::swap(source, target);
  return stream[static_cast<std::uint64_t>(source) * static_cast<std::uint64_t>(n) +
                static_cast<std::uint64_t>(target)];
}

// A random permutation of [0, count), computed item by item and stored nowhere. The first k items
// are k distinct random numbers, and any thread can make any of them.
//
// An item is a cell of a rectangle that is as good as square and has at least `count` cells. A
// Feistel network over the residues of its sides permutes the cells (Black and Rogaway 2002,
// "Ciphers with arbitrary finite domains"); an item that lands on one of the few spare cells goes
// on from there until it lands on another.
class Shuffle {
 public:
  Shuffle(std::uint64_t count, const Stream& stream)
      : count_(count), rows_(side(count)), columns_((count + rows_ - 1) / rows_) {
    // Short sides mix slowly: with a few values in each, six rounds leave some outcomes twice as
    // likely as others.
    // untestable (second < to <=): how often exactly kSmall items are mixed
    for (std::uint64_t i = 0; i < (count < kSmall ? 24 : 6); ++i)
      rounds_.push_back(stream.branch(i));
  }

  // Where the permutation sends i.
  std::uint64_t operator[](std::uint64_t i) const {
    do {
      std::uint64_t row = i / columns_, column = i % columns_;
      for (auto round = rounds_.begin(); round != rounds_.end(); round += 2) {
        row = added(row, below(round[0][column], rows_), rows_);
        column = added(column, below(round[1][row], columns_), columns_);
      }
      i = row * columns_ + column;
    } while (i >= count_);
    return i;
  }

 private:
  static constexpr std::uint64_t kSmall = 1 << 16;

  // The least side of a square of at least `count` cells.
  static std::uint64_t side(std::uint64_t count) {
    auto side = static_cast<std::uint64_t>(std::sqrt(static_cast<double>(count)));
    while (side * side < count) ++side;
    return std::max<std::uint64_t>(side, 1);
  }

  static std::uint64_t added(std::uint64_t a, std::uint64_t b, std::uint64_t modulus) {
    const std::uint64_t sum = a + b;
    return sum - (modulus & -static_cast<std::uint64_t>(sum >= modulus));  // a coin toss: no branch
  }

  std::uint64_t count_, rows_, columns_;
  std::vector<Stream> rounds_;
};

}  // namespace kleene::generate
