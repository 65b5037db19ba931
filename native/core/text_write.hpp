// Writing the arcs of a graph as text, on all cores, a range of them at a time.
#pragma once

#include <cstdint>
#include <string>

#include "buffer.hpp"
#include "csr.hpp"
#include "monitor.hpp"

namespace kleene {

template <class Id, class Weight>
struct CsrView {
  std::int64_t n;
  const std::int64_t* offsets;
  const Id* neighbors;
  const Weight* weights;  // null for NoWeight
};

// What a vertex is called in the file: its id plus `base`; or its number in `numbers`; or
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

// The arcs [begin, end), one a line.
template <class Id, class Weight>
Buffer<char> write_arcs(const CsrView<Id, Weight>& graph, std::int64_t begin, std::int64_t end,
                        const VertexNames& names, const LineStyle& style, int threads,
                        Monitor& monitor);

// The vertices [begin, end), one a line: the neighbours, counted from 1, and their weights.
template <class Id, class Weight>
Buffer<char> write_rows(const CsrView<Id, Weight>& graph, std::int64_t begin, std::int64_t end,
                        int threads, Monitor& monitor);

}  // namespace kleene
