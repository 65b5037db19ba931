"""Some four hundred plans as they print, of machines that are not there.

    python tests/house/printed_plans.py     # writes data/plans.txt: look at what git says changed

``test_printed_plans`` compares. A plan depends on a call, on facts about a graph and on those of a
machine, and all three are given here: nothing is asked of the machine that prints, and nothing is
timed. The first part plans for graphs of which only the facts exist; the second explains and
makes calls about small graphs. This program runs in a process of its own, since it puts other
machines in the place of ours before anything else is imported.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterator
from dataclasses import replace
from itertools import product
from pathlib import Path
from typing import Any

FILE = Path(__file__).parents[1] / "data" / "plans.txt"

# ---- facts --------------------------------------------------------------------------------------

#: (vertices, arcs, type of the weights, smallest, largest, bound of path lengths)
GRAPHS: dict[str, tuple[int, int, str | None, float, float, float]] = {
    "ten vertices": (10, 40, "int32", 1, 9, 90),
    "a street network": (3_353, 8_859, "int32", 1, 1_000, 10**6),
    "highways": (560_282, 1_644_468, "int32", 1, 1_200_000, 5 * 10**9),
    "highways in metres": (560_282, 1_644_468, "float64", 0.5, 1.2e6, 5e9),
    "a social network": (2**20, 31 * 10**6, None, 1, 1, 2**20),
    "a weighted social network": (2**20, 31 * 10**6, "float32", 0.5, 2.0, 2**21),
    "a dense matrix": (4_096, 4_096**2 // 4, "float32", 0.1, 9.0, 4_096 * 9.0),
    "a large matrix": (40_000, 4 * 10**8, "int32", 1, 99, 99 * 40_000),
    "chances": (2_000, 16_000, "float64", 0.01, 1.0, 2_000.0),
    "profits and losses": (5_000, 30_000, "int64", -20, 99, 5_000 * 99),
}

#: (cores, bytes of memory, devices, GPUs, bytes free on each)
MACHINES: dict[str, tuple[int, int | None, tuple[str, ...], int, int]] = {
    "laptop": (2, 4 * 2**30, ("cpu", "reference"), 1, 0),
    "server": (64, 2**40, ("cpu", "emulated", "reference"), 1, 0),
    "one GPU": (16, 64 * 2**30, ("cuda", "cpu", "reference"), 1, 40 * 2**30),
    "four GPUs": (64, 2**40, ("cuda", "cpu", "reference"), 4, 140 * 2**30),
}

#: The call, and what the user asks for.
CALLS: list[tuple[str, dict[str, Any]]] = [
    ("bfs", {"sources": 1}),
    ("bfs", {"sources": 1000, "predecessors": False}),
    ("sssp", {"sources": 1}),
    ("sssp", {"sources": 3000, "predecessors": False}),
    ("apsp", {}),
    ("closure", {"semiring": "boolean", "predecessors": False}),
]

#: More calls, each about some graphs and on some machines.
MORE: list[tuple[str, dict[str, Any], tuple[str, ...], tuple[str, ...]]] = [
    ("sssp", {"sources": 1, "limited": True}, ("highways", "highways in metres"), ("laptop",)),
    ("sssp", {"sources": 64, "deterministic": True}, ("highways", "chances"), ("laptop",)),
    ("sssp", {"sources": 1, "dtype": "float64"}, ("highways", "chances"), ("laptop", "one GPU")),
    ("sssp", {"sources": 1, "dtype": "int32"}, ("highways", "chances"), ("laptop",)),
    ("sssp", {"sources": 4, "keep": "device"}, ("highways",), ("one GPU", "four GPUs")),
    ("sssp", {"sources": 3000, "arc_by_arc": True}, ("highways in metres",), ("laptop",)),
    ("sssp", {"sources": 9, "limited": True}, ("profits and losses",), ("laptop",)),
    ("sssp", {"sources": 9, "devices": ("cuda:0", "cuda:3")}, ("highways",), ("four GPUs",)),
    ("sssp", {"sources": 9, "devices": ("cuda:0", "cuda:3")}, ("highways",), ("one GPU",)),
    ("apsp", {"out": True, "predecessors": False}, ("a large matrix", "highways"), ("server",)),
    ("apsp", {"method": "johnson"}, ("a street network",), ("laptop", "server")),
    ("apsp", {"method": "tiled"}, ("a street network", "a dense matrix"), ("laptop", "one GPU")),
    ("apsp", {"method": "prepared"}, ("a street network", "highways"), ("laptop", "server")),
    ("apsp", {"method": "magic"}, ("ten vertices",), ("laptop",)),
    ("apsp", {"device": "abacus"}, ("ten vertices",), ("laptop",)),
    ("apsp", {"device": "cuda"}, ("a dense matrix",), ("laptop", "one GPU", "four GPUs")),
    ("apsp", {"device": "emulated"}, ("ten vertices", "a dense matrix"), ("server",)),
    ("apsp", {"device": "reference"}, ("ten vertices",), ("laptop",)),
    ("apsp", {"threads": 3}, ("a street network", "a dense matrix"), ("laptop", "server")),
    ("apsp", {"block_rows": 512}, ("highways", "a large matrix", "a dense matrix"),
     ("laptop", "server", "one GPU")),
    ("apsp", {"block_rows": 512, "limited": True}, ("highways in metres",), ("laptop",)),
    ("apsp", {"block_rows": 512, "rounds_begun": True}, ("a dense matrix",), ("laptop",)),
    ("apsp", {"block_rows": 512, "by_rows": True}, ("a large matrix",), ("laptop",)),
    ("closure", {"semiring": "max_min"}, ("chances", "profits and losses", "a dense matrix"),
     ("laptop", "one GPU")),
    ("closure", {"semiring": "max_times"}, ("chances", "highways"), ("laptop", "server")),
    ("closure", {"semiring": "min_plus", "sources": 12}, ("highways", "a dense matrix"),
     ("laptop", "one GPU")),
    ("closure", {"semiring": "min_plus", "block_rows": 512}, ("a large matrix",),
     ("laptop", "server", "four GPUs")),
    ("nearest", {"sources": 5}, ("highways", "ten vertices"), ("laptop", "one GPU")),
    ("nearest", {"sources": 400, "limited": True}, ("highways",), ("laptop",)),
    ("within", {"sources": 100, "limited": True}, ("highways", "a social network"),
     ("laptop", "server")),
    ("betweenness", {}, ("a social network", "highways", "ten vertices"),
     ("laptop", "server", "one GPU")),
    ("loads", {"sources": 1000, "trips": 10**6}, ("highways", "a street network"),
     ("laptop", "server")),
    ("loads", {"sources": 1000, "trips": 10**6, "split": True}, ("highways",), ("laptop",)),
    ("weak_components", {"sources": 1}, ("a social network",), ("laptop",)),
    ("spmv", {"sources": 1}, ("chances",), ("laptop",)),
]  # fmt: skip

#: Highways whose arcs are on a GPU.
PLACED = "placed"

#: What is known of highways after each step of preparing them: pairs, triangles, step, customized.
PREPARED: dict[str, tuple[int, int, str, frozenset[tuple[str, str]]]] = {
    "ordered": (2_391_289, 14_300_000, "counted", frozenset()),
    "eliminated": (2_391_289, 14_300_000, "eliminated", frozenset()),
    "prepared": (2_391_289, 14_300_000, "eliminated", frozenset({("min_plus", "int64")})),
    "dense to eliminate": (10**9, 10**12, "counted", frozenset()),
}


def _wanted(graph: str, machine: str, call: tuple[str, dict[str, Any]]) -> bool:
    """Leave out what says the same again: the facts of a graph that a search does not see."""
    hops = call[0] == "bfs"
    return not (hops and graph in ("highways in metres", "a weighted social network", "chances"))


def of_facts() -> Iterator[tuple[str, Callable[[], object]]]:
    """Yield the plans of graphs of which the facts are known."""
    for graph, machine, call in product(GRAPHS, MACHINES, CALLS):
        if _wanted(graph, machine, call):
            yield _row(graph, machine, *call)
    for problem, asked, graphs, machines in MORE:
        for graph, machine in product(graphs, machines):
            yield _row(graph, machine, problem, asked)
    for step, count in product(PREPARED, (1, 16, 100, 3000)):
        for machine in ("laptop", "one GPU"):
            asked = {"sources": count, "predecessors": False}
            yield _row("highways", machine, "sssp", asked, step)
    for graph, machine in product(("highways", "a social network"), ("one GPU", "four GPUs")):
        for call in CALLS[:4]:
            yield _row(graph, machine, *call, PLACED)


def _row(
    graph: str, machine: str, problem: str, asked: dict[str, Any], step: str = ""
) -> tuple[str, Callable[[], object]]:
    said = ", ".join([problem, *(f"{name}={value}" for name, value in asked.items())])
    what = f"{step} {graph}" if step else graph
    return f"{said} | {what} | {machine}", lambda: plan_of(graph, machine, problem, asked, step)


# ---- small graphs -------------------------------------------------------------------------------

_ALL = object()  # every vertex, as a list of them


def small_graphs() -> dict[str, Any]:
    import kleene as kl

    return {
        "grid": kl.generate.grid(30, 30, weights=(1, 9), seed=3),
        "links": kl.generate.rmat(scale=9, edge_factor=8, seed=2),
        "losses": kl.Graph.from_edges([0, 1, 2, 0], [1, 2, 3, 3], [5, -2, 4, 9]),
        "matrix": kl.generate.complete(150, weights=(1, 99), seed=1),
    }


def of_calls() -> Iterator[tuple[str, Callable[[], object]]]:
    """Yield the explanations and plans of calls about small graphs, on the laptop."""
    import kleene as kl

    graphs = small_graphs()
    ready = kl.prepare(graphs["grid"], threads=1)
    explained: list[tuple[str, dict[str, Any]]] = [
        ("bfs", {}),
        ("bfs", {"sources": _ALL, "predecessors": False}),
        ("sssp", {"limit": 4}),
        ("sssp", {"sources": _ALL, "deterministic": True}),
        ("sssp", {"dtype": "float64"}),
        ("apsp", {"method": "tiled"}),
        ("apsp", {"out": "d.npy"}),
        ("apsp", {"out": "d.zarr", "predecessors": False}),
        ("closure", {}),
        ("closure", {"semiring": "max_min", "predecessors": True}),
        ("betweenness", {}),
        ("betweenness", {"hops": True, "threads": 1}),
        ("loads", {"sources": range(4)}),
        ("prepare", {}),
        ("prepare", {"semiring": "max_min", "dtype": "float64", "threads": 1}),
    ]
    about = [(name, g, g.n, problem) for name, g in graphs.items() for problem in explained]
    about += [("prepared grid", ready, ready.graph.n, problem) for problem in explained[2:10]]
    for name, graph, n, (problem, asked) in about:
        options = {key: range(n) if value is _ALL else value for key, value in asked.items()}
        said = ", ".join([repr(problem), *(f"{key}={value!r}" for key, value in options.items())])
        yield (
            f"explain({name}, {said})",
            lambda g=graph, p=problem, o=options: kl.explain(g, p, **o),
        )
    grid, links = graphs["grid"], graphs["links"]
    made: dict[str, Callable[[], Any]] = {
        "sssp(grid, 0)": lambda: kl.sssp(grid, 0),
        "sssp(grid, 0, reverse=True)": lambda: kl.sssp(grid, 0, reverse=True),
        "sssp(grid, pairs=...)": lambda: kl.sssp(grid, pairs=[(0, 5), (7, 5)]),
        "sssp(prepared, pairs=...)": lambda: kl.sssp(ready, pairs=[(0, 5), (7, 5)]),
        "sssp(prepared, 0, limit=9)": lambda: kl.sssp(ready, 0, limit=9),
        "bfs(links, sources=range(99))": lambda: kl.bfs(links, sources=range(99)),
        "prepared.matrix": lambda: ready.matrix([0, 1], [5, 6]),
        "prepared.tree": lambda: ready.tree(3),
        "closure(links, targets=[3])": lambda: kl.closure(links, targets=[3]),
        "nearest(grid, 2 of k=1)": lambda: kl.nearest(grid, [3, 500]),
        "nearest(grid, 4 of k=2)": lambda: kl.nearest(grid, [3, 500, 8, 9], k=2),
        "nearest(prepared, 4 of k=2)": lambda: kl.nearest(ready, [3, 500, 8, 9], k=2),
        "within(grid, 0, 12)": lambda: kl.within(grid, 0, 12),
        "betweenness(links, sources)": lambda: kl.betweenness(links, sources=range(9)),
        "loads(grid)": lambda: kl.loads(grid, [(0, 5), (9, 80)]),
        "reduce_distances(grid)": lambda: kl.reduce_distances(grid, sources=range(9)),
        "path_counts(links, 0)": lambda: kl.path_counts(links, 0),
        "turns(grid).sssp": lambda: kl.TurnGraph(grid, u_turns=1).sssp(0),
    }
    for said, call in made.items():
        yield f"{said}.plan", lambda call=call: call().plan


# ---- the seam -----------------------------------------------------------------------------------


def machine_of(name: str) -> Any:
    """Return a machine of the table, as plans see one."""
    from kleene.system.machine import Machine

    cores, memory, devices, gpus, free = MACHINES[name]
    absent = tuple((d, "it is not there") for d in ("cuda", "emulated") if d not in devices)
    return Machine(cores, memory, "AVX2", devices, absent, free or None, gpus)


def plan_of(graph: str, machine: str, problem: str, asked: dict[str, Any], step: str) -> object:
    """Plan a call by the planner itself, for facts alone."""
    from kleene.planning.ask import ARC_BY_ARC, IN_BATCHES, ROUNDS_BEGUN, Ask
    from kleene.planning.facts import Facts
    from kleene.planning.plan import make_plan
    from kleene.prepared.known import Known

    n, m = GRAPHS[graph][:2]
    facts = Facts(n, m, None, 1, 1, n) if problem == "bfs" else Facts(*GRAPHS[graph])
    if step == PLACED:
        facts = replace(facts, csc=True, device="cuda", placed="cuda")
    elif step:
        facts = replace(facts, prepared=Known(*PREPARED[step]))
    frozen = {"arc_by_arc": ARC_BY_ARC, "by_rows": IN_BATCHES, "rounds_begun": ROUNDS_BEGUN}
    decided = [decision for name, decision in frozen.items() if asked.get(name)]
    fields = {"given" if name == "out" else name: asked[name] for name in asked.keys() - frozen}
    return make_plan(facts, Ask.of(problem, **fields).freeze(*decided), machine_of(machine))


def replace_machine() -> None:
    """Put the laptop in the place of this machine: modules import these functions by name."""
    from kleene.planning import machine as planning
    from kleene.system import machine

    laptop = machine_of("laptop")
    machine.this_machine = planning.this_machine = lambda: laptop  # type: ignore[assignment]
    planning.live_machine = lambda: laptop  # type: ignore[assignment]
    machine.cores = lambda: laptop.cores
    machine.available_memory = machine.total_memory = lambda: laptop.memory  # type: ignore[assignment]


def printed(plan: Callable[[], object]) -> str:
    """Return a plan as it prints, or the refusal."""
    import kleene as kl

    try:
        return str(plan())
    except kl.KleeneError as error:
        return f"{type(error).__name__}: {error}"


def document() -> str:
    """Return the text of the file."""
    blocks = []
    for rows in (of_facts, of_calls):
        blocks += [f"{name}\n{_indented(printed(plan))}" for name, plan in rows()]
    return "\n\n".join(blocks) + "\n"


def _indented(text: str) -> str:
    return "\n".join(f"    {line}" for line in text.splitlines())


if __name__ == "__main__":
    for variable in [name for name in os.environ if name.startswith("KLEENE_")]:
        del os.environ[variable]
    replace_machine()
    text = document()
    if sys.argv[1:] == ["--print"]:
        sys.stdout.write(text)
    else:
        FILE.write_text(text)
        print(f"{FILE}: {text.count(chr(10) * 2) + 1} plans")
