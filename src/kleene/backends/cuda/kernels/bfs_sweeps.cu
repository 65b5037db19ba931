// BFS by sweeps: a launch for each level looks at every arc, or at every vertex, and there is no
// queue. A vertex belongs to the frontier when its depth is the current one.
//
// Over arcs, on COO (BFSNaiveKernel of Padamata and Raveendran 2013; Hwu, Kirk and El Hajj,
// Programming Massively Parallel Processors, 4th edition, chapter 15); over vertices that push
// along outgoing arcs, on CSR, or pull along incoming ones, on CSC (the same chapter); and as a
// product of a boolean vector and the matrix (Kepner and Gilbert 2011), over two arrays as Ross,
// Pan and Burbank have it.
//
// depths: -1 where nothing has come yet. *found is the last depth at which a vertex was found: the
// host looks at it after each launch and stops when it stays behind.
//
// Races: threads may find a vertex at the same moment. They write the same depth, and each of their
// parents is right, whichever stays. Nobody goes on from a depth just written, since it is not the
// current one.
#include "bfs.cuh"

namespace {

__device__ __forceinline__ void visit(int v, int parent, int depth, int* depths, int* parents,
                                      int* found) {
  kl_store(depths + v, depth);
  if (parents != nullptr) kl_store(parents + v, parent);
  kl_store(found, depth);
}

}  // namespace

// One thread.
KL_KERNEL(bfs_sweeps_begin, int source, int* depths, int* found) {
  depths[source] = 0;
  *found = 0;
}

// A thread for each arc.
KL_KERNEL(bfs_edge_level, const int* tails, const int* heads, long long m, int depth, int* depths,
          int* parents, int* found) {
  const long long i = own_index();
  if (i >= m) return;
  const int u = tails[i];
  if (kl_load(depths + u) != depth) return;
  const int v = heads[i];
  if (kl_load(depths + v) < 0) visit(v, u, depth + 1, depths, parents, found);
}

// A thread for each vertex: those of the level mark their neighbours.
KL_KERNEL(bfs_vertex_push_level, const long long* offsets, const int* neighbors, int n, int depth,
          int* depths, int* parents, int* found) {
  const long long u = own_index();
  if (u >= n || kl_load(depths + u) != depth) return;
  for (long long i = offsets[u], end = offsets[u + 1]; i < end; ++i) {
    const int v = neighbors[i];
    if (kl_load(depths + v) < 0) {
      visit(v, static_cast<int>(u), depth + 1, depths, parents, found);
    }
  }
}

// A thread for each vertex: those without a depth look for a parent, and stop at the first.
KL_KERNEL(bfs_vertex_pull_level, const long long* offsets, const int* neighbors, int n, int depth,
          int* depths, int* parents, int* found) {
  const long long v = own_index();
  if (v >= n || kl_load(depths + v) >= 0) return;
  for (long long i = offsets[v], end = offsets[v + 1]; i < end; ++i) {
    const int u = neighbors[i];
    if (kl_load(depths + u) == depth) {
      visit(static_cast<int>(v), u, depth + 1, depths, parents, found);
      return;
    }
  }
}

// ---- a level as a matrix-vector product ---------------------------------------------------------

// One thread: both vectors are zero but for the source.
KL_KERNEL(bfs_spmv_begin, int source, int* depths, unsigned char* x_old, unsigned char* x_new,
          int* found, int* missing) {
  depths[source] = 0;
  x_old[source] = x_new[source] = 1;
  *found = *missing = 0;
}

// A thread for each row: x_new gets all that x_old leads to. What was in it stays, and is nearer by
// two: so after the product for a depth, x_new is 1 wherever a path of that length or less leads.
// What x_old did not have is new, and only a vertex of the level before can lead there.
KL_KERNEL(bfs_spmv_multiply, const int* edges, const long long* offsets, int n, int depth,
          const unsigned char* x_old, unsigned char* x_new, int* depths, int* parents, int* found) {
  const long long i = own_index();
  if (i >= n || x_old[i] == 0) return;
  for (long long j = offsets[i], end = offsets[i + 1]; j < end; ++j) {
    const int v = edges[j];
    kl_store(x_new + v, static_cast<unsigned char>(1));
    if (x_old[v] == 0) visit(v, static_cast<int>(i), depth, depths, parents, found);
  }
}

// A thread for each goal: *missing becomes the depth unless x_new has them all.
KL_KERNEL(bfs_spmv_goals, const int* goals, int count, int depth, const unsigned char* x_new,
          int* missing) {
  const long long k = own_index();
  if (k < count && x_new[goals[k]] == 0) kl_store(missing, depth);
}
