// Writing the arcs of a graph as text, on all cores, a range of them at a time.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "graph/arcs.hpp"

namespace kleene::text {

using namespace parallel;
using namespace graph;

// The name of a vertex in the file: its id plus `base`; or its number in `numbers`; or
// characters[starts[v], starts[v + 1]).
struct VertexNames {
  std::int64_t base = 0;
  const std::int64_t* numbers = nullptr;
  const char* characters = nullptr;
  const std::int64_t* starts = nullptr;
};

// Which arcs of a graph are written: both directions of an undirected edge, or one.
enum class Directions { kAll, kUpward, kDownward };

struct LineStyle {
  std::string prefix;  // of every line
  char separator = ' ';
  std::string constant;  // stands for the weight of an unweighted graph, unless empty
  Directions directions = Directions::kAll;
};

// Some lines of a file.
struct Lines {
  Buffer<char> text;  // has room for more
  std::int64_t size = 0;
};

// The arcs [begin, end), one a line.
template <class Id, class Weight>
std::vector<Lines> write_arcs(const Arcs<Id, Weight>& graph, std::int64_t begin, std::int64_t end,
                              const VertexNames& names, const LineStyle& style, int threads,
                              Monitor& monitor);

// The vertices [begin, end), one a line: the neighbours, counted from 1, and their weights.
template <class Id, class Weight>
std::vector<Lines> write_rows(const Arcs<Id, Weight>& graph, std::int64_t begin, std::int64_t end,
                              int threads, Monitor& monitor);

}  // namespace kleene::text
