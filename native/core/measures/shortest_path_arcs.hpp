// The shortest paths from one source, as a graph of the arcs on them; counts of the paths, and sums
// over all of them.
//
// An arc is on a shortest path if it is tight: the distance of its tail plus its length is the
// distance of its head. Distances may come from any search. Vertices are taken in topological order
// of the tight arcs (Kahn 1962) and need no sorting by distance: so arcs of length zero need no
// special care, nor do lengths that a float sum swallows, and a cycle of either is found.
//
// Sums are those of Brandes: the share of a vertex v is the number of targets at v, and of those
// that paths through v lead to, in parts, for each path from the source to v. In reverse order,
//
//   share(v) = (is_target(v) + through(v)) / count(v),  through(v) = count(v) * sum of share(head)
//
// over the arcs of v, and an arc (v, w) is used by count(v) * share(w).
//
// U. Brandes, "A faster algorithm for betweenness centrality", 2001.
#pragma once

#include <algorithm>
#include <cstdint>
#include <iterator>
#include <vector>

#include "measures/scaled_count.hpp"
#include "parallel/monitor.hpp"

namespace kleene::measures {

using namespace parallel;

// A cycle of tight arcs, by one of them: the number of shortest paths is not defined.
struct CycleOfLengthZero {
  std::int64_t tail, head;
};

// Vertices between two looks for Ctrl-C.
constexpr int kCheckEvery = 4096;

// Tight arcs, those with the same tail one after the other.
template <class Id>
class TightArcs {
 public:
  struct Row {
    Id tail, degree;
  };

  // Whether to keep the position of each arc in the graph.
  explicit TightArcs(bool positions = false) : positions_(positions) {}

  void clear() {
    rows_.clear();
    heads_.clear();
    arcs_.clear();
  }
  void add(Id tail, Id head, std::int64_t arc) {
    if (rows_.empty() || rows_.back().tail != tail) rows_.push_back({tail, 0});
    ++rows_.back().degree;
    heads_.push_back(head);
    if (positions_) arcs_.push_back(arc);
  }

  const std::vector<Row>& rows() const { return rows_; }
  const std::vector<Id>& heads() const { return heads_; }
  std::int64_t position(std::int64_t i) const { return arcs_[static_cast<std::size_t>(i)]; }

 private:
  bool positions_;
  std::vector<Row> rows_;
  std::vector<Id> heads_;
  std::vector<std::int64_t> arcs_;
};

// What one thread adds to: see BetweennessTask in backends/task.py.
struct PathSums {
  double* vertices;
  double* arcs;                // or null
  const std::uint8_t* target;  // of each vertex; null when all are
  bool endpoints;
  const double* volumes = nullptr;  // instead of `target`: what goes to each vertex
};

// Counts shortest paths from one source after the other; memory is allocated once, and cleared on
// the way, so that a search costs no more than what it reaches.
template <class Id>
class ShortestPathArcs {
 public:
  explicit ShortestPathArcs(std::int64_t n) : vertices_(static_cast<std::size_t>(n)) {}

  // Puts the vertices that tight arcs lead to, and the source, in order, and counts their paths.
  // Throws CycleOfLengthZero.
  void count(Id source, const TightArcs<Id>& arcs, CancelCheck check_cancelled) {
    arcs_ = &arcs;
    const std::int64_t reached = 1 + enter_arcs();
    order_.resize(static_cast<std::size_t>(reached) + 1);  // room for what is not appended
    largest_ = 0;
    vertices_[source].count = 1;
    order_[0] = source;
    std::int64_t size = vertices_[source].waiting == 0 ? 1 : 0;
    const Id* const heads = arcs.heads().data();
    for (std::int64_t at = 0; at < size; ++at) {
      if ((at + 1) % kCheckEvery == 0) check_cancelled();
      const Vertex& u = vertices_[order_[at]];
      largest_ = std::max(largest_, u.count);
      for (std::int64_t i = u.begin; i < u.begin + u.degree; ++i) {
        Vertex& v = vertices_[heads[i]];
        v.count += u.count;
        order_[size] = heads[i];
        size += --v.waiting == 0;  // a branch could not be predicted
      }
    }
    if (size != reached) throw find_cycle();
    order_.resize(static_cast<std::size_t>(size));
  }

