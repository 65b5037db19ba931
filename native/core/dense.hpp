// Dense path matrices: all pairs at once, over one of four path algebras.
//
// A matrix is the caller's, n rows of `stride` entries. Entry (i, j) is the value of the best path
// found so far from i to j, and `last`, where kept, the vertex before j on that path (-1 for none).
// Values are float, double or integers; a boolean matrix packs 64 columns into one uint64.
//
// Integers and "no path". Engines that add without looking use half of the type's maximum for "no
// path": two of them do not wrap. Where a weight is negative, "no path" may sink by as much as a
// path may weigh, so whatever lies above the bound on path lengths means "no path" at the end.
#pragma once

#include <cstdint>
#include <limits>
#include <string>
#include <type_traits>
#include <vector>

#include "dense_kernel.hpp"
#include "monitor.hpp"

namespace kleene {

// Columns of the graph's matrix in one entry.
template <class T>
constexpr std::int64_t kPacked = std::is_same_v<T, std::uint64_t> ? 64 : 1;

template <class T>
struct DenseMatrix {
  std::int64_t n;
  T* values;
  std::int32_t* last;  // null when paths are not wanted

  std::int64_t stride() const { return (n + kPacked<T> - 1) / kPacked<T>; }
  T* row(std::int64_t i) const { return values + i * stride(); }
  std::int32_t* last_row(std::int64_t i) const { return last + i * n; }
};

// The algebra in one type: "no path", the empty path, and which of two values is better.
template <class T>
struct Scale {
  T zero, one;
  bool smaller_is_better;

  bool better(T a, T b) const { return smaller_is_better ? a < b : a > b; }
};

template <class T>
constexpr Scale<T> scale_of(Algebra algebra) {
  using Limits = std::numeric_limits<T>;
  constexpr T kTop = Limits::has_infinity ? Limits::infinity() : Limits::max();
  constexpr T kBottom = Limits::has_infinity ? static_cast<T>(-kTop) : Limits::lowest();
  switch (algebra) {
    case Algebra::kMinPlus:
      return {Limits::has_infinity ? kTop : static_cast<T>(kTop / 2), 0, true};
    case Algebra::kMaxMin:
      return {kBottom, kTop, false};
    case Algebra::kMaxTimes:
      return {0, 1, false};
    case Algebra::kBoolean:
      return {0, kPacked<T> == 64 ? kTop : T{1}, false};
  }
  return {};
}

// ---- the kernels (dense_kernel.cpp) -------------------------------------------------------------

// Names of the instruction sets this machine has, the best last; an index into it is a level.
const std::vector<std::string>& dense_levels();

// The kernel for an algebra at a level; -1 is the best.
template <class T>
TileKernel<T> tile_kernel(Algebra algebra, int level);

// Relaxations a second of the kernel alone, its operands in the nearest cache, on one thread.
template <class T>
double dense_ceiling(Algebra algebra, bool paths, int level, double seconds);

// ---- before and after (dense_matrix.cpp) --------------------------------------------------------

// Arcs by their source; those of a vertex that is not `used` are left out.
template <class T>
struct DenseArcs {
  const std::int64_t* offsets;
  const std::int32_t* neighbors;
  const T* weights;  // null: one each
  const bool* used;  // null: all

  bool uses(std::int64_t u) const { return used == nullptr || used[u]; }
  T weight(std::int64_t arc) const { return weights == nullptr ? T{1} : weights[arc]; }
};

// Makes the matrix of arcs: empty paths on the diagonal, scale.zero where there is no arc.
template <class T>
void dense_fill(const DenseMatrix<T>& matrix, const DenseArcs<T>& arcs, Scale<T> scale, int threads,
                Monitor& monitor);

// The same as bits; weights do not matter.
void dense_fill_bits(const DenseMatrix<std::uint64_t>& matrix, const std::int64_t* offsets,
                     const std::int32_t* neighbors, int threads, Monitor& monitor);

// Some rows of a closed matrix, in the order asked for, and where to put them.
template <class Out>
struct DenseRows {
  const std::int32_t* rows;
  std::int64_t count;
  Out* values;
};

// Copies rows, with `no_path` for whatever is not within [lowest, highest]; as bytes, only whether
// it is.
template <class T, class Out>
void dense_export(const DenseMatrix<T>& matrix, T lowest, T highest, Out no_path,
                  const DenseRows<Out>& to, int threads, Monitor& monitor);
void dense_export_bits(const DenseMatrix<std::uint64_t>& matrix, const DenseRows<bool>& to,
                       int threads, Monitor& monitor);

// ---- the engines: each closes the matrix in place -----------------------------------------------

// How an engine runs. It returns false, leaving the matrix unfinished, when it meets a cycle that
// is better than the empty path.
struct DenseOptions {
  Algebra algebra = Algebra::kMinPlus;
  int threads = 1;
  std::int64_t block = 0;  // 0: the engine's choice
  int level = -1;          // of vector instructions, for the tiled engine; -1: the best there is
};

// The fast one. "No path" is scale_of<T>(algebra).zero; int16 and bits come without paths.
template <class T>
bool dense_tiled(const DenseMatrix<T>& matrix, const DenseOptions& options, Monitor& monitor);

// The textbook ones. "No path" is the end of the type, as users see it. The first takes any algebra
// (bytes for booleans), the others (min, +).
template <class T>
bool dense_floyd_warshall(const DenseMatrix<T>& matrix, const DenseOptions& options,
                          Monitor& monitor);
template <class T>
bool dense_blocked(const DenseMatrix<T>& matrix, const DenseOptions& options, Monitor& monitor);
template <class T>
bool dense_min_plus(const DenseMatrix<T>& matrix, const DenseOptions& options, Monitor& monitor);
template <class T>
bool dense_rkleene(const DenseMatrix<T>& matrix, const DenseOptions& options, Monitor& monitor);
template <class T>
bool dense_rkleene_quadtree(const DenseMatrix<T>& matrix, const DenseOptions& options,
                            Monitor& monitor);

// ---- predecessor chains (dense_chains.cpp) ------------------------------------------------------

// Answers with predecessors: one row for each source.
template <class T>
struct DenseAnswer {
  std::int64_t n, count;
  const std::int32_t* sources;
  const T* values;
  std::int32_t* predecessors;
  T no_path;
};

// Marks the rows in which some chain of predecessors does not lead to the source, and returns how
// many there are. Clears the predecessors of sources and of vertices that are not reached.
template <class T>
std::int64_t dense_loose(const DenseAnswer<T>& answer, bool* loose, int threads, Monitor& monitor);

// Hangs what is loose in the marked rows back on the source's tree, by the tightest arcs.
template <class T>
void dense_hang(const DenseAnswer<T>& answer, const bool* loose, Algebra algebra,
                const DenseArcs<T>& out, const DenseArcs<T>& in, int threads, Monitor& monitor);

}  // namespace kleene
