// Closures of dense matrices: all pairs at once, over one of four path semirings.
//
// A matrix is in the caller's memory, n rows of `stride` entries, or some of them. Entry (i, j) is
// the value of the best path so far from i to j, and its predecessor, where kept, the vertex before
// j on that path
// (-1 for none). Values are float, double or integers; a boolean matrix packs 64 columns into one
// uint64.
//
// Integers and "no path". Methods that add without comparing use half of the type's maximum
// (kAddableNoPath): two of them do not wrap. With negative weights "no path" may sink by as much as
// a path may weigh, so whatever lies above the bound on path lengths means "no path" at the end.
#pragma once

#include <algorithm>
#include <cstdint>
#include <limits>
#include <memory>
#include <span>
#include <type_traits>

#include "graph/method.hpp"
#include "graph/no_path.hpp"
#include "graph/semiring.hpp"
#include "parallel/monitor.hpp"
#include "simd/levels.hpp"

namespace kleene::closure {

using namespace parallel;
using namespace graph;

// Columns of the graph's matrix in one entry.
template <class T>
constexpr std::int64_t kPacked = std::is_same_v<T, std::uint64_t> ? 64 : 1;

template <class T>
struct Matrix {
  std::int64_t n;
  T* values;
  std::int32_t* predecessors;        // n in each row, or null
  std::int64_t first = 0, rows = n;  // those in memory: of the vertices from `first` on

  std::int64_t stride() const { return (n + kPacked<T> - 1) / kPacked<T>; }
  // The i-th row in memory.
  T* row(std::int64_t i) const { return values + i * stride(); }
  std::int32_t* predecessor_row(std::int64_t i) const { return predecessors + i * n; }
};

// The elements of a semiring in one type: zero is "no path", one the empty path.
template <class T>
struct Elements {
  T zero, one;
  bool smaller_is_better;

  bool better(T a, T b) const { return smaller_is_better ? a < b : a > b; }
};

template <class T>
constexpr Elements<T> elements_of(Semiring semiring) {
  using Limits = std::numeric_limits<T>;
  constexpr T kTop = kNoPath<T>;
  constexpr T kBottom = Limits::has_infinity ? static_cast<T>(-kTop) : Limits::lowest();
  switch (semiring) {
    case Semiring::kMinPlus:
      return {kAddableNoPath<T>, 0, true};
    case Semiring::kMaxMin:
      return {kBottom, kTop, false};
    case Semiring::kMaxTimes:
      return {0, 1, false};
    default:
      return {0, kPacked<T> == 64 ? kTop : T{1}, false};
  }
}

// ---- before and after (matrix.cpp) --------------------------------------------------------------

// Arcs by tail; those of a tail that is not `used` are left out.
template <class T>
struct MatrixArcs {
  const std::int64_t* offsets;
  const std::int32_t* neighbors;
  const T* weights;  // null: one each
  const bool* used;  // null: all

  bool uses(std::int64_t u) const { return used == nullptr || used[u]; }
  T weight(std::int64_t arc) const { return weights == nullptr ? T{1} : weights[arc]; }
};

// A rectangle of the matrix: rows and columns of the vertices from these on. `columns` are
// vertices; bits pack 64 of them into an entry.
template <class T>
struct Rectangle {
  std::int64_t first_row, rows, first_column, columns;
  T* values;
  std::int32_t* predecessors;  // or null

