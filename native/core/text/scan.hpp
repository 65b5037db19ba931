// The small parts of every text parser: classes of characters, numbers, and the types they need.
//
// The text that is scanned ends with '\n', so that a scan may run until it finds a character it
// does not accept without checking for the end.
#pragma once

#include <algorithm>
#include <array>
#include <atomic>
#include <bit>
#include <cctype>
#include <cerrno>
#include <charconv>
#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <limits>
#include <string>
#include <type_traits>

#include "text/c_locale.hpp"
#include "text/parse.hpp"

namespace kleene::text {

// The classes of characters in a layout.
class CharacterClasses {
 public:
  CharacterClasses(char separator, const std::string& comments) : separator_(separator) {
    of('\n') = of('\r') = kEnd;
    of(' ') = of('\t') = kBlank;
    of(separator) = separator == ' ' ? kBlank : kSeparator;
    for (const char c : comments) of(c) |= kComment;
  }

  bool blank(char c) const { return is(c, kBlank); }
  bool comment(char c) const { return is(c, kComment); }
  bool ends_field(char c) const { return is(c, kBlank | kSeparator | kEnd); }
  bool ends_line(char c) const { return is(c, kEnd); }

  // Behind the blanks at p. A '\r' belongs to the line end behind it; elsewhere it is a fault.
  const char* skip_blanks(const char* p) const {
    while (blank(*p)) ++p;
    return p + (*p == '\r' && p[1] == '\n');
  }

  // From the end of one field to the beginning of the next, or to the end of the line; null where
  // the separator is missing.
  const char* next_field(const char* p) const {
    p = skip_blanks(p);
    if (separator_ == ' ' || *p == '\n') return p;
    return *p == separator_ ? skip_blanks(p + 1) : nullptr;
  }

  // Behind the field that begins at p, quotes included.
  const char* field_end(const char* p) const {
    if (*p == '"') {
      const char* quote = closing_quote(p);
      return quote + (*quote == '"');
    }
    const char* q = p;
    if (separator_ == ' ') {
      while (!ends_field(*q)) ++q;
      return q;
    }
    while (!is(*q, kSeparator | kEnd)) ++q;
    while (q > p && blank(q[-1])) --q;
    return q;
  }

  // Whether a separator stands before p, so that a field begins there, if an empty one. Another
  // field of the line must end before p: the search stops there, not at the beginning of the text.
  bool follows_separator(const char* p) const {
    while (blank(p[-1]) || p[-1] == '\r') --p;
    return is(p[-1], kSeparator);
  }

  // At the quote that closes the one at p, or at the end of the line. Doubled quotes stand for one
  // and close nothing.
  static const char* closing_quote(const char* p) {
    for (++p; *p != '\n' && *p != '\r'; ++p) {
      if (*p != '"') continue;
      if (p[1] != '"') return p;
      ++p;
    }
    return p;
  }

 private:
  enum : std::uint8_t { kBlank = 1, kSeparator = 2, kEnd = 4, kComment = 8 };
  std::uint8_t& of(char c) { return classes_[static_cast<unsigned char>(c)]; }
  bool is(char c, int wanted) const { return classes_[static_cast<unsigned char>(c)] & wanted; }

