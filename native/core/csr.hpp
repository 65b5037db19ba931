// Building and checking CSR graphs.
//
// build_csr turns a list of arcs in any order into the canonical form that everything else trusts:
// rows sorted by target, no parallel arcs, no self-loops except negative ones, no infinite weights.
//
// The arcs are first dealt into buckets of neighbouring sources, each small enough for a core's
// cache; then one thread a bucket sorts them into rows, sorts each row and combines its parallel
// arcs. (Scattering straight into rows with one atomic cursor each is simpler and takes twice as
// long on two threads as on one: every atomic waits for a cache miss.) The result does not depend
// on the number of threads or on the order of the arcs.
#pragma once

#include <cstdint>

#include "buffer.hpp"
#include "monitor.hpp"

namespace kleene {

// Stands for the weight type of a graph without weights.
struct NoWeight {};

// What becomes of parallel arcs.
enum class Combine { kMin, kMax, kSum };

// The first arc, in input order, that cannot be part of a graph.
struct BadArc {
  enum class Fault { kSource, kTarget, kWeight };  // id out of [0, n), NaN or -inf
  Fault fault;
  std::int64_t position;
};

template <class Id, class Weight>
struct Csr {
  Buffer<std::int64_t> offsets;
  Buffer<Id> neighbors;
  Buffer<Weight> weights;  // empty for NoWeight
};

// Throws BadArc. With `symmetric` every arc is entered in both directions.
template <class InId, class Id, class Weight>
Csr<Id, Weight> build_csr(std::int64_t n, std::int64_t arcs, const InId* sources,
                          const InId* targets, const Weight* weights, bool symmetric,
                          Combine combine, int threads, Monitor& monitor);

// Is this CSR canonical, as build_csr would have made it? Throws BadArc for an id or a weight that
// build_csr would refuse. Offsets must already be known to rise from 0 to the number of arcs.
template <class Id, class Weight>
bool is_canonical(std::int64_t n, const std::int64_t* offsets, const Id* neighbors,
                  const Weight* weights, int threads, Monitor& monitor);

// One breadth-first sweep, on one core: how deep it went, a vertex of the last level, and how many
// vertices it reached. Two sweeps give a lower bound on the diameter.
struct Sweep {
  std::int64_t depth;
  std::int64_t last;
  std::int64_t reached;
};

template <class Id>
Sweep bfs_sweep(std::int64_t n, const std::int64_t* offsets, const Id* neighbors,
                std::int64_t source, Monitor& monitor);

}  // namespace kleene
