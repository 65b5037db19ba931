#include "closure/small_matrix.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

namespace kleene::closure {
namespace {

constexpr double kFar = std::numeric_limits<double>::infinity();

// One row by one vertex in between. Both outcomes are stored, so that the loop is vectorised.
void relax_row(std::int64_t n, double to, const double* from, double* values) {
  for (std::int64_t j = 0; j < n; ++j) {
    const double through = to + from[j];
    values[j] = through < values[j] ? through : values[j];
  }
}

// The same with predecessors, as doubles: numbers of one width are compared and chosen together.
void relax_row(std::int64_t n, double to, const double* from, const double* last, double* values,
               double* predecessors) {
  for (std::int64_t j = 0; j < n; ++j) {
    const double through = to + from[j];
    const bool shorter = through < values[j];
    predecessors[j] = shorter ? last[j] : predecessors[j];
    values[j] = shorter ? through : values[j];
  }
}

// Returns whether no sum of n lengths overflows.
bool make_lengths(const SmallMatrix& matrix, bool unit, bool undirected) {
  const std::int64_t n = matrix.n;
  const double most = std::numeric_limits<double>::max() / static_cast<double>(n + 1);
  bool simple = true;
  for (std::int64_t i = 0; i < n; ++i) {
    for (std::int64_t j = 0; j < n; ++j) {
      double& value = matrix.values[i * n + j];
      if (i == j) {
        value = 0;
      } else if (value != kFar) {
        if (unit) value = 1;
        simple = simple && std::abs(value) <= most;
      }
    }
  }
  // untestable (= 0 to = 1): row 0 has no column to its left
  for (std::int64_t i = 0; undirected && i < n; ++i) {
    for (std::int64_t j = 0; j < i; ++j) {
      double &a = matrix.values[i * n + j], &b = matrix.values[j * n + i];
      a = b = std::min(a, b);
    }
  }
  return simple;
}

std::vector<double> make_predecessors(const SmallMatrix& matrix) {
  const std::int64_t n = matrix.n;
  std::vector<double> predecessors(static_cast<std::size_t>(n * n), matrix.none);
  for (std::int64_t i = 0; i < n; ++i) {
    for (std::int64_t j = 0; j < n; ++j) {
      const bool is_arc = i != j && matrix.values[i * n + j] != kFar;
      if (is_arc) predecessors[static_cast<std::size_t>(i * n + j)] = static_cast<double>(i);
    }
  }
  return predecessors;
}

}  // namespace

void canonicalise(const SmallMatrix& matrix, double null) {
  for (std::int64_t i = 0; i < matrix.n * matrix.n; ++i) {
    double& value = matrix.values[i];
    if (!std::isfinite(value) || std::abs(value) <= null) value = kFar;
  }
}

template <class Offset, class Id>
void fill(const SmallMatrix& matrix, const StoredRows<Offset, Id>& rows) {
  std::fill_n(matrix.values, matrix.n * matrix.n, kFar);
  for (std::int64_t u = 0; u < matrix.n; ++u) {
    const auto [first, last] = rows.row(u);
    for (std::int64_t i = first; i < last; ++i) {
      double& value = matrix.values[u * matrix.n + rows.head(i)];
      if (std::isfinite(rows.lengths[i])) value = std::min(value, rows.lengths[i]);
    }
  }
}

bool close(const SmallMatrix& matrix, bool unit, bool undirected) {
  if (!make_lengths(matrix, unit, undirected)) return false;
  std::vector<double> predecessors;
  if (matrix.predecessors) predecessors = make_predecessors(matrix);
  const std::int64_t n = matrix.n;
  for (std::int64_t k = 0; k < n; ++k) {
    const double* const from = matrix.values + k * n;
    for (std::int64_t i = 0; i < n; ++i) {
      const double to = matrix.values[i * n + k];
      if (i == k || to == kFar) continue;
      if (matrix.predecessors) {
        relax_row(n, to, from, predecessors.data() + k * n, matrix.values + i * n,
                  predecessors.data() + i * n);
      } else {
        relax_row(n, to, from, matrix.values + i * n);
      }
    }
  }
  std::transform(predecessors.begin(), predecessors.end(), matrix.predecessors,
                 [](double vertex) { return static_cast<std::int32_t>(vertex); });
  bool sound = true;
  for (std::int64_t v = 0; v < n; ++v) sound = sound && !(matrix.values[v * n + v] < 0);
  return sound;
}

#define KLEENE_FILL(Offset, Id) \
  template void fill(const SmallMatrix&, const StoredRows<Offset, Id>&);
KLEENE_FILL(std::int32_t, std::int32_t)
KLEENE_FILL(std::int64_t, std::int32_t)
KLEENE_FILL(std::int64_t, std::int64_t)

}  // namespace kleene::closure
