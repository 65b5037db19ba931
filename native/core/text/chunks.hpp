// A text in chunks of whole lines, which threads parse as they become free.
//
// Every chunk ends with '\n'; a last line without one is copied and gets it.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <cstring>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "parallel/team.hpp"
#include "text/parse.hpp"
#include "text/scan.hpp"

namespace kleene::text {

// The line ends in [p, end), eight characters at a time: each of the eight counters in `counts`
// takes at most 255 before they are added up. (std::count widens every character to 64 bits.)
inline std::int64_t count_lines(const char* p, const char* end) {
  constexpr std::uint64_t kOnes = 0x0101010101010101, kLow = 0x7F * kOnes;
  std::int64_t lines = 0;
  while (end - p >= 8) {  // untestable (>= to >): the last eight are counted one by one
    const std::int64_t words = std::min<std::int64_t>((end - p) / 8, 255);
    std::uint64_t counts = 0;
    for (std::int64_t i = 0; i < words; ++i) {
      std::uint64_t x;
      std::memcpy(&x, p + 8 * i, 8);
      x ^= '\n' * kOnes;
      counts += (~(((x & kLow) + kLow) | x | kLow)) >> 7;  // 1 where the character was '\n'
    }
    for (int i = 0; i < 64; i += 8) lines += (counts >> i) & 0xFF;
    p += 8 * words;
  }
  return lines + std::count(p, end, '\n');
}

struct Chunk {
  const char* begin;
  const char* end;
  std::int64_t line = 0;   // the number of its first line
  std::int64_t lines = 0;  // how many it has
  std::int64_t first = 0;  // how many lines (or slots, or rows) there are before it
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
    number(threads, monitor,
           [](Chunk& chunk) { return chunk.lines = count_lines(chunk.begin, chunk.end); });
    for (Chunk& chunk : chunks_) chunk.line = text.line + chunk.first;
  }

  // Sets `first` of every chunk from `count` of each; returns the total.
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

  // Where a pointer into a chunk lies in the text.
  std::int64_t offset(const char* p) const {
    // untestable (<= to <): a fault ends with its line, at a character of the tail
    const bool in_tail = !tail_.empty() && p >= tail_.data() && p <= tail_.data() + tail_.size();
    return in_tail ? tail_at_ + (p - tail_.data()) : p - text_.data;
  }

 private:
  void add_tail(const char* begin, const char* end) {
    // Whole lines before the last one stay where they are.
    const char* last = end;
    while (last > begin && last[-1] != '\n') --last;
    // untestable (> to >=): a chunk of no lines
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
};

// One pass: parses all chunks in parallel and throws the fault that comes first in the text.
// parse(chunk, i) returns the fault that ended it, if any; the chunks behind a faulty one need not
// be parsed, and nothing counts once wider types were requested.
template <class Parse>
void parse_chunks(const Chunks& chunks, const Widths& widths, int threads, Monitor& monitor,
                  Parse&& parse) {
  std::vector<std::optional<BadLine>> faults(static_cast<std::size_t>(chunks.size()));
  std::atomic<std::int64_t> first_faulty{chunks.size()};
  parallel_for(chunks.size(), 1, threads, monitor, [&](auto i, auto, int) {
    // untestable (|| to &&): parses in vain
    // untestable (> to >=): no chunk is parsed twice
    if (widths.wider_requested() || i > first_faulty.load(std::memory_order_relaxed)) return;
    faults[i] = parse(chunks[i], i);
    monitor.advance(static_cast<std::uint64_t>(chunks[i].end - chunks[i].begin));
    if (!faults[i]) return;
    std::int64_t seen = first_faulty.load(std::memory_order_relaxed);
    // untestable (< to <=): the same chunk again
    while (i < seen && !first_faulty.compare_exchange_weak(seen, i)) {
    }
  });
  const std::int64_t first = first_faulty.load();
  if (first < chunks.size() && !widths.wider_requested()) throw *faults[first];
}

// Makes the faults of one chunk.
class Faults {
 public:
  Faults(const Chunks& chunks, const Chunk& chunk, const CharacterClasses& classes)
      : chunks_(chunks), chunk_(chunk), classes_(classes) {}

  // The field at p is not what was expected.
  BadLine at(const char* p, std::string expected) const {
    return make(p, classes_.field_end(p), std::move(expected));
  }

  // Nor is the rest of the line from p on.
  BadLine rest(const char* p, std::string expected) const {
    const char* end = skip_line(p, chunk_.end) - 1;
    while (end > p && classes_.blank(end[-1])) --end;  // untestable (> to >=): no blank is at p
    return make(p, end, std::move(expected));
  }

  // The rest of the line from p on says nothing, unless a lone '\r' hides lines in it.
  std::optional<BadLine> hidden_lines(const char* p) const {
    const char* const next = skip_line(p, chunk_.end);
    const auto* lone = static_cast<const char*>(std::memchr(p, '\r', next - p));
    if (lone == nullptr || lone[1] == '\n') return std::nullopt;
    return rest(lone, "line ends of one kind, \\n or \\r\\n");
  }

 private:
  BadLine make(const char* begin, const char* end, std::string expected) const {
    const std::int64_t line = chunk_.line + count_lines(chunk_.begin, begin);
    return {line, chunks_.offset(begin), chunks_.offset(end), std::move(expected)};
  }

  const Chunks& chunks_;
  const Chunk& chunk_;
  const CharacterClasses& classes_;
};

}  // namespace kleene::text
