// What the fuzzers of native text parsers share.
//
// An input is some bytes of options (each fuzzer says which) and then the text. Every text is
// parsed as one chunk by one thread, and again in small chunks by several threads: both must give
// the same arrays, or name the same fault.
#pragma once

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <utility>
#include <variant>

#include "text/parse.hpp"

namespace kleene::fuzz {

using namespace text;

inline void require(bool holds, const char* what) {
  if (holds) return;
  std::fprintf(stderr, "broken: %s\n", what);
  std::abort();
}

// Takes options from the front of an input; zeros where it has ended.
class Options {
 public:
  Options(const std::uint8_t* data, std::size_t size) : data_(data), size_(size) {}

  std::uint8_t byte() {
    if (size_ == 0) return 0;
    --size_;
    return *data_++;
  }

  // What is left is the text.
  Text text(std::int64_t grain) const {
    return {reinterpret_cast<const char*>(data_), static_cast<std::int64_t>(size_), 1, grain};
  }

 private:
  const std::uint8_t* data_;
  std::size_t size_;
};

// How a text is cut and parsed the second time.
struct Split {
  explicit Split(std::uint8_t option)
      : grain(std::int64_t{1} << (option % 8)), threads(1 + option / 8 % 3) {}

  std::int64_t grain;
  int threads;
};

constexpr std::int64_t kWhole = 1 << 20;  // a grain larger than any input

template <class Parse>
auto attempt(Parse&& parse) -> std::variant<decltype(parse()), BadLine> {
  try {
    return parse();
  } catch (const BadLine& bad) {
    return bad;
  }
}

inline bool same(const BadLine& a, const BadLine& b) {
  return a.line == b.line && a.begin == b.begin && a.end == b.end && a.expected == b.expected;
}

template <class T>
bool same(const Buffer<T>& a, const Buffer<T>& b) {
  return a.size() == b.size() &&
         (a.size() == 0 || std::memcmp(a.data(), b.data(), sizeof(T) * a.size()) == 0);
}

template <>
inline bool same(const Buffer<NoWeight>&, const Buffer<NoWeight>&) {
  return true;
}

template <class... Buffers>
bool same(const std::variant<Buffers...>& a, const std::variant<Buffers...>& b) {
  return a.index() == b.index() && std::visit(
                                       [&](const auto& held) {
                                         using Held = std::remove_cvref_t<decltype(held)>;
                                         return same(held, std::get<Held>(b));
                                       },
                                       a);
}

inline bool same(const ParsedArcs& a, const ParsedArcs& b) {
  return same(a.tails, b.tails) && same(a.heads, b.heads) && same(a.weights, b.weights);
}

inline bool same(const NamedArcs& a, const NamedArcs& b) {
  return same(a.arcs, b.arcs) && same(a.characters, b.characters) && same(a.starts, b.starts);
}

inline bool same(const Rows& a, const Rows& b) {
  return same(a.offsets, b.offsets) && same(a.neighbors, b.neighbors) && same(a.weights, b.weights);
}

// A fault lies within the text, and on the line that it names.
inline void check_fault(const BadLine& bad, const Text& text) {
  require(0 <= bad.begin && bad.begin <= bad.end && bad.end <= text.size, "a fault in the text");
  std::int64_t line = text.line;
  for (std::int64_t i = 0; i < bad.begin; ++i) line += text.data[i] == '\n';
  require(line == bad.line, "the line of a fault");
  require(!bad.expected.empty(), "a fault says what was expected");
}

template <class Parsed>
void check_same(const std::variant<Parsed, BadLine>& whole,
                const std::variant<Parsed, BadLine>& split, const Text& text) {
  require(whole.index() == split.index(), "chunks change whether a text is accepted");
  if (const auto* bad = std::get_if<BadLine>(&whole)) {
    check_fault(*bad, text);
    require(same(*bad, std::get<BadLine>(split)), "chunks change the fault");
  } else {
    require(same(std::get<Parsed>(whole), std::get<Parsed>(split)), "chunks change the arrays");
  }
}

// Where the text behind the comments begins is found once more, character by character.
inline void check_skip(const Text& text, const std::string& comments) {
  const Place place = skip_comments(text, comments);
  require(0 <= place.offset && place.offset <= text.size, "the offset behind comments");
  std::int64_t line = text.line;
  for (std::int64_t i = 0; i < place.offset; ++i) line += text.data[i] == '\n';
  require(line == place.line || place.offset == text.size, "the line behind comments");
}

}  // namespace kleene::fuzz
