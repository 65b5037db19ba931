#include <algorithm>
#include <vector>

#include "prepared/elimination/eliminate.hpp"

namespace kleene::prepared {
namespace {

using Vertex = std::int32_t;

// Calls body(u) for the neighbors of v.
template <class Body>
void for_each_neighbor(const graph::Arcs<Vertex>& arcs, Vertex v, Body&& body) {
  std::for_each(arcs.neighbors + arcs.offsets[v], arcs.neighbors + arcs.offsets[v + 1], body);
}

}  // namespace

Sample sample(const graph::Arcs<Vertex>& arcs, Vertex source, std::int64_t most_vertices,
              std::int64_t most_arcs, Monitor& monitor) {
  const auto most = static_cast<std::size_t>(std::min(most_vertices, arcs.n));
  std::vector<Vertex> found;
  Buffer<Vertex> place(arcs.n);  // in `found`; -1 for others
  std::fill_n(place.data(), arcs.n, Vertex{-1});
  const auto find = [&](Vertex v) {
    if (place[v] >= 0 || found.size() >= most) return;
    place[v] = static_cast<Vertex>(found.size());
    found.push_back(v);
  };

  // 1. Search. Arcs to vertices found before count twice: most have an arc back.
  Vertex next = source;  // to start again from
  std::int64_t inside = 0;
  Vertex kept = 0;  // vertices
  for (; kept < static_cast<Vertex>(most); ++kept) {
    for (; kept == static_cast<Vertex>(found.size()); next = (next + 1) % arcs.n) find(next);
    for_each_neighbor(arcs, found[kept], [&](Vertex u) {
      find(u);
      inside += 2 * (place[u] >= 0 && place[u] < kept);
    });
    if (inside > most_arcs) break;
    monitor.poll();
  }

  // 2. Rows of the vertices kept, in ascending order.
  Sample piece{Buffer<std::int64_t>(kept + 1), {}, 0};
  std::vector<Vertex> neighbors;
  piece.offsets[0] = 0;
  for (Vertex v = 0; v < kept; ++v) {
    bool inner = true;
    for_each_neighbor(arcs, found[v], [&](Vertex u) {
      if (place[u] >= 0 && place[u] < kept) {
        neighbors.push_back(place[u]);
      } else {
        inner = false;
      }
    });
    piece.boundary += !inner;
    std::sort(neighbors.begin() + piece.offsets[v], neighbors.end());
    piece.offsets[v + 1] = static_cast<std::int64_t>(neighbors.size());
  }
  piece.neighbors = Buffer<Vertex>(static_cast<std::int64_t>(neighbors.size()));
  std::copy(neighbors.begin(), neighbors.end(), piece.neighbors.data());
  return piece;
}

}  // namespace kleene::prepared