  // The largest count.
  ScaledCount largest() {
    if (largest_ <= kLargestCount) return largest_;
    count_scaled();
    ScaledCount largest;
    for (const Id v : order_) largest = std::max(largest, scaled_[v].count);
    return largest;
  }

  // The source and the vertices that it reaches, each after its predecessors.
  const std::vector<Id>& order() const { return order_; }

  // Calls take(head) for the arcs of a vertex.
  template <class Take>
  void for_arcs(Id u, Take&& take) const {
    const Vertex& row = vertices_[u];
    for (std::int64_t i = row.begin; i < row.begin + row.degree; ++i) take(arcs_->heads()[i]);
  }

  // Adds what the paths from the source contribute, and forgets them.
  void add_to(const PathSums& sums, CancelCheck check_cancelled) {
    if (largest_ <= kLargestCount) {
      add_shares<double>(sums, check_cancelled,
                         [&](Id v) -> Paths<double>& { return vertices_[v]; });
    } else {
      count_scaled();
      add_shares<ScaledCount>(sums, check_cancelled,
                              [&](Id v) -> Paths<ScaledCount>& { return scaled_[v]; });
    }
  }

 private:
  template <class Count>
  struct Paths {
    Count count = 0, share = 0;
  };
  struct Vertex : Paths<double> {
    std::int64_t begin = 0;  // of its tight arcs
    Id degree = 0;
    Id waiting = 0;  // tight arcs that lead here, from vertices that are not in the order yet
  };

  // Returns how many vertices the arcs lead to.
  std::int64_t enter_arcs() {
    std::int64_t begin = 0, reached = 0;
    for (const auto& [tail, degree] : arcs_->rows()) {
      vertices_[tail].begin = begin;
      vertices_[tail].degree = degree;
      begin += degree;
    }
    for (const Id head : arcs_->heads()) reached += vertices_[head].waiting++ == 0;
    return reached;
  }

  // Counts again, in the same order.
  void count_scaled() {
    scaled_.resize(vertices_.size());
    for (const Id v : order_) scaled_[v] = {};
    scaled_[order_[0]].count = 1;
    for (const Id u : order_) {
      for_arcs(u, [&](Id v) { scaled_[v].count += scaled_[u].count; });
    }
  }

  template <class Count, class Of>
  void add_shares(const PathSums& sums, CancelCheck& check_cancelled, Of&& of) {
    const Id* const heads = arcs_->heads().data();
    for (std::size_t at = order_.size(); at-- > 0;) {
      if ((at + 1) % kCheckEvery == 0) check_cancelled();
      const Id u = order_[at];
      Paths<Count>& own = of(u);
      Vertex& row = vertices_[u];
      Count share = 0;
      for (std::int64_t i = row.begin; i < row.begin + row.degree; ++i) {
        const Count& part = of(heads[i]).share;
        share += part;
        if (sums.arcs) sums.arcs[arcs_->position(i)] += static_cast<double>(own.count * part);
      }
      const auto through = static_cast<double>(own.count * share);
      if (at > 0) {
        const double ends = sums.volumes ? sums.volumes[u] : !sums.target || sums.target[u] ? 1 : 0;
        sums.vertices[u] += sums.endpoints ? through + ends : through;
        own.share = Count(ends + through) / own.count;
      } else if (sums.endpoints) {
        sums.vertices[u] += through;  // all paths begin at the source
      }
      row.count = 0;
      row.degree = 0;
    }
  }

  // What is not in the order is on a cycle or behind one, and has a predecessor like itself.
  CycleOfLengthZero find_cycle() const {
    std::vector<Id> before(vertices_.size(), -1);
    Id on = -1;
    for (const auto& row : arcs_->rows()) {
      if (vertices_[row.tail].waiting == 0) continue;
      for_arcs(row.tail, [&](Id head) { before[on = head] = row.tail; });
    }
    for (std::size_t step = 0; step < before.size(); ++step) on = before[on];
    return {before[on], on};
  }

  std::vector<Vertex> vertices_;
  std::vector<Paths<ScaledCount>> scaled_;
  const TightArcs<Id>* arcs_ = nullptr;
  std::vector<Id> order_;
  double largest_ = 0;  // count
};

}  // namespace kleene::measures
