// The components of a graph: which vertices belong together.
//
// Weak: joined by arcs, whatever their direction. Strong: each reaches the other along arcs.
// Components are numbered by size, the largest first; of two of a size, the one with the smaller
// first vertex comes first. So the numbers do not depend on the method or the number of threads.
#pragma once

#include "graph/arcs.hpp"

namespace kleene::components {

using namespace parallel;
using namespace graph;

// All fill component[v] for the n vertices; they return the sizes of the components, by number.

// Weak components (weak.cpp). `symmetric`: every arc has its reverse arc in the graph.
template <class Id>
Buffer<std::int64_t> weak(const Arcs<Id>& arcs, bool symmetric, Id* component, int threads,
                          Monitor& monitor);

// Strong components (strong.cpp). Without incoming arcs, or on one thread: Tarjan's algorithm
// alone.
template <class Id>
Buffer<std::int64_t> strong(const Arcs<Id>& outgoing, const Arcs<Id>* incoming, Id* component,
                            int threads, Monitor& monitor);

// Strong components in the order in which a depth-first search leaves them, on one core: sinks
// first. Arcs are taken as they are stored; rows need not be sorted.
template <class Id>
Buffer<std::int64_t> strong_in_search_order(const Arcs<Id>& arcs, Id* component, Monitor& monitor);

// Turns representatives into numbers (number.cpp): component[v] is some vertex, the same for all
// vertices of a component.
template <class Id>
Buffer<std::int64_t> number_by_size(std::int64_t n, Id* component, int threads, Monitor& monitor);

// Numbers `count` components again, in the order of their first vertices.
template <class Id>
void number_by_first(std::int64_t n, std::int64_t count, Id* component);

}  // namespace kleene::components
