// Grids, written straight into CSR: the arcs of a vertex are counted, then listed in order.
#include <algorithm>
#include <vector>

#include "generate/generate.hpp"
#include "generate/random.hpp"
#include "parallel/team.hpp"

namespace kleene::generate {
namespace {

constexpr std::int64_t kVertexGrain = 1 << 13;  // vertices handed to a thread at a time
constexpr int kMostSteps = 26;                  // of a vertex inside a 3-D grid with diagonals

// The way from a vertex to a neighbour.
struct Step {
  int layers, rows, columns;
};

// In increasing order of the neighbour's id.
std::vector<Step> steps_of(const GridShape& shape) {
  std::vector<Step> steps;
  for (int layer = -1; layer <= 1; ++layer) {
    for (int row = -1; row <= 1; ++row) {
      for (int column = -1; column <= 1; ++column) {
        const int moves = (layer != 0) + (row != 0) + (column != 0);
        // untestable (> to >=): a single move is let pass before
        if (moves == 1 || (moves > 1 && shape.diagonals)) steps.push_back({layer, row, column});
      }
    }
  }
  return steps;
}

}  // namespace

template <class Id>
Csr<Id, NoWeight> grid_rows(const GridShape& shape, std::uint64_t drop, std::uint64_t seed,
                            int threads, Monitor& monitor) {
  const std::vector<Step> steps = steps_of(shape);
  const Stream drops(seed, Purpose::kDrop);
  const auto inside = [](std::int64_t i, std::int64_t count) { return i >= 0 && i < count; };
  const std::int64_t n = shape.layers * shape.rows * shape.columns;
  const auto kept = [&](std::int64_t v, std::int64_t u) {
    // untestable (>= to >): equal once in 2^64 arcs
    return drop == 0 || arc_bits(drops, n, v, u, !shape.directed) >= drop;
  };

  // Calls visit(v, u) for every arc from the vertices of a line in [begin, end), in order.
  const auto each_arc_of_line = [&](std::int64_t line, std::int64_t begin, std::int64_t end,
                                    auto&& visit) {
    const std::int64_t layer = line / shape.rows, row = line % shape.rows;
    Step here[kMostSteps];
    const auto last = std::copy_if(steps.begin(), steps.end(), here, [&](const Step& step) {
      return inside(layer + step.layers, shape.layers) && inside(row + step.rows, shape.rows);
    });
    for (std::int64_t v = begin; v < end; ++v) {
      const std::int64_t column = v - line * shape.columns;
      for (const Step* step = here; step != last; ++step) {
        if (!inside(column + step->columns, shape.columns)) continue;
        const std::int64_t lines = step->layers * shape.rows + step->rows;
        const std::int64_t u = v + lines * shape.columns + step->columns;
        if (kept(v, u)) visit(v, u);
      }
    }
  };
  const auto each_arc = [&](std::int64_t begin, std::int64_t end, auto&& visit) {
    while (begin < end) {
      const std::int64_t line = begin / shape.columns;
      const std::int64_t stop = std::min(end, (line + 1) * shape.columns);
      each_arc_of_line(line, begin, stop, visit);
      begin = stop;
    }
  };

  Csr<Id, NoWeight> csr{Buffer<std::int64_t>(n + 1), {}, {}};
  parallel_for(n, kVertexGrain, threads, monitor, [&](auto begin, auto end, int) {
    std::fill(csr.offsets.data() + begin, csr.offsets.data() + end, 0);
    each_arc(begin, end, [&](std::int64_t v, std::int64_t) { ++csr.offsets[v]; });
  });
  csr.offsets[n] = 0;
  lengths_to_offsets({csr.offsets.data(), static_cast<std::size_t>(n + 1)});
  csr.neighbors = Buffer<Id>(csr.offsets[n]);
  parallel_for(n, kVertexGrain, threads, monitor, [&](auto begin, auto end, int) {
    Id* out = csr.neighbors.data() + csr.offsets[begin];
    each_arc(begin, end, [&](std::int64_t, std::int64_t u) { *out++ = static_cast<Id>(u); });
  });
  return csr;
}

#define KLEENE_ID(ID)                                                                           \
  template Csr<ID, NoWeight> grid_rows<ID>(const GridShape&, std::uint64_t, std::uint64_t, int, \
                                           Monitor&);

KLEENE_ID(std::int32_t)
KLEENE_ID(std::int64_t)

}  // namespace kleene::generate
