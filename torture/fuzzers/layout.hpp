// The layout of a file with one arc a line, from six bytes of options: separator, comments,
// columns, kind of weights, range of vertices; the sixth says how the text is split.
#pragma once

#include <limits>

#include "fuzzer.hpp"

namespace kleene::fuzz {

struct ArcInput {
  Layout layout;
  Split split{0};
  Text text{};
};

inline ArcInput arc_input(const std::uint8_t* data, std::size_t size) {
  constexpr char kSeparators[] = " \t,;|";
  const std::string kComments[] = {"", "#%", "%", "c", "#", "\"", "0-", "c#% "};
  constexpr int kColumns[][3] = {{0, 1, -1}, {0, 1, 2},   {1, 2, 3}, {2, 0, -1},
                                 {1, 0, 3},  {-1, -1, 0}, {0, 3, 1}, {5, 2, 0}};
  Options options(data, size);
  ArcInput input;
  Layout& layout = input.layout;
  const std::uint8_t separator = options.byte();
  const bool plain = separator >= 128 || std::strchr("\r\n\"", separator) != nullptr;
  layout.separator = plain ? kSeparators[separator % 5] : static_cast<char>(separator);
  layout.comments = kComments[options.byte() % 8];
  const std::uint8_t columns = options.byte();
  layout.tail = kColumns[columns % 8][0];
  layout.head = kColumns[columns % 8][1];
  layout.weight = kColumns[columns % 8][2];
  layout.exact = (columns & 8) == 0;
  const bool first_is_free = layout.tail != 0 && layout.head != 0 && layout.weight != 0;
  if ((columns & 16) != 0 && first_is_free) layout.tag = 'a';
  layout.kind = static_cast<WeightKind>(options.byte() % 3);
  switch (const std::uint8_t range = options.byte(); range % 4) {
    case 0:  // any number
      layout.low = std::numeric_limits<std::int64_t>::min();
      layout.high = std::numeric_limits<std::int64_t>::max();
      break;
    case 1:  // ids of an edge list
      layout.low = 0;
      layout.high = std::numeric_limits<std::int64_t>::max();
      break;
    default:  // from 1, as declared by a header
      layout.low = layout.base = 1;
      layout.high = range % 4 == 2 ? range / 4 : std::int64_t{1} << (range / 4 % 63);
  }
  input.split = Split(options.byte());
  input.text = options.text(kWhole);
  return input;
}

inline Text cut(const ArcInput& input) {
  Text text = input.text;
  text.grain = input.split.grain;
  return text;
}

}  // namespace kleene::fuzz
