// Parsing graphs from text, on all cores.
//
// A text is cut into chunks at line ends. The lines of every chunk are counted first; a file with
// one arc a line then has a slot for each arc before any is parsed, and the line of every fault is
// known. Blank lines, of which a small compressed file may hold a billion, take no slots beyond
// the arcs that a text of this size may hold. Chunks are parsed straight into the arrays that
// Python receives, in the narrowest types that fit: a number that does not fit ends the pass, and
// the next pass uses wider types.
//
// Sizes declared by a file are not trusted: memory is allocated for lines that are there.
#pragma once

#include <cstdint>
#include <string>
#include <variant>

#include "graph/arcs.hpp"

namespace kleene::text {

using namespace parallel;
using namespace graph;

// Part of a file, from the beginning of a line on.
struct Text {
  const char* data;
  std::int64_t size;
  std::int64_t line;   // the number of its first line in the file
  std::int64_t grain;  // the bytes of a chunk, roughly
};

// The first line, in file order, that does not fit the layout. [begin, end) is the piece
// at fault, empty at the end of a line.
struct BadLine {
  std::int64_t line;
  std::int64_t begin;
  std::int64_t end;
  std::string expected;
};

enum class WeightKind { kAny, kInteger, kReal };

// The layout of the lines of a file. Columns count from 0; -1 means that there is no such column.
struct Layout {
  char separator = ' ';  // ' ' for runs of blanks; blanks around any other are ignored
  std::string comments;  // the characters that open a line to be skipped
  char tag = '\0';       // what the first column has to be, unless 0
  int tail = 0;
  int head = 1;
  int weight = -1;
  bool exact = true;                   // may a line hold nothing behind the columns named here?
  WeightKind kind = WeightKind::kAny;  // of the weights
  std::int64_t low = 0;                // the smallest vertex id, as written in the file
  std::int64_t high = 0;               // the largest
  std::int64_t base = 0;               // subtracted from every id
};

using Ids = std::variant<Buffer<std::int32_t>, Buffer<std::int64_t>>;
using Weights =
    std::variant<Buffer<NoWeight>, Buffer<std::int32_t>, Buffer<std::int64_t>, Buffer<double>>;

struct ParsedArcs {
  Ids tails;
  Ids heads;
  Weights weights;
};

// One arc a line. Throws BadLine.
ParsedArcs parse_arcs(const Text& text, const Layout& layout, int threads, Monitor& monitor);

// The vertices are names, numbered as they appear. Name i is characters[starts[i], starts[i + 1]);
// a quoted name comes without its outer quotes.
struct NamedArcs {
  ParsedArcs arcs;
  Buffer<char> characters;
  Buffer<std::int64_t> starts;
};

NamedArcs parse_named_arcs(const Text& text, const Layout& layout, int threads, Monitor& monitor);

// One vertex a line: `skipped` numbers, then its neighbours (1 to n), each with its weight behind
// it when `weighted`. Comment lines are not vertices; blank ones are. Throws BadLine.
struct Rows {
  Buffer<std::int64_t> offsets;
  Ids neighbors;
  Weights weights;
};

Rows parse_rows(const Text& text, std::int64_t n, std::int64_t skipped, bool weighted,
                const std::string& comments, int threads, Monitor& monitor);

// The first line that is neither blank nor a comment: its offset and number.
struct Place {
  std::int64_t offset;
  std::int64_t line;
};

Place skip_comments(const Text& text, const std::string& comments);

}  // namespace kleene::text
