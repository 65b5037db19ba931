// Compiled without fused multiplications and additions, which round once where NetworkX rounds
// twice.
#include "measures/betweenness_in_order.hpp"

#include <vector>

namespace kleene::measures {
namespace {

using Id = std::int32_t;

struct Step {  // to a vertex, from the one before it on a shortest path
  Id before;
  std::int64_t edge;
};

struct Vertex {
  double paths = 0, dependency = 0;
  std::int64_t depth = -1;
  std::vector<Step> steps;
};

}  // namespace

void edge_betweenness_in_order(const NumberedEdges& graph, const Id* sources, std::int64_t count,
                               double* values, parallel::Monitor& monitor) {
  const graph::Arcs<Id>& arcs = graph.arcs;
  std::vector<Vertex> vertices(static_cast<std::size_t>(arcs.n));
  std::vector<Id> queue;
  for (std::int64_t k = 0; k < count; ++k) {
    monitor.poll();
    queue.assign(1, sources[k]);
    vertices[sources[k]].depth = 0;
    vertices[sources[k]].paths = 1;
    for (std::size_t at = 0; at < queue.size(); ++at) {
      const Id v = queue[at];
      const std::int64_t next = vertices[v].depth + 1;
      for (std::int64_t i = arcs.offsets[v]; i < arcs.offsets[v + 1]; ++i) {
        if (graph.removed[graph.edges[i]]) continue;
        Vertex& head = vertices[arcs.neighbors[i]];
        if (head.depth < 0) {
          head.depth = next;
          queue.push_back(arcs.neighbors[i]);
        }
        if (head.depth != next) continue;
        head.paths += vertices[v].paths;
        head.steps.push_back({v, graph.edges[i]});
      }
    }
    for (auto w = queue.rbegin(); w != queue.rend(); ++w) {
      Vertex& vertex = vertices[*w];
      const double share = (1 + vertex.dependency) / vertex.paths;
      for (const auto& [before, edge] : vertex.steps) {
        const double flow = vertices[before].paths * share;
        values[edge] += flow;
        vertices[before].dependency += flow;
      }
      vertex.steps.clear();
      vertex.depth = -1;
      vertex.paths = vertex.dependency = 0;
    }
  }
}

}  // namespace kleene::measures
