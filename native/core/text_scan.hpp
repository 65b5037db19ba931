// The small parts of every text parser: chunks of whole lines, classes of characters, numbers.
//
// Every chunk ends with '\n' (a last line without one is copied and gets it), so that a scan may
// run until it meets a character it does not want without ever asking where the text ends.
#pragma once

#include <algorithm>
#include <array>
#include <atomic>
#include <bit>
#include <charconv>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <limits>
#include <optional>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "parallel.hpp"
#include "text.hpp"

namespace kleene {

struct Chunk {
  const char* begin;
  const char* end;
  std::int64_t line = 0;   // the number of its first line
  std::int64_t first = 0;  // how many lines (or rows) there are before it
};

class Chunks {
 public:
  // Cuts the text and numbers the lines of every chunk.
  Chunks(const Text& text, int threads, Monitor& monitor) : text_(text) {
    const char* at = text.data;
    const char* const end = text.data + text.size;
    while (at < end) {
      const char* from = at + std::min<std::int64_t>(text.grain, end - at) - 1;
      const auto* newline = static_cast<const char*>(std::memchr(from, '\n', end - from));
      if (newline == nullptr) {
        add_tail(at, end);
        break;
      }
      chunks_.push_back({at, newline + 1});
      at = newline + 1;
    }
    lines_ = number(threads, monitor, [](const Chunk& chunk) {
      return static_cast<std::int64_t>(std::count(chunk.begin, chunk.end, '\n'));
    });
    for (Chunk& chunk : chunks_) chunk.line = text.line + chunk.first;
  }

  // Sets `first` of every chunk from what `count` finds in each; returns the total.
  template <class Count>
  std::int64_t number(int threads, Monitor& monitor, Count&& count) {
    parallel_for(size(), 1, threads, monitor,
                 [&](auto i, auto, int) { chunks_[i].first = count(chunks_[i]); });
    std::int64_t sum = 0;
    for (Chunk& chunk : chunks_) sum += std::exchange(chunk.first, sum);
    return sum;
  }

  std::int64_t size() const { return static_cast<std::int64_t>(chunks_.size()); }
  const Chunk& operator[](std::int64_t i) const { return chunks_[static_cast<std::size_t>(i)]; }
  std::int64_t lines() const { return lines_; }

  // Where a pointer into a chunk lies in the text.
  std::int64_t offset(const char* p) const {
    const bool in_tail = !tail_.empty() && p >= tail_.data() && p <= tail_.data() + tail_.size();
    return in_tail ? tail_at_ + (p - tail_.data()) : p - text_.data;
  }

 private:
  void add_tail(const char* begin, const char* end) {
    // Whole lines before the last one stay where they are.
    const char* last = end;
    while (last > begin && last[-1] != '\n') --last;
    if (last > begin) chunks_.push_back({begin, last});
    tail_.assign(last, end);
    tail_ += '\n';
    tail_at_ = last - text_.data;
    chunks_.push_back({tail_.data(), tail_.data() + tail_.size()});
  }

  Text text_;
  std::vector<Chunk> chunks_;
  std::string tail_;
  std::int64_t tail_at_ = 0;
  std::int64_t lines_ = 0;
};

// What a character means in a layout.
class Alphabet {
 public:
  Alphabet(char separator, const std::string& comments) : separator_(separator) {
    of('\n') = kEnd;
    of(' ') = of('\t') = of('\r') = kBlank;
    of(separator) = separator == ' ' ? kBlank : kSeparator;
    for (const char c : comments) of(c) |= kComment;
  }

  bool blank(char c) const { return is(c, kBlank); }
  bool comment(char c) const { return is(c, kComment); }
  bool ends_field(char c) const { return is(c, kBlank | kSeparator | kEnd); }

  const char* skip_blanks(const char* p) const {
    while (blank(*p)) ++p;
    return p;
  }