  char separator_;
  std::array<std::uint8_t, 256> classes_{};
};

inline const char* skip_line(const char* p, const char* end) {
  return static_cast<const char*>(std::memchr(p, '\n', end - p)) + 1;
}

enum class Scan { kDone, kNotANumber, kTooLarge, kNaN };

// Reads up to eight digits at once (they must be there to be loaded, digits or not): how many of
// the characters are digits is the place of the first that is none, and three multiplications add
// neighbours into pairs, fours and eight.
[[gnu::always_inline]] inline int scan_eight(const char* p, std::uint64_t& value) {
  std::uint64_t x;
  std::memcpy(&x, p, 8);
  x ^= 0x3030303030303030;  // digits become 0 .. 9
  const std::uint64_t others = (x | (x + 0x7676767676767676)) & 0x8080808080808080;
  const int count = std::countr_zero(others) / 8;  // 8 when there are no others
  if (count == 0) return 0;
  x <<= 64 - 8 * count;  // zeros in front of the digits
  x = (x * 10 + (x >> 8)) & 0x00FF00FF00FF00FF;
  x = (x * 100 + (x >> 16)) & 0x0000FFFF0000FFFF;
  value = (x * 10000 + (x >> 32)) & 0x00000000FFFFFFFF;
  return count;
}

// Reads [+-]digits and moves p behind them.
[[gnu::always_inline]] inline Scan scan_integer(const char*& p, const char* end,
                                                std::int64_t& value) {
  const bool negative = *p == '-';
  const char* const digits = p + (negative || *p == '+');
  const char* q = digits;
  std::uint64_t sum = 0;
  // untestable (== to !=, >= to >): digits are read one by one
  const bool eight = std::endian::native == std::endian::little && end - q >= 8;
  if (eight) q += scan_eight(q, sum);
  if (!eight || q - digits == 8) {
    for (unsigned digit; (digit = static_cast<unsigned char>(*q) - unsigned{'0'}) <= 9; ++q) {
      sum = sum * 10 + digit;
    }
  }
  if (q == digits) return Scan::kNotANumber;
  p = q;
  // untestable (> to >=): std::from_chars reads the same value
  if (q - digits > 18) {  // the sum may have wrapped
    const auto [last, error] = std::from_chars(digits - negative, q, value);
    return error == std::errc{} ? Scan::kDone : Scan::kTooLarge;
  }
  value = negative ? -static_cast<std::int64_t>(sum) : static_cast<std::int64_t>(sum);
  return Scan::kDone;
}

// Of digits that no double holds: are they too small, not too large? The power of ten of the first
// digit other than zero decides.
inline bool is_tiny(const char* p, const char* end) {
  const char* const mantissa_end =
      std::find_if(p, end, [](char c) { return c == 'e' || c == 'E'; });
  const char* const point = std::find(p, mantissa_end, '.');
  const char* const first =
      std::find_if(p, mantissa_end, [](char c) { return '1' <= c && c <= '9'; });
  std::int64_t exponent = 0;
  if (mantissa_end < end) {
    const char* const digits = mantissa_end + 1 + (mantissa_end[1] == '+');
    const auto [last, error] = std::from_chars(digits, end, exponent);
    if (error == std::errc::result_out_of_range) return *digits == '-';
  }
  // untestable (< to <=, second < to >=): what no double holds is off by many powers of ten
  return exponent < first - point + (first < point);
}

// std::from_chars for floats, which libc++ has from version 20 on (Xcode 26).
template <class Real>
std::from_chars_result read_real(const char* first, const char* last, Real& value) {
  if constexpr (requires { std::from_chars(first, last, value); }) {
    return std::from_chars(first, last, value);
  } else {  // strtod accepts more: blanks and a plus in front, hexadecimal digits
    // untestable below: compiled only where std::from_chars lacks floats
    const char* const digits = first + (*first == '-');
    if (!std::isalnum(static_cast<unsigned char>(*digits)) && *digits != '.') {
      return {first, std::errc::invalid_argument};
    }
    if (*digits == '0' && (digits[1] == 'x' || digits[1] == 'X')) {
      value = 0;
      return {digits + 1, std::errc{}};
    }
    char* behind = nullptr;
    errno = 0;
    const Real read = strtod_in_c_locale(first, &behind);
    if (behind == first) return {first, std::errc::invalid_argument};
    if (errno == ERANGE && (read == 0 || std::isinf(read))) {
      return {behind, std::errc::result_out_of_range};
    }
    value = read;
    return {behind, std::errc{}};
  }
}

[[gnu::noinline]] inline Scan scan_real(const char*& p, const char* end, double& value) {
  const char* digits = p + (*p == '+');
  const auto [q, error] = read_real(digits, end, value);
  if (error == std::errc::invalid_argument || (*p == '+' && *digits == '-')) {
    return Scan::kNotANumber;
  }
  p = q;
  if (error == std::errc::result_out_of_range) {
    if (!is_tiny(digits, q)) return Scan::kTooLarge;
    value = 0;
  }
  return std::isnan(value) || value == -std::numeric_limits<double>::infinity() ? Scan::kNaN
                                                                                : Scan::kDone;
}

// The types of one pass over a text. A number that does not fit requests wider ones; the pass then
// ends and is repeated.
class Widths {
 public:
  Widths(bool weighted, WeightKind kind)
      : weight_(!weighted                   ? kNone
                : kind == WeightKind::kReal ? kDouble
                                            : kInt32) {}

