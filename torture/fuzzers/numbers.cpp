// Whole numbers and real ones, beside the C library's strtoll and strtod.
#include <cerrno>

#include "fuzzer.hpp"
#include "text/scan.hpp"

namespace kleene::fuzz {
namespace {

bool is_digit(char c) { return '0' <= c && c <= '9'; }

void check_integer(const char* begin, const char* end) {
  std::int64_t value = 0;
  const char* p = begin;
  const Scan scan = scan_integer(p, end, value);
  const char* const digits = begin + (*begin == '-' || *begin == '+');
  const char* last = digits;
  while (is_digit(*last)) ++last;
  if (last == digits) return require(scan == Scan::kNotANumber, "no digits, no number");
  errno = 0;
  const std::int64_t expected = std::strtoll(begin, nullptr, 10);
  require(p == last, "all digits are read");
  require(scan == (errno == ERANGE ? Scan::kTooLarge : Scan::kDone), "what fits int64");
  if (scan == Scan::kDone) require(value == expected, "a whole number");
}

void check_real(const char* begin, const char* end) {
  double value = 0;
  const char* p = begin;
  const Scan scan = scan_real(p, end, value);
  const char* const number = begin + (*begin == '-' || *begin == '+');
  const bool hexadecimal = number[0] == '0' && (number[1] == 'x' || number[1] == 'X');
  const bool nan_with_letters = (number[0] | 32) == 'n';
  if (hexadecimal || nan_with_letters || *begin == ' ' || (9 <= *begin && *begin <= 13)) return;
  char* last = nullptr;
  errno = 0;
  const double expected = std::strtod(begin, &last);
  if (last == begin) return require(scan == Scan::kNotANumber, "no real number");
  require(scan != Scan::kNotANumber && p == last, "all of a real number is read");
  if (std::abs(expected) == HUGE_VAL && errno == ERANGE) {
    return require(scan == Scan::kTooLarge, "what fits float64");
  }
  if (std::isinf(expected)) {
    return require(scan == (expected > 0 ? Scan::kDone : Scan::kNaN), "infinity");
  }
  require(scan == Scan::kDone, "a real number");
  // Below the smallest normal number, from_chars may say that no double holds it, and 0 is taken.
  const bool tiny = std::abs(expected) < std::numeric_limits<double>::min();
  require(value == expected || (tiny && value == 0), "the nearest real number");
}

}  // namespace
}  // namespace kleene::fuzz

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace kleene::fuzz;
  // A parser's text ends with a line end, and has none of the NULs at which the C library stops.
  std::string text(reinterpret_cast<const char*>(data), size);
  for (char& c : text) c = c == '\0' ? '0' : c;
  text += '\n';
  const char* const end = text.data() + text.size();
  check_integer(text.data(), end);
  check_real(text.data(), end);
  return 0;
}