  // From the end of one field to the beginning of the next, or to the end of the line.
  const char* next_field(const char* p) const {
    p = skip_blanks(p);
    return separator_ != ' ' && *p == separator_ ? skip_blanks(p + 1) : p;
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

  // At the quote that closes the one at p, or at the end of the line. Doubled quotes stand for one
  // and close nothing.
  static const char* closing_quote(const char* p) {
    for (++p; *p != '\n'; ++p) {
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
  const bool eight = std::endian::native == std::endian::little && end - q >= 8;
  if (eight) q += scan_eight(q, sum);
  if (!eight || q - digits == 8) {
    for (unsigned digit; (digit = static_cast<unsigned char>(*q) - unsigned{'0'}) <= 9; ++q) {
      sum = sum * 10 + digit;
    }
  }
  if (q == digits) return Scan::kNotANumber;
  p = q;
  if (q - digits > 18) {  // the sum may have wrapped: ask someone careful
    const auto [last, error] = std::from_chars(digits - negative, q, value);
    return error == std::errc{} ? Scan::kDone : Scan::kTooLarge;
  }
  value = negative ? -static_cast<std::int64_t>(sum) : static_cast<std::int64_t>(sum);
  return Scan::kDone;
}

[[gnu::noinline]] inline Scan scan_real(const char*& p, const char* end, double& value) {
  const char* digits = p + (*p == '+');
  const auto [q, error] = std::from_chars(digits, end, value);
  if (error == std::errc::invalid_argument || (*p == '+' && *digits == '-')) {
    return Scan::kNotANumber;
  }
  p = q;
  if (error == std::errc::result_out_of_range) return Scan::kTooLarge;
  return std::isnan(value) || value == -std::numeric_limits<double>::infinity() ? Scan::kNaN
                                                                                : Scan::kDone;
}

// The types of one pass over a text. A number that does not fit asks for wider ones; the pass is
// then abandoned and repeated.
class Widths {
 public:
  Widths(bool weighted, WeightKind kind)
      : weight_(!weighted                   ? kNone
                : kind == WeightKind::kReal ? kDouble
                                            : kInt32) {}

  void start_with_wide_ids() { wide_ids_ = true; }

  // Any thread, during a pass.
  void ask_wider_ids() { wider_ids_ = true; }
  void ask_wider_weights() { wider_weights_ = true; }
  bool asked() const { return wider_ids_ || wider_weights_; }

  // Calls pass(id, weight) with values of the types to use, until nobody asks for more.
  template <class Pass>
  void until_wide_enough(Pass&& pass) {
    for (;;) {
      wide_ids_ ? with_weight(std::int64_t{}, pass) : with_weight(std::int32_t{}, pass);
      if (!asked()) return;
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

// Reads a weight as the type of this pass, or asks for a wider one and skips the number.
template <class Weight>
[[gnu::always_inline]] inline Scan scan_weight(const char*& p, const char* end, WeightKind kind,
                                               const Alphabet& alphabet, Weight& weight,
                                               Widths& widths) {
  constexpr bool kReal = std::is_same_v<Weight, double>;
  constexpr std::int64_t kExact = std::int64_t{1} << 53;
  const char* q = p;
  std::int64_t whole = 0;
  const Scan scan = scan_integer(q, end, whole);
  const bool is_integer = scan == Scan::kDone && (alphabet.ends_field(*q) || *q == '"');
  if (is_integer && (!kReal || (-kExact <= whole && whole <= kExact))) {
    weight = static_cast<Weight>(whole);
    if constexpr (!kReal) {
      if (weight != whole) widths.ask_wider_weights();
    }
    p = q;
    return Scan::kDone;
  }
  if constexpr (kReal) {
    return scan_real(p, end, weight);
  } else {
    if (kind == WeightKind::kInteger) return scan == Scan::kDone ? Scan::kNotANumber : scan;
    double real;
    const Scan found = scan_real(p, end, real);
    if (found == Scan::kDone) widths.ask_wider_weights();
    return found;
  }
}

inline std::string expected_weight(Scan scan, WeightKind kind) {
  const bool whole = kind == WeightKind::kInteger;
  if (scan == Scan::kNaN) return "a weight other than NaN and -inf";
  if (scan == Scan::kTooLarge)
    return whole ? "a weight that fits int64" : "a weight that fits float64";
  return whole ? "a whole number for the weight" : "a number for the weight";
}

// One pass: parses all chunks in parallel and throws the fault that comes first in the text.
// parse(chunk, i) returns the fault that ended it, if any; the chunks behind a faulty one need not
// be parsed, and nothing counts once wider types were asked for.
template <class Parse>
void parse_chunks(const Chunks& chunks, const Widths& widths, int threads, Monitor& monitor,
                  Parse&& parse) {
  std::vector<std::optional<BadLine>> faults(static_cast<std::size_t>(chunks.size()));
  std::atomic<std::int64_t> first_faulty{chunks.size()};
  parallel_for(chunks.size(), 1, threads, monitor, [&](auto i, auto, int) {
    if (widths.asked() || i > first_faulty.load(std::memory_order_relaxed)) return;
    faults[i] = parse(chunks[i], i);
    monitor.advance(static_cast<std::uint64_t>(chunks[i].end - chunks[i].begin));
    if (!faults[i]) return;
    std::int64_t seen = first_faulty.load(std::memory_order_relaxed);
    while (i < seen && !first_faulty.compare_exchange_weak(seen, i)) {
    }
  });
  const std::int64_t first = first_faulty.load();
  if (first < chunks.size() && !widths.asked()) throw *faults[first];
}

// Makes the faults of one chunk.
class Faults {
 public:
  Faults(const Chunks& chunks, const Chunk& chunk, const Alphabet& alphabet)
      : chunks_(chunks), chunk_(chunk), alphabet_(alphabet) {}

  // The field at p is not what was expected.
  BadLine at(const char* p, std::string expected) const {
    return make(p, alphabet_.field_end(p), std::move(expected));
  }

  // Nor is the rest of the line from p on.
  BadLine rest(const char* p, std::string expected) const {
    const char* end = skip_line(p, chunk_.end) - 1;
    while (end > p && alphabet_.blank(end[-1])) --end;
    return make(p, end, std::move(expected));
  }

 private:
  BadLine make(const char* begin, const char* end, std::string expected) const {
    const std::int64_t line = chunk_.line + std::count(chunk_.begin, begin, '\n');
    return {line, chunks_.offset(begin), chunks_.offset(end), std::move(expected)};
  }

  const Chunks& chunks_;
  const Chunk& chunk_;
  const Alphabet& alphabet_;
};

}  // namespace kleene
