#include "arrays.hpp"

NB_MODULE(_native, m) {
  m.doc() = "Kleene's C++ core. Arguments are trusted: the Python layers check them first.";
  kleene::bind_bfs(m);
  kleene::bind_encodings(m);
  kleene::bind_generate(m);
  kleene::bind_dense(m);
  kleene::bind_graph(m);
  kleene::bind_sssp(m);
  kleene::bind_text(m);
  kleene::bind_spmv(m);
  kleene::bind_visit(m);
}
