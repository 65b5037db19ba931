"""Components, k shortest paths and turns beside plain searches, with no code of the package."""

from __future__ import annotations

import heapq
import math
from dataclasses import replace
from itertools import pairwise
from typing import Any

import numpy as np

import kleene as kl
from torture.expected import Expected
from torture.random_graphs import Spec, random_spec

__all__ = [
    "components_fault",
    "k_shortest_fault",
    "random_components",
    "random_k_shortest",
    "random_turns",
    "turns_fault",
]

#: Partial paths that the simple search looks at before it gives up.
_PATIENCE = 4000


def _with_small_weights(spec: Spec, rng: np.random.Generator, negative: bool) -> Spec:
    """Return the graph with weights whose sums are exact, without negative cycles."""
    if spec.weights is None:
        return spec
    values = rng.integers(0, 10, len(spec.ends))
    if negative and spec.directed and rng.random() < 0.3:
        height = rng.integers(-9, 10, spec.n)
        values = values + [height[v] - height[u] for u, v in spec.ends]
    kind = str(rng.choice(["int32", "int64", "float32", "float64"]))
    weights = tuple((values / 4 if "float" in kind else values).tolist())
    return replace(spec, weights=weights, dtype=kind, exact=True)


# ---- components ---------------------------------------------------------------------------------


def random_components(seed: int) -> Spec:
    """Return a graph, and how to ask for its components."""
    rng = np.random.default_rng(seed)
    kind = str(rng.choice(["weak", "strong"]))
    asked = {"kind": kind, "threads": int(rng.integers(1, 4))}
    return replace(random_spec(seed, "bfs"), asked=asked)


def _reached(start: int, rows: list[list[int]]) -> set[int]:
    found, left = {start}, [start]
    while left:
        for v in rows[left.pop()]:
            if v not in found:
                found.add(v)
                left.append(v)
    return found


def components_fault(spec: Spec) -> str | None:
    """Return how components differ from what each vertex reaches, None if they do not."""
    ahead: list[list[int]] = [[] for _ in range(spec.n)]
    back: list[list[int]] = [[] for _ in range(spec.n)]
    weak = spec.asked["kind"] == "weak"
    for u, v, _ in spec.arcs():
        for tail, head in ((u, v), (v, u)) if weak else ((u, v),):
            ahead[tail].append(head)
            back[head].append(tail)
    sets = {frozenset(_reached(v, ahead) & _reached(v, back)) for v in range(spec.n)}
    want = sorted((sorted(s) for s in sets), key=lambda s: (-len(s), s[0]))
    found = kl.components(spec.graph(), **spec.asked)
    got = [found.members(i).tolist() for i in range(found.count)]
    return None if got == want else f"the components are {got}, and should be {want}"


# ---- k shortest paths ---------------------------------------------------------------------------


def random_k_shortest(seed: int) -> Spec:
    """Return a graph and pairs of vertices."""
    rng = np.random.default_rng(seed)
    spec = _with_small_weights(random_spec(seed, "apsp"), rng, negative=True)
    count = int(rng.integers(0, 5)) if spec.n else 0
    asked = {
        "sources": rng.integers(0, max(1, spec.n), count).tolist(),
        "targets": rng.integers(0, max(1, spec.n), count).tolist(),
        "k": int(rng.integers(1, 6)),
        "threads": int(rng.integers(1, 4)),
    }
    return replace(spec, asked=asked)


def _best_first(
    rows: dict[int, dict[int, Any]], source: int, target: int, k: int
) -> list[Any] | None:
    """Return the lengths of the best simple paths by extending partial ones, or None."""
    if any(w < 0 for row in rows.values() for w in row.values()):
        return None
    found: list[Any] = []
    queue: list[tuple[Any, list[int]]] = [(0, [source])]
    for _ in range(_PATIENCE):
        if not queue or len(found) == k:
            return found
        length, path = heapq.heappop(queue)
        if path[-1] == target:
            found.append(length)
            continue
        for v, w in rows.get(path[-1], {}).items():
            if v not in path:
                heapq.heappush(queue, (length + w, [*path, v]))
    return None