  void start_with_wide_ids() { wide_ids_ = true; }

  // Any thread, during a pass.
  void request_wider_ids() { wider_ids_ = true; }
  void request_wider_weights() { wider_weights_ = true; }
  bool wider_requested() const { return wider_ids_ || wider_weights_; }

  // Calls pass(id, weight) with values of the types to use, until no wider ones are requested.
  template <class Pass>
  void until_wide_enough(Pass&& pass) {
    for (;;) {
      wide_ids_ ? with_weight(std::int64_t{}, pass) : with_weight(std::int32_t{}, pass);
      if (!wider_requested()) return;
      if (wider_ids_.exchange(false)) wide_ids_ = true;
      if (wider_weights_.exchange(false)) ++weight_;
    }
  }

 private:
  enum { kNone, kInt32, kInt64, kDouble };

  template <class Id, class Pass>
  void with_weight(Id id, Pass& pass) {
    if (weight_ == kNone) return pass(id, NoWeight{});
    if (weight_ == kInt32) return pass(id, std::int32_t{});
    if (weight_ == kInt64) return pass(id, std::int64_t{});
    return pass(id, double{});
  }

  bool wide_ids_ = false;
  int weight_;
  std::atomic<bool> wider_ids_{false};
  std::atomic<bool> wider_weights_{false};
};

// Reads a weight as the type of this pass, or requests a wider one and skips the number.
template <class Weight>
[[gnu::always_inline]] inline Scan scan_weight(const char*& p, const char* end, WeightKind kind,
                                               const CharacterClasses& classes, Weight& weight,
                                               Widths& widths) {
  constexpr bool kReal = std::is_same_v<Weight, double>;
  constexpr std::int64_t kExact = std::int64_t{1} << 53;
  const char* q = p;
  std::int64_t whole = 0;
  const Scan scan = scan_integer(q, end, whole);
  const bool is_integer = scan == Scan::kDone && (classes.ends_field(*q) || *q == '"');
  // untestable (<= to <, <= to >, second && to ||): std::from_chars reads the same value
  if (is_integer && (!kReal || (-kExact <= whole && whole <= kExact))) {
    weight = static_cast<Weight>(whole);
    if constexpr (!kReal) {
      if (weight != whole) widths.request_wider_weights();
    }
    p = q;
    return Scan::kDone;
  }
  if constexpr (kReal) {
    return scan_real(p, end, weight);
  } else {
    if (kind == WeightKind::kInteger) return scan == Scan::kDone ? Scan::kNotANumber : scan;
    double real;
    const Scan scanned = scan_real(p, end, real);
    if (scanned == Scan::kDone) widths.request_wider_weights();
    return scanned;
  }
}

inline std::string expected_weight(Scan scan, WeightKind kind) {
  const bool whole = kind == WeightKind::kInteger;
  if (scan == Scan::kNaN) return "a weight other than NaN and -inf";
  if (scan == Scan::kTooLarge)
    return whole ? "a weight that fits int64" : "a weight that fits float64";
  return whole ? "a whole number for the weight" : "a number for the weight";
}

}  // namespace kleene::text
