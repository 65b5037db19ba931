// 1. The elimination tree, by Liu: the parent of v is the first vertex that the component of v
//    among the vertices up to v is joined to. Components are found by links with path compression.
// 2. Postorder: children before parents, subtree by subtree. Elimination joins the same pairs.
// 3. Counts, by Gilbert, Ng and Peyton: the lower neighbors of i after elimination are a subtree
//    of the elimination tree rooted at i, whose leaves are neighbors of i in the graph. The number
//    of these subtrees that contain v is one more than the number of its upward neighbors. It is
//    the sum over the subtree of v of +1 for each leaf, and -1 where two of them meet, which is the
//    lowest common ancestor of consecutive leaves, and -1 at the parent of the root.
// 4. Rows: the same subtrees are walked, from the leaves to where the walk was before. As i grows,
//    each vertex gets its upward neighbors in ascending order, with neither merging nor sorting.
//
// J. W. H. Liu, "A compact row storage scheme for Cholesky factors using elimination trees", 1986.
// J. R. Gilbert, E. G. Ng, B. W. Peyton, "An efficient algorithm to compute row and column counts
// for sparse Cholesky factorization", 1994.
#include <algorithm>

#include "prepared/elimination/eliminate.hpp"

namespace kleene::prepared {
namespace {

using Rank = std::int32_t;

constexpr std::int64_t kPollEvery = 1 << 10;  // vertices

// Calls body(rank, neighbors' ranks...) for all ranks, ascending.
template <class Body>
void for_each_neighbor(const graph::Arcs<Rank>& arcs, const Rank* order, const Rank* ranks,
                       Monitor& monitor, Body&& body) {
  for (std::int64_t v = 0; v < arcs.n; ++v) {
    if (v % kPollEvery == 0) monitor.poll();
    const Rank vertex = order[v];
    for (std::int64_t i = arcs.offsets[vertex]; i < arcs.offsets[vertex + 1]; ++i) {
      body(static_cast<Rank>(v), ranks[arcs.neighbors[i]]);
    }
  }
}

Buffer<Rank> inverse(std::int64_t n, const Rank* order) {
  Buffer<Rank> ranks(n);
  for (std::int64_t v = 0; v < n; ++v) ranks[order[v]] = static_cast<Rank>(v);
  return ranks;
}

// The root of the component of v, by links; shortens the way for the next search.
Rank find(Rank* links, Rank v) {
  while (links[v] != v) v = links[v] = links[links[v]];
  return v;
}

Buffer<Rank> elimination_tree(const graph::Arcs<Rank>& arcs, const Rank* order, const Rank* ranks,
                              Monitor& monitor) {
  Buffer<Rank> parents(arcs.n), links(arcs.n);
  for (std::int64_t v = 0; v < arcs.n; ++v) {
    parents[v] = -1;
    links[v] = static_cast<Rank>(v);
  }
  for_each_neighbor(arcs, order, ranks, monitor, [&](Rank v, Rank lower) {
    if (lower >= v) return;
    const Rank root = find(links.data(), lower);
    if (root != v) parents[root] = links[root] = v;
  });
  return parents;
}

// The place of each rank in the postorder: parents come before children here, and give each child
// the last places that are left of their own.
Buffer<Rank> postorder(std::int64_t n, const Rank* parents) {
  const Buffer<Rank> sizes = subtree_sizes(n, parents);
  Buffer<Rank> places(n), free(n);  // free: the last place that is left to descendants
  auto left = static_cast<Rank>(n);
  for (std::int64_t v = n - 1; v >= 0; --v) {
    Rank& last = parents[v] < 0 ? left : free[parents[v]];
    places[v] = last - 1;
    free[v] = last - 1;
    last -= sizes[v];
  }
  return places;
}

// Puts every rank of an order and its tree in its place.
void reorder(const Buffer<Rank>& places, const Rank* old_order, const Rank* old_parents,
             Tree& tree) {
  for (std::int64_t v = 0; v < places.size(); ++v) {
    const Rank rank = places[v];
    tree.order[rank] = old_order[v];
    tree.ranks[old_order[v]] = rank;
    tree.parents[rank] = old_parents[v] < 0 ? -1 : places[old_parents[v]];
  }
}

// Upward neighbors of each rank of a postorder, counted into counts.
void count_upward(const graph::Arcs<Rank>& arcs, const Tree& tree, std::int64_t* counts,
                  Monitor& monitor) {
  const std::int64_t n = arcs.n;
  const Rank* const parents = tree.parents.data();
  const Buffer<Rank> sizes = subtree_sizes(n, parents);
  Buffer<Rank> links(n);      // to an ancestor, once the walk has left the vertex
  Buffer<Rank> last_leaf(n);  // of the subtree of each rank; -1 before the first
  for (std::int64_t v = 0; v < n; ++v) {
    links[v] = static_cast<Rank>(v);
    last_leaf[v] = -1;
    counts[v] = sizes[v] == 1;  // its own subtree has a leaf here
  }
  Rank previous = -1;
  const auto leave = [&](Rank v) {
    if (parents[v] < 0) return;
    links[v] = parents[v];
    --counts[parents[v]];
  };
  for_each_neighbor(arcs, tree.order.data(), tree.ranks.data(), monitor, [&](Rank v, Rank upper) {
    if (upper <= v) return;
    for (; previous < v - 1;) leave(++previous);
    // A leaf of the subtree of `upper`, unless one of its leaves is a descendant of v.
    const Rank leaf = last_leaf[upper];
    if (leaf > v - sizes[v]) return;
    ++counts[v];
    if (leaf >= 0) --counts[find(links.data(), leaf)];
    last_leaf[upper] = v;
  });
  for (; previous < n - 1;) leave(++previous);
  for (std::int64_t v = 0; v < n; ++v) {
    if (parents[v] >= 0) counts[parents[v]] += counts[v];
    --counts[v];
  }
}

}  // namespace

Buffer<Rank> subtree_sizes(std::int64_t n, const Rank* parents) {
  Buffer<Rank> sizes(n);
  std::fill_n(sizes.data(), n, Rank{1});
  for (std::int64_t v = 0; v < n; ++v) {
    if (parents[v] >= 0) sizes[parents[v]] += sizes[v];
  }
  return sizes;
}

Buffer<Rank> depths(std::int64_t n, const Rank* parents) {
  Buffer<Rank> depths(n);
  for (std::int64_t v = n - 1; v >= 0; --v) {
    depths[v] = parents[v] < 0 ? 0 : depths[parents[v]] + 1;
  }
  return depths;
}

Tree count_pairs(const graph::Arcs<Rank>& arcs, const Rank* order, Monitor& monitor) {
  const std::int64_t n = arcs.n;
  Tree tree{Buffer<Rank>(n), Buffer<Rank>(n), Buffer<Rank>(n), Buffer<std::int64_t>(n + 1)};
  {
    const Buffer<Rank> ranks = inverse(n, order);
    const Buffer<Rank> parents = elimination_tree(arcs, order, ranks.data(), monitor);
    reorder(postorder(n, parents.data()), order, parents.data(), tree);
  }
  tree.offsets[0] = 0;
  count_upward(arcs, tree, &tree.offsets[1], monitor);
  for (std::int64_t v = 0; v < n; ++v) tree.offsets[v + 1] += tree.offsets[v];
  return tree;
}

Buffer<Rank> join_pairs(const graph::Arcs<Rank>& arcs, const Rank* order, const Rank* ranks,
                        const Rank* parents, const std::int64_t* offsets, Monitor& monitor) {
  const std::int64_t n = arcs.n;
  Buffer<Rank> heads(offsets[n]);
  struct Row {
    std::int64_t end;  // of what is filled
    Rank walked;       // the last rank whose subtree this one was found in
  };
  Buffer<Row> rows(n);
  for (std::int64_t v = 0; v < n; ++v) rows[v] = {offsets[v], -1};
  for_each_neighbor(arcs, order, ranks, monitor, [&](Rank v, Rank lower) {
    for (; lower < v && rows[lower].walked != v; lower = parents[lower]) {
      rows[lower].walked = v;
      heads[rows[lower].end++] = v;
    }
  });
  return heads;
}

}  // namespace kleene::prepared