  std::int64_t stride() const { return (columns + kPacked<T> - 1) / kPacked<T>; }
  // Calls body(arc, column in the rectangle) for the arcs of a vertex that lead there.
  template <class Body>
  void each_arc(const std::int64_t* offsets, const std::int32_t* neighbors, std::int64_t u,
                Body&& body) const {
    const std::int32_t* const end = neighbors + offsets[u + 1];  // in ascending order
    const std::int32_t* arc = std::lower_bound(neighbors + offsets[u], end, first_column);
    for (; arc != end && *arc < first_column + columns; ++arc) {
      body(arc - neighbors, *arc - first_column);
    }
  }
};

// Makes a part of the matrix of arcs: empty paths on the diagonal, elements.zero where there is no
// arc.
template <class T>
void fill(const Rectangle<T>& part, const MatrixArcs<T>& arcs, Elements<T> elements, int threads,
          Monitor& monitor);

// The same as bits; weights do not matter.
void fill_bits(const Rectangle<std::uint64_t>& part, const std::int64_t* offsets,
               const std::int32_t* neighbors, int threads, Monitor& monitor);

// The same from the canonical matrix of a graph (graph/dense_arcs.hpp).
template <class T, class Out>
void fill_from_matrix(const T* weights, std::int64_t n, const Rectangle<Out>& part,
                      Elements<Out> elements, int threads, Monitor& monitor);

// Rows of a closed matrix, in any order, and where to write them.
template <class Out>
struct OutputRows {
  const std::int32_t* rows;
  std::int64_t count;
  Out* values;
};

// Copies rows, with `no_path` for values outside [lowest, highest]; to bytes, whether a value is
// inside.
template <class T, class Out>
void export_rows(const Matrix<T>& matrix, T lowest, T highest, Out no_path,
                 const OutputRows<Out>& to, int threads, Monitor& monitor);
void export_bit_rows(const Matrix<std::uint64_t>& matrix, const OutputRows<bool>& to, int threads,
                     Monitor& monitor);

// ---- the methods: methods.cpp lists them --------------------------------------------------------

// Each closes the matrix in place. It returns false, leaving the matrix unfinished, at a cycle that
// is better than the empty path.
struct Options {
  Semiring semiring = Semiring::kMinPlus;
  int threads = 1;
  std::int64_t block = 0;  // side of a block; 0: the method's choice
  int level = -1;          // of vector instructions, see simd/levels.hpp; -1: the best there is
  bool zen = simd::has_zen_pipes();  // arithmetic of floats that suits those; the same results
};

// The fast one. "No path" is elements_of<T>(semiring).zero; int16 and bits have no predecessors.
template <class T>
bool tiled(const Matrix<T>& matrix, const Options& options, Monitor& monitor);

// A panel, some rows of a matrix, closed in place as `tiled` closes it: over all paths through the
// vertices of these rows. Other rows are then relaxed through these vertices. `tiled` on the whole
// matrix takes the same steps for the same entries; so a matrix that is closed panel by panel, each
// from a multiple of kPanelStep on, has the same bits whatever the panels.
template <class T>
class Tiled;

inline constexpr std::int64_t kPanelStep = 96;

template <class T>
class ClosedPanel {
 public:
  ClosedPanel(const Matrix<T>& panel, const Options& options, Monitor& monitor);
  ~ClosedPanel();

  // Whether there is a cycle that is better than the empty path; then nothing is closed.
  bool found_cycle() const { return found_cycle_; }
  // Rows of other vertices; from any thread, but not at once from several.
  void relax(const Matrix<T>& rows, int threads, Monitor& monitor);

 private:
  std::unique_ptr<Tiled<T>> tiled_;
  bool found_cycle_;
};

// The textbook ones. "No path" is kNoPath, as users see it. The first takes any semiring (bytes for
// booleans), the others (min, +).
template <class T>
bool floyd_warshall(const Matrix<T>& matrix, const Options& options, Monitor& monitor);
template <class T>
bool blocked(const Matrix<T>& matrix, const Options& options, Monitor& monitor);
template <class T>
bool min_plus(const Matrix<T>& matrix, const Options& options, Monitor& monitor);
template <class T>
bool rkleene(const Matrix<T>& matrix, const Options& options, Monitor& monitor);
template <class T>
bool rkleene_quadtree(const Matrix<T>& matrix, const Options& options, Monitor& monitor);

// ---- products (product.cpp) ---------------------------------------------------------------------

// `values`, rows x columns, and their predecessors become those of the best of themselves and left
// times right: left is rows x depth, right depth x columns. "No path" is elements_of<T>(semiring).
template <class T>
struct ProductOf {
  std::int64_t rows, depth, columns;
  T* values;
  std::int32_t* predecessors;  // or null
  const T* left;
  const T* right;
  // Or null: the predecessor is then the row of the right factor, the first among equals.
  const std::int32_t* right_predecessors;
};

template <class T>
void multiply(const ProductOf<T>& product, const Options& options, Monitor& monitor);

// The least and the greatest entry of a factor that is not `no_path`.
template <class T>
struct Ends {
  T low, high;  // low > high if there is none
  bool has_nan;
};

template <class T>
Ends<T> find_ends(const T* values, std::int64_t count, T no_path, int threads, Monitor& monitor);

// ---- predecessor trees (predecessor_trees.cpp) --------------------------------------------------

// Results with predecessors: one row for each source.
template <class T>
struct ResultTrees {
  std::int64_t n, count;
  const std::int32_t* sources;
  const T* values;
  std::int32_t* predecessors;
  T no_path;
};

// Marks the rows in which some chain of predecessors does not lead to the source, and returns how
// many there are. Clears the predecessors of sources and of vertices that are not reached.
template <class T>
std::int64_t find_detached(const ResultTrees<T>& result, bool* detached, int threads,
                           Monitor& monitor);

// Reattaches the detached vertices of the marked rows to the source's tree, by the tightest arcs.
template <class T>
void reattach(const ResultTrees<T>& result, const bool* detached, Semiring semiring,
              const MatrixArcs<T>& outgoing, const MatrixArcs<T>& incoming, int threads,
              Monitor& monitor);

// ---- the table of the methods (methods.cpp) -----------------------------------------------------

template <class T>
using Close = bool(const Matrix<T>& matrix, const Options& options, Monitor& monitor);

template <class T>
struct Method {
  MethodTraits traits;
  Close<T>* close;  // null where the method does not take this type
};

template <class T>
std::span<const Method<T>> methods();

}  // namespace kleene::closure
