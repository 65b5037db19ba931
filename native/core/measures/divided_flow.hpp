// What every vertex sends back to the source of a search, divided among its predecessors by the
// rules of NetworkX that are not those of betweenness.
//
// Brandes's sweep divides what a vertex carries by numbers of shortest paths. Newman's load (Phys.
// Rev. E 64, 016132, 2001) divides it equally among the predecessors, whatever number of paths
// leads through each; NetworkX's load of edges and its betweenness of edges for some targets have
// rules of their own. All are sweeps over the vertices by falling distance, and follow from the
// distances alone: only tight arcs (distance of the tail + weight = distance of the head) matter.
// Weights must be positive, so that an arc is tight in one direction only.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "graph/arcs.hpp"
#include "sssp/settle_order.hpp"

namespace kleene::measures {

using namespace graph;

// What a vertex that carries c sends to each of its p predecessors.
enum class Division {
  kLoad,      // (1 + c) / p; nothing where the source is one of them
  kEdgeLoad,  // 1 + c / p; what counts for the arc is c / p
  kTargets,   // c / p; a target sends 1 + c, divided by numbers of shortest paths
};

// The work arrays of a thread, and its sums over searches: of what each vertex carries, and of what
// goes along each incoming arc.
struct DividedFlow {
  std::vector<double> vertex_sums, arc_sums;
  std::vector<double> carried, paths;
  std::vector<std::int32_t> order;  // the vertices reached, the nearest first
  std::vector<std::int64_t> tight;  // arcs from the predecessors of a vertex
};

template <class Weight, class Distance>
class FlowDivision {
 public:
  // `is_target` has a flag for each vertex, for kTargets.
  FlowDivision(const Arcs<std::int32_t, Weight>& incoming, Division division,
               const std::uint8_t* is_target, Distance no_path)
      : incoming_(incoming), division_(division), is_target_(is_target), no_path_(no_path) {}

  // Adds the flow of one search to the sums of a thread.
  void add(const Distance* distances, std::int32_t source, DividedFlow& flow) const {
    sort_reached(distances, flow);
    if (division_ == Division::kTargets) count_paths(distances, source, flow);
    for (auto v = flow.order.rbegin(); v != flow.order.rend(); ++v) {
      if (*v != source) send_back(distances, source, *v, flow);
    }
  }

 private:
  void sort_reached(const Distance* distances, DividedFlow& flow) const {
    const auto n = static_cast<std::size_t>(incoming_.n);
    flow.vertex_sums.resize(n);
    flow.arc_sums.resize(static_cast<std::size_t>(incoming_.count()));
    flow.carried.assign(n, 0.0);
    flow.order.clear();
    for (std::int32_t v = 0; v < incoming_.n; ++v) {
      if (distances[v] != no_path_) flow.order.push_back(v);
    }
    std::sort(flow.order.begin(), flow.order.end(), [&](std::int32_t a, std::int32_t b) {
      return distances[a] != distances[b] ? distances[a] < distances[b] : a < b;
    });
  }

  void count_paths(const Distance* distances, std::int32_t source, DividedFlow& flow) const {
    flow.paths.assign(static_cast<std::size_t>(incoming_.n), 0.0);
    flow.paths[index(source)] = 1.0;
    for (const std::int32_t v : flow.order) {
      if (v == source) continue;
      each_predecessor(distances, v, [&](std::int64_t, std::int32_t u) {
        flow.paths[index(v)] += flow.paths[index(u)];
      });
    }
  }

  void send_back(const Distance* distances, std::int32_t source, std::int32_t v,
                 DividedFlow& flow) const {
    flow.tight.clear();
    bool from_source = false;
    each_predecessor(distances, v, [&](std::int64_t arc, std::int32_t u) {
      flow.tight.push_back(arc);
      from_source |= u == source;
    });
    const auto predecessors = static_cast<double>(flow.tight.size());
    const double carried = flow.carried[index(v)];
    flow.vertex_sums[index(v)] += carried;
    if (division_ == Division::kLoad && from_source) return;
    for (const std::int64_t arc : flow.tight) {
      const std::size_t u = index(incoming_.neighbors[arc]);
      double sent = carried / predecessors;
      if (division_ == Division::kLoad) {
        sent = (1.0 + carried) / predecessors;
      } else if (division_ == Division::kTargets && is_target_[v]) {
        sent = (flow.paths[u] / flow.paths[index(v)]) * (1.0 + carried);
      }
      flow.arc_sums[static_cast<std::size_t>(arc)] += sent;
      flow.carried[u] += division_ == Division::kEdgeLoad ? 1.0 + sent : sent;
    }
  }

  // Calls body(arc, predecessor) for the tight arcs to a vertex.
  template <class Body>
  void each_predecessor(const Distance* distances, std::int32_t v, Body&& body) const {
    for (std::int64_t arc = incoming_.offsets[v]; arc < incoming_.offsets[v + 1]; ++arc) {
      const std::int32_t u = incoming_.neighbors[arc];
      if (distances[u] == no_path_) continue;
      if (sssp::is_tight(incoming_, arc, distances[u], distances[v])) body(arc, u);
    }
  }

  static std::size_t index(std::int32_t v) { return static_cast<std::size_t>(v); }

  const Arcs<std::int32_t, Weight>& incoming_;
  const Division division_;
  const std::uint8_t* is_target_;
  const Distance no_path_;
};

}  // namespace kleene::measures
