// Searches within the components of a graph, each in time that its component takes.
#pragma once

#include <type_traits>

#include "bfs/bfs.hpp"
#include "sssp/dijkstra.hpp"

namespace kleene::measures {

using namespace parallel;
using namespace graph;

// A graph and its strong components. Hops are counted where lengths are null.
template <class Id, class Value>
struct Lengths {
  Arcs<Id> outgoing;
  const Value* lengths = nullptr;
  Arcs<Id> incoming;  // the same as outgoing if every arc has its reverse arc
  const Value* incoming_lengths = nullptr;
  bool directed = false;
  double longest = 1;             // the largest length of an arc
  const Id* component = nullptr;  // of each vertex, the largest first; null if there is one only
  const std::int64_t* sizes = nullptr;
  std::int64_t components = 1;
};

template <class Id, class Value>
class ComponentSearches {
 public:
  ComponentSearches(const Lengths<Id, Value>& graph, int threads, Monitor& monitor)
      : graph_(graph),
        threads_(threads),
        monitor_(monitor),
        from_(graph.outgoing.n),
        to_(graph.directed ? graph.outgoing.n : 0) {}

  // The distances from v, or to v, of the vertices of its component; of all vertices, if they are
  // passed, as they must be where arcs lead from one component to another.
  const Value* forward(Id v, const Id* vertices, std::int64_t size) {
    search(v, vertices, size, graph_.outgoing, graph_.lengths, graph_.incoming, from_.data());
    return from_.data();
  }

  const Value* backward(Id v, const Id* vertices, std::int64_t size) {
    search(v, vertices, size, graph_.incoming, graph_.incoming_lengths, graph_.outgoing,
           to_.data());
    return to_.data();
  }

 private:
  // Of all vertices, from which on a search uses all threads and touches every vertex.
  static constexpr std::int64_t kLargePart = 8;

  void search(Id v, const Id* vertices, std::int64_t size, const Arcs<Id>& arcs,
              const Value* lengths, const Arcs<Id>& reversed, Value* distances) {
    monitor_.poll();
    if (lengths == nullptr) {
      count_hops(v, vertices, size, arcs, reversed, distances);
    } else {
      add_lengths(v, vertices, size, arcs, lengths, distances);
    }
  }

  void count_hops(Id v, const Id* vertices, std::int64_t size, const Arcs<Id>& arcs,
                  const Arcs<Id>& reversed, Value* distances) {
    if constexpr (std::is_same_v<Id, Value>) {
      for (std::int64_t i = 0; i < size; ++i) distances[vertices[i]] = kNoHops<Id>;
      bfs::Problem<Id> problem;
      problem.outgoing = arcs;
      problem.incoming = reversed;
      problem.source = v;
      bfs::direction_optimizing(problem, ResultRow<Id, Id>{distances}, threads_, monitor_);
    }
  }

  void add_lengths(Id v, const Id* vertices, std::int64_t size, const Arcs<Id>& arcs,
                   const Value* lengths, Value* distances) {
    sssp::Problem<Id, Value> problem;
    problem.outgoing = arcs;
    problem.lengths = lengths;
    problem.source = v;
    if (size * kLargePart >= arcs.n) {
      Value horizon;
      const ResultRows<Id, Value> rows{&v, 1, distances, nullptr, &horizon};
      sssp::delta_stepping(problem, rows, threads_, monitor_);
    } else {
      for (std::int64_t i = 0; i < size; ++i) distances[vertices[i]] = kNoPath<Value>;
      dijkstra_.search(problem, ResultRow<Id, Value>{distances}, CancelCheck(monitor_, 0));
    }
  }

  const Lengths<Id, Value>& graph_;
  const int threads_;
  Monitor& monitor_;
  Buffer<Value> from_, to_;
  sssp::Dijkstra<Id, Value> dijkstra_;
};

}  // namespace kleene::measures