def k_shortest_fault(spec: Spec) -> str | None:
    """Return what is wrong with the paths of some pairs, None if nothing is."""
    rows: dict[int, dict[int, Any]] = {}
    for u, v, w in spec.arcs():
        rows.setdefault(u, {})[v] = w
    pairs = list(zip(spec.asked["sources"], spec.asked["targets"], strict=False))
    k, threads = spec.asked["k"], spec.asked["threads"]
    answers = kl.k_shortest(spec.graph(), k=k, pairs=pairs, threads=threads)
    nearest = Expected(replace(spec, asked={}), "min_plus", False).rows(np.float64)
    assert nearest is not None, "weights that make a negative cycle"
    for (source, target), found in zip(pairs, answers, strict=True):
        lengths, paths = found.distances.tolist(), list(found.paths)
        where = f"from {source} to {target}"
        distinct = len(set(map(tuple, paths))) == len(paths) <= k
        if not distinct or sorted(lengths) != lengths:
            return f"{where}: {lengths} for {paths}"
        for path, length in zip(paths, lengths, strict=True):
            simple = len(set(path)) == len(path) and (path[0], path[-1]) == (source, target)
            if not simple or sum(rows[u][v] for u, v in pairwise(path)) != length:
                return f"{where}: {path} is no path of length {length}"
        if bool(lengths) != bool(nearest[1][source, target]):
            return f"{where}: {len(lengths)} paths"
        if lengths and lengths[0] != nearest[0][source, target]:
            return f"{where}: {lengths[0]}, and should be {nearest[0][source, target]}"
        want = _best_first(rows, source, target, k)
        if want is not None and want != lengths:
            return f"{where}: {lengths}, and should be {want}"
    return None


# ---- turns --------------------------------------------------------------------------------------


def random_turns(seed: int) -> Spec:
    """Return a graph, and some of its turns with delays."""
    rng = np.random.default_rng(seed)
    spec = _with_small_weights(random_spec(seed, "apsp"), rng, negative=False)
    kept = [i for i, (u, v) in enumerate(spec.ends) if u != v][:40]
    weights = None if spec.weights is None else tuple(spec.weights[i] for i in kept)
    spec = replace(spec, ends=tuple(spec.ends[i] for i in kept), weights=weights)
    arcs = [(u, v) for u, v, _ in spec.arcs()]
    turns = [(a[0], a[1], b[1]) for a in arcs for b in arcs if a[1] == b[0]]
    chosen = rng.permutation(len(turns))[: int(rng.integers(0, 12))]
    delays = [0, 1, 2.5, math.inf, None]
    asked = {
        "turns": [(*turns[i], delays[rng.integers(len(delays))]) for i in chosen],
        "u_turns": [None, "forbidden", 2][rng.integers(3)],
    }
    return replace(spec, asked=asked)


def turns_fault(spec: Spec) -> str | None:
    """Return how distances differ from those of a search over arcs, None if they do not."""
    arcs = [(u, v, w) for u, v, w in spec.arcs() if u != v]
    degree = np.bincount([u for u, _, _ in arcs], minlength=spec.n)
    listed = [turn for turn in spec.asked["turns"] if max(turn[:3]) < spec.n]
    u_turns = spec.asked["u_turns"]
    delays: dict[tuple[int, int, int], float] = {}
    for u, v, _ in arcs:
        if u_turns is not None and (u_turns != "forbidden" or degree[v] > 1):
            delays[u, v, u] = math.inf if u_turns == "forbidden" else u_turns
    delays |= {(u, v, w): math.inf if d is None else d for u, v, w, d in listed}
    want = _over_arcs(spec.n, arcs, delays)
    names = ("from", "via", "to", "delay")
    table = {name: [turn[i] for turn in listed] for i, name in enumerate(names)}
    turned = kl.TurnGraph(spec.graph(), table, u_turns=u_turns, missing="ignore")
    result = turned.apsp(device="cpu")
    result.verify()
    if (result.floats != want).any():
        i, j = np.argwhere(result.floats != want)[0].tolist()
        return f"[{i}, {j}] holds {result.floats[i, j]}, and should {want[i, j]}"
    return None


def _over_arcs(n: int, arcs: list[tuple[int, int, Any]], delays: dict[Any, float]) -> Any:
    """Return all distances by a search over arcs: a vertex for each, an edge for each turn."""
    m = len(arcs)  # vertices from m on are the beginnings of paths
    edges = [((m + u, j), w) for j, (u, _, w) in enumerate(arcs)]
    for i, (u, v, _) in enumerate(arcs):
        for j, (tail, head, w) in enumerate(arcs):
            delay = delays.get((u, v, head), 0)
            if tail == v and delay != math.inf:
                edges.append(((i, j), w + delay))
    ends, weights = tuple(end for end, _ in edges), tuple(float(w) for _, w in edges)
    asked = {"sources": list(range(m, m + n))}
    lines = Spec(m + n, ends, weights, "float64", asked=asked)
    answer = Expected(lines, "min_plus", False).rows(np.float64)
    assert answer is not None
    values = np.where(answer[1], answer[0], np.inf)
    want = np.full((n, n), np.inf)
    for i, (_, head, _) in enumerate(arcs):
        want[:, head] = np.minimum(want[:, head], values[:, i])
    np.fill_diagonal(want, 0)
    return want
