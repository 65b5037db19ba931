// The table of BFS methods.
#pragma once

#include <span>

#include "bfs/bfs.hpp"
#include "graph/method.hpp"

namespace kleene::bfs {

// Fills one row per source. Rows are filled with -1 where a vertex is not reached, or with
// `no_path` by a method that searches from many sources at once.
template <class Id>
using SearchAll = void(const Problem<Id>& problem, const ResultRows<Id, Id>& rows, Id no_path,
                       int threads, Monitor& monitor);

template <class Id>
struct Method {
  MethodTraits traits;
  SearchAll<Id>* search_all;
};

template <class Id>
std::span<const Method<Id>> methods();

}  // namespace kleene::bfs
