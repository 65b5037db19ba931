// Sparse matrix-vector products y = x A over a semiring, with A in each of five forms:
//
//   y[v] = sum over arcs u -> v of x[u] times weight(u, v)
//
// x is indexed by tails and y by heads. By columns (CSC) and in the dense form each y[v] is written
// by one thread. The other forms hold arcs by tail, so any thread may write any head: each thread
// has a y of its own, and these are added up at the end.
#pragma once

#include <cstdint>

#include "graph/semiring.hpp"
#include "parallel/monitor.hpp"

namespace kleene::spmv {

using namespace parallel;
using namespace graph;

// The arcs in one form; what the form does not use is null. Weights are in the
// order of the form's arcs, null where every arc weighs one.
template <class Id, class Value>
struct MatrixForm {
  enum class Kind { kCsr, kCsc, kCoo, kEll, kDense };
  Kind kind;
  std::int64_t n = 0;
  std::int64_t arcs = 0;                  // COO
  std::int64_t width = 0;                 // ELL: entries per row
  const std::int64_t* offsets = nullptr;  // CSR, CSC
  const Id* ids = nullptr;                // heads (CSR, COO, ELL; -1 pads ELL) or tails (CSC)
  const Id* tails = nullptr;              // COO
  const Value* weights = nullptr;         // dense: n x n, `no_arc` where there is none
  Value no_arc = Value();
};

template <class Id, class Value>
void multiply(Semiring semiring, const MatrixForm<Id, Value>& a, const Value* x, Value* y,
              int threads, Monitor& monitor);

}  // namespace kleene::spmv
