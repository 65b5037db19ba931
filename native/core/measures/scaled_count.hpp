// Numbers of paths beyond the range of a double: a mantissa and an exponent of their own.
//
// A grid of 600 x 600 vertices has more shortest paths between its corners than the largest double
// (2^1024). Centralities need only ratios of such counts, and a ratio of two counts on the same
// shortest paths is at most one. So a search whose largest count exceeds kLargestCount is done
// again with these numbers, which are slower and have no range to leave.
//
// Numbers are not negative. The mantissa is in [0.5, 1), or 0 with the smallest exponent; so the
// order of numbers is that of (exponent, mantissa).
#pragma once

#include <algorithm>
#include <cmath>
#include <compare>
#include <cstdint>

namespace kleene::measures {

// The largest count that doubles are trusted with: sums and products of the ratios that follow from
// it stay in their range.
constexpr double kLargestCount = 0x1p900;

class ScaledCount {
 public:
  ScaledCount() = default;
  ScaledCount(double number) : ScaledCount(number, 0) {}  // NOLINT: as for built-in numbers

  // mantissa * 2^exponent; the mantissa is any finite number that is not negative.
  ScaledCount(double mantissa, std::int64_t exponent) {
    if (mantissa == 0) return;
    int shift;
    mantissa_ = std::frexp(mantissa, &shift);
    exponent_ = exponent + shift;
  }

  double mantissa() const { return mantissa_; }
  std::int64_t exponent() const { return exponent_; }

  // The nearest double: infinity beyond the largest, 0 below the smallest.
  explicit operator double() const {
    constexpr std::int64_t kBeyond = 4096;  // any double, whatever its mantissa
    return std::ldexp(mantissa_, static_cast<int>(std::clamp(exponent_, -kBeyond, kBeyond)));
  }

  friend ScaledCount operator+(const ScaledCount& a, const ScaledCount& b) {
    const ScaledCount& more = a.exponent_ < b.exponent_ ? b : a;
    const ScaledCount& less = a.exponent_ < b.exponent_ ? a : b;
    constexpr std::int64_t kLost = 64;  // bits, more than a mantissa has
    const std::int64_t shift = more.exponent_ - less.exponent_;
    if (shift > kLost) return more;
    return {more.mantissa_ + std::ldexp(less.mantissa_, static_cast<int>(-shift)), more.exponent_};
  }
  friend ScaledCount operator*(const ScaledCount& a, const ScaledCount& b) {
    return {a.mantissa_ * b.mantissa_, a.exponent_ + b.exponent_};
  }
  // b is not 0.
  friend ScaledCount operator/(const ScaledCount& a, const ScaledCount& b) {
    return {a.mantissa_ / b.mantissa_, a.exponent_ - b.exponent_};
  }
  ScaledCount& operator+=(const ScaledCount& other) { return *this = *this + other; }
  ScaledCount& operator*=(const ScaledCount& other) { return *this = *this * other; }
  ScaledCount& operator/=(const ScaledCount& other) { return *this = *this / other; }

  friend bool operator==(const ScaledCount& a, const ScaledCount& b) = default;
  friend std::partial_ordering operator<=>(const ScaledCount& a, const ScaledCount& b) = default;

 private:
  static constexpr std::int64_t kZero = -(std::int64_t{1} << 61);  // sums of two do not wrap

  std::int64_t exponent_ = kZero;  // first: it decides the order
  double mantissa_ = 0;
};

// The ratio of two counts, the second not 0.
inline double ratio(double a, double b) { return a / b; }
inline double ratio(const ScaledCount& a, const ScaledCount& b) {
  return static_cast<double>(a / b);
}

}  // namespace kleene::measures
