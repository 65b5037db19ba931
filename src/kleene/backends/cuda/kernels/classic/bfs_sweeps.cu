// Topology-driven BFS: a launch per level sweeps all arcs or all vertices, without a queue. The
// frontier is the vertices whose distance is the current level.
//
// Over arcs, on COO (BFSNaiveKernel of Padamata and Raveendran 2013; Hwu, Kirk and El Hajj,
// Programming Massively Parallel Processors, 4th edition, chapter 15); over vertices that push
// along outgoing arcs, on CSR, or pull along incoming ones, on CSC (the same chapter); and as a
// product of a boolean vector and the matrix (Kepner and Gilbert 2011), over two arrays as Ross,
// Pan and Burbank have it.
//
// distances: -1 for unvisited. *last_level is the last level with a new vertex: the host reads it
// after each launch and stops when it lags behind.
//
// Races: several threads may visit a vertex at once. They write the same distance, and any of their
// predecessors is right. No thread expands a vertex just written: its distance is not the level.
#include "classic/bfs.cuh"

namespace {

__device__ __forceinline__ void visit(const LevelParams& params, int v, int predecessor, int level,
                                      int* last_level) {
  kl_store(params.distances + v, level);
  if (params.predecessors != nullptr) kl_store(params.predecessors + v, predecessor);
  kl_store(last_level, level);
}

}  // namespace

// One thread.
KL_KERNEL(bfs_sweeps_init, int source, int* distances, int* last_level) {
  distances[source] = 0;
  *last_level = 0;
}

// A thread per arc: `tails` is in the order of the neighbours.
KL_KERNEL(bfs_edge_level, const LevelParams params, const int* tails, long long m, int level,
          int* last_level) {
  const long long i = global_thread();
  if (i >= m) return;
  const int u = tails[i];
  if (kl_load(params.distances + u) != level) return;
  const int v = params.neighbors[i];
  if (kl_load(params.distances + v) < 0) visit(params, v, u, level + 1, last_level);
}

// A thread per vertex; those of the level visit their neighbours.
KL_KERNEL(bfs_vertex_push_level, const LevelParams params, int n, int level, int* last_level) {
  const long long u = global_thread();
  if (u >= n || kl_load(params.distances + u) != level) return;
  for (long long i = params.offsets[u], end = params.offsets[u + 1]; i < end; ++i) {
    const int v = params.neighbors[i];
    if (kl_load(params.distances + v) < 0) {
      visit(params, v, static_cast<int>(u), level + 1, last_level);
    }
  }
}

// A thread per vertex, along incoming arcs; unvisited ones look for a predecessor and stop at the
// first.
KL_KERNEL(bfs_vertex_pull_level, const LevelParams params, int n, int level, int* last_level) {
  const long long v = global_thread();
  if (v >= n || kl_load(params.distances + v) >= 0) return;
  for (long long i = params.offsets[v], end = params.offsets[v + 1]; i < end; ++i) {
    const int u = params.neighbors[i];
    if (kl_load(params.distances + u) == level) {
      visit(params, static_cast<int>(v), u, level + 1, last_level);
      return;
    }
  }
}

// ---- a level as a matrix-vector product ---------------------------------------------------------

// One thread. Both vectors are zero except for the source.
KL_KERNEL(bfs_spmv_init, int source, int* distances, unsigned char* x_old, unsigned char* x_new,
          int* last_level, int* missing) {
  distances[source] = 0;
  x_old[source] = x_new[source] = 1;
  *last_level = *missing = 0;
}

// A thread per row: x_new |= A x_old. x_new holds the vertices of two levels before, so after the
// product it is 1 for all vertices within `level` hops. A vertex that is not in x_old is new, and
// only a vertex of the previous level has an arc to it.
KL_KERNEL(bfs_spmv_multiply, const LevelParams params, int n, int level, const unsigned char* x_old,
          unsigned char* x_new, int* last_level) {
  const long long i = global_thread();
  if (i >= n || x_old[i] == 0) return;
  for (long long j = params.offsets[i], end = params.offsets[i + 1]; j < end; ++j) {
    const int v = params.neighbors[j];
    kl_store(x_new + v, static_cast<unsigned char>(1));
    if (x_old[v] == 0) visit(params, v, static_cast<int>(i), level, last_level);
  }
}

// A thread per target: *missing becomes the level unless x_new has all targets.
KL_KERNEL(bfs_spmv_targets, const int* targets, int count, int level, const unsigned char* x_new,
          int* missing) {
  const long long k = global_thread();
  if (k < count && x_new[targets[k]] == 0) kl_store(missing, level);
}
