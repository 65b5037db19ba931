"""A saved result is hostile input: load() names the field that is wrong, verify() the vertex."""

from __future__ import annotations

import zlib
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from edited_results import CHAIN, edited

import kleene as kl
from kleene import FormatError, VerificationError

INF = np.inf
INTEGERS = kl.Graph.from_edges([0, 1, 2, 3], [1, 2, 3, 4], [1, 2, 3, 4])
DETOUR = kl.Graph.from_edges([0, 0, 1], [1, 2, 2], [1.0, 9.0, 1.0])
CHANCES = kl.Graph.from_edges([0, 1, 0], [1, 2, 2], [0.9, 0.8, 0.5])
CANCEL = kl.Graph.from_edges([0, 0, 1, 0], [1, 2, 2, 3], [5.0, 7.0, -1.0, 1e18])
NO_TREE = np.full((1, 5), -1, np.int32)


def plan(**changes: Any) -> Callable[[dict[str, Any]], None]:
    return lambda head: head["plan"].update(changes)


def row(*values: Any, dtype: Any = None) -> np.ndarray:
    return np.array([values], dtype=dtype)


def typed(dtype: str, *values: Any) -> dict[str, Any]:
    """An answer in another type, said to be complete."""
    changes = {"head": plan(dtype=dtype), "drop": ("horizons",)}
    return changes | {"values": np.array([values], dtype=dtype)}


def sssp(weights: Any, **options: Any) -> Callable[[], kl.Result]:
    """Shortest paths along a chain of these weights."""
    n = len(weights)
    return lambda: kl.sssp(kl.Graph.from_edges(range(n), range(1, n + 1), weights), 0, **options)


def limited(limit: float, g: kl.Graph = CHAIN) -> Callable[[], kl.Result]:
    return lambda: kl.sssp(g, 0, limit=limit)


ONLY_SOURCE = {"values": row(0, INF, INF, INF, INF), "predecessors": NO_TREE}
WRAPPED = [0, 2**30, -(2**31), -(2**30), 0]

#: What is edited, how, and what the error says.
EDITS: dict[str, tuple[Callable[[], kl.Result], dict[str, Any], str]] = {
    # horizons and limits
    "NaN horizon": (
        limited(50), ONLY_SOURCE | {"horizons": np.array([np.nan])}, "horizons hold nan",
    ),
    "NaN limit": (
        limited(50),
        ONLY_SOURCE | {"head": lambda h: h.update(limit=np.nan), "horizons": np.zeros(1)},
        "limit is nan",
    ),
    "NaN horizon over a worse value": (
        limited(50, DETOUR),
        {
            "values": row(0, 1.0, 9.0),
            "predecessors": row(-1, 0, 0, dtype=np.int32),
            "horizons": np.array([np.nan]),
        },
        "horizons hold nan",
    ),
    "float horizon of integers": (
        limited(50, INTEGERS), {"horizons": np.array([50.0])}, "horizons are float64",
    ),
    "negative horizon": (limited(50), {"horizons": np.array([-1.0])}, "horizons hold -1"),
    "two horizons": (limited(50), {"horizons": np.zeros(2)}, r"horizons are .* of shape \(2,\)"),
    "horizon without a reason": (
        sssp([1.0, 2.0], predecessors=False), {"horizons": np.array([3.0])},
        "horizons hold 3.0, but there is no limit and no targets",
    ),
    "horizon beyond the limit": (
        limited(3), {"horizons": np.array([4.0])}, "horizons hold 4.0, beyond the limit 3",
    ),
    "horizon before the limit": (
        limited(3), ONLY_SOURCE | {"horizons": np.zeros(1)}, "stopped at 0.0, too early",
    ),
    "value beyond the limit": (
        sssp([1.0, 2.0]), {"head": lambda h: h.update(limit=2)}, "vertex 2 holds 3.0, beyond the",
    ),
    "limit of another kind": (limited(3), {"head": lambda h: h.update(limit="7")}, "limit is '7'"),
    "limit in a list": (limited(3), {"head": lambda h: h.update(limit=[3])}, r"limit is \[3\]"),
    "limit true": (limited(3), {"head": lambda h: h.update(limit=True)}, "limit is True"),
    "infinite limit": (limited(3), {"head": lambda h: h.update(limit=INF)}, "limit is inf"),
    "huge limit": (limited(3), {"head": lambda h: h.update(limit=10**400)}, "limit is 1000"),
    "negative limit": (limited(3), {"head": lambda h: h.update(limit=-5)}, "limit is -5"),
    "fractional limit of integers": (
        limited(3, INTEGERS), {"head": lambda h: h.update(limit=3.5)}, "limit is 3.5",
    ),
    "limit of a closure": (
        lambda: kl.closure(CHAIN, "min_plus"), {"head": lambda h: h.update(limit=3)}, "limit is 3",
    ),
    "limit with negative weights": (
        sssp([5.0, -1.0]), {"head": lambda h: h.update(limit=9.0)}, "limit .* non-negative",
    ),
    "horizon with negative weights": (
        lambda: kl.sssp(CANCEL, 0), {"horizons": np.array([5.0]), "targets": np.array([1])},
        "horizons .* non-negative",
    ),
    # values
    "-inf": (sssp([1.0, 2.0]), {"values": row(0, 1, -INF)}, "vertex 2 holds -inf, too much"),
    "-inf without predecessors": (
        sssp([1.0, 2.0]), {"values": row(0, 1, -INF), "drop": ("predecessors",)}, "holds -inf",
    ),
    "NaN": (
        sssp([1.0, 2.0]), {"values": row(0, 1, np.nan)}, "vertex 2 holds nan, which is not a num",
    ),
    "NaN wide": (
        lambda: kl.closure(CHANCES, "max_min", sources=[0], predecessors=True),
        {"values": row(INF, 0.9, np.nan)}, "vertex 2 holds nan, which is not a number",
    ),
    "certain plus": (
        lambda: kl.closure(CHANCES, "max_times", sources=[0], predecessors=True),
        {"values": row(1, 0.9, INF)}, "vertex 2 holds inf, which is not between 0 and 1",
    ),
    "more than certain": (
        lambda: kl.closure(CHANCES, "max_times", sources=[0], predecessors=True),
        {"values": row(1, 0.9, 1 + 2**-52)}, "vertex 2 holds 1.0000000000000002, which is not",
    ),
    "less than impossible": (
        lambda: kl.closure(CHANCES, "max_times", sources=[1], predecessors=True),
        {"values": row(-1e-320, 1, 0.8)}, "vertex 0 holds -1e-320, which is not",
    ),
    "infinitely wide": (
        lambda: kl.closure(CHANCES, "max_min", sources=[0], predecessors=True),
        {"values": row(INF, 0.9, INF)}, "vertex 2 holds inf",
    ),
    "all lost": (sssp([1.0, 2.0]), {"values": row(0, INF, INF)}, "vertex 1 is not reached"),
    "all lost, tree too": (
        lambda: kl.sssp(CHAIN, 0), ONLY_SOURCE, "vertex 1 holds inf, but the arc 0 -> 1",
    ),
    "nearly the largest": (
        sssp([1, 2], dtype="int64"), {"values": row(0, 1, 2**63 - 2)}, "vertex 2 .* too much",
    ),
    "the smallest": (
        sssp([1, 2], dtype="int64"), {"values": row(0, 1, -(2**63))}, "vertex 2 .* too much",
    ),
    "subnormals lost": (
        sssp([1.5e-323, 1.5e-323]), {"values": row(0, 0.0, 0.0)}, "vertex 1 holds 0.0",
    ),
    "hidden by a huge weight": (
        lambda: kl.sssp(CANCEL, 0), {"values": row(0, 900.0, 4.0, 1e18)}, "vertex 1 holds 900",
    ),
    "hidden by a huge weight, both": (
        lambda: kl.sssp(CANCEL, 0), {"values": row(0, -900.0, 777.0, 1e18)}, "vertex 1 holds -900",
    ),
    # hop counts
    "half a hop less": (
        lambda: kl.bfs(CHAIN, 0, dtype=float), {"values": row(0, 1, 2, 3, -0.5)}, "not an integer",
    ),
    "nearly whole": (
        lambda: kl.bfs(CHAIN, 0, dtype=float), {"values": row(0, 1, 2, 3, 4 + 1e-14)},
        "not an integer",
    ),
    "not a hop count": (
        lambda: kl.bfs(CHAIN, 0), {"values": row(0, 1, 2, 3, -2, dtype=np.int32)},
        "not a hop count",
    ),
    "infinite hops": (
        lambda: kl.bfs(CHAIN, 0, dtype=float), {"values": row(0, 1, 2, 3, INF)}, "counts exactly",
    ),
    # types
    "integers for floats": (sssp([0.9, 0.9]), typed("int32", 0, 0, 0), "int32 cannot hold float64"),
    "wrapped": (sssp(np.full(4, 2**30)), typed("int32", *WRAPPED), "int32 is too narrow: path"),
    "cut off": (sssp([2**32 + 1] * 2), typed("int32", 0, 1, 2), "int32 is too narrow: path values"),
    "int8": (sssp([100, 100]), typed("int8", 0, 100, -56), "values are int8"),
    "uint8": (sssp([200, 100]), typed("uint8", 0, 200, 44), "values are uint8"),
    "uint64": (sssp([1, 2]), typed("uint64", 0, 1, 3), "values are uint64"),
    "float16": (sssp([1e6, 1e6]), typed("float16", 0, INF, INF), "values are float16"),
    "float32 overflows": (
        sssp([1e300, 1e300]), typed("float32", 0, INF, INF), "float32 is too narrow: path",
    ),
    "bool": (sssp([1, 2]), typed("bool", 0, 1, 1), "values are bool"),
    "complex": (sssp([1.0, 2.0]), typed("complex128", 0, 1, 3), "values are complex128"),
    "strings": (sssp([1.0, 2.0]), typed("<U3", "0", "1", "3"), "values are <U3"),
    "big-endian": (sssp([1.0, 2.0]), typed(">f8", 0, 1, 3), "values are >f8"),
    "numbers for booleans": (
        lambda: kl.closure(CHAIN, sources=[0]), typed("int32", 1, 1, 1, 1, 1), "expected bool",
    ),
    "another type than planned": (
        sssp([1.0, 2.0]), {"values": row(0, 1, 3, dtype=np.float32)}, "plan.dtype is 'float64'",
    ),
    "products of integers": (
        lambda: kl.closure(CHANCES, "max_times", sources=[0]), typed("int32", 1, 0, 0),
        "int32 cannot hold float64",
    ),
    # names
    "unknown problem": (sssp([1.0]), {"head": plan(problem="routes")}, "plan.problem is 'routes'"),
    "problem of no path": (sssp([1.0]), {"head": plan(problem="spmv")}, "plan.problem is 'spmv'"),
    "another problem": (sssp([1.0]), {"head": plan(problem="bfs")}, "plan.method is 'dijkstra'"),
    "unknown method": (sssp([1.0]), {"head": plan(method="magic")}, "plan.method is 'magic'"),
    "unknown device": (sssp([1.0]), {"head": plan(device="tpu")}, "on 'tpu'"),
    "unknown semiring": (sssp([1.0]), {"head": plan(semiring="best")}, "plan.semiring is 'best'"),
    "another semiring": (
        sssp([200.0, 100.0]),
        {"head": plan(semiring="max_min"), "values": row(INF, 200.0, 100.0)},
        "plan.semiring is 'max_min'",
    ),
    "no name": (sssp([1.0]), {"head": plan(problem=["sssp"])}, r"plan.problem is \['sssp'\]"),
    "single of many": (
        lambda: kl.apsp(CHAIN), {"head": lambda h: h.update(single=True)}, "single is True",
    ),
    "single of none": (
        sssp([1.0]),
        {
            "sources": np.empty(0, np.int32),
            "values": np.empty((0, 2)),
            "predecessors": np.empty((0, 2), np.int32),
        },
        "single is True, but there are 0 rows",
    ),
    "single is a number": (sssp([1.0]), {"head": lambda h: h.update(single=1)}, "single is 1"),
    # numbers of the plan
    "no threads": (sssp([1.0]), {"head": plan(threads=0)}, "plan.threads is 0"),
    "threads by name": (sssp([1.0]), {"head": plan(threads="all")}, "plan.threads is 'all'"),
    "memory true": (sssp([1.0]), {"head": plan(memory=True)}, "plan.memory is True"),
    "memory missing": (sssp([1.0]), {"head": plan(memory=None)}, "plan.memory is None"),
    "memory without end": (sssp([1.0]), {"head": plan(memory=2**63)}, "plan.memory is 92"),
    "negative memory": (sssp([1.0]), {"head": plan(device_memory=-1)}, "plan.device_memory is -1"),
    "fractional bytes": (sssp([1.0]), {"head": plan(available=1.5)}, "plan.available is 1.5"),
    "streams": (sssp([1.0]), {"head": plan(streams="no")}, "plan.streams is 'no'"),
    "devices": (sssp([1.0]), {"head": plan(devices="cuda:0")}, "plan.devices should be a list"),
    "a device": (sssp([1.0]), {"head": plan(devices=[1])}, "plan.devices should be a list"),
    "reasons": (sssp([1.0]), {"head": plan(reasons="why")}, "plan.reasons"),
    "reasons that are none": (sssp([1.0]), {"head": plan(reasons=[1])}, "plan.reasons"),
    "reasons of which one is none": (
        sssp([1.0]), {"head": plan(reasons=["fast", 1])}, "plan.reasons",
    ),
    "escapes": (sssp([1.0]), {"head": plan(reasons=["\x1b[2J"])}, "plan.reasons"),
    "no seconds": (
        sssp([1.0]), {"head": lambda h: h["stats"].update(total="1")}, "stats.total is '1'",
    ),
    "NaN seconds": (
        sssp([1.0]), {"head": lambda h: h["stats"].update(compute=np.nan)}, "stats.compute is nan",
    ),
    "negative seconds": (
        sssp([1.0]), {"head": lambda h: h["stats"].update(copy_in=-1.0)}, "stats.copy_in is -1",
    ),
    # arrays
    "another source": (sssp([1.0, 2.0]), {"sources": np.array([1])}, "from source 1: the source"),
    "no vertex as source": (sssp([1.0]), {"sources": np.array([2])}, "sources hold 2"),
    "negative source": (sssp([1.0]), {"sources": np.array([-1])}, "sources hold -1"),
    "fractional source": (sssp([1.0]), {"sources": np.array([0.0])}, "sources are float64"),
    "one number as sources": (sssp([1.0]), {"sources": np.array(0)}, r"sources .* shape \(\)"),
    "a table of sources": (sssp([1.0]), {"sources": np.array([[0]])}, r"sources .* shape \(1, 1\)"),
    "no vertex as target": (sssp([1.0]), {"targets": np.array([2])}, "targets hold 2"),
    "negative target": (sssp([1.0]), {"targets": np.array([-1])}, "targets hold -1"),
    "short targets": (sssp([1.0]), {"targets": np.array([0], np.int16)}, "targets are int16"),
    "flat values": (sssp([1.0]), {"values": np.array([0, 1.0])}, r"values have shape \(2,\)"),
    "a value too few": (sssp([1.0]), {"values": row(0.0)}, r"values have shape \(1, 1\)"),
    "predecessors too few": (
        sssp([1.0]), {"predecessors": row(-1, dtype=np.int32)}, r"predecessors have shape \(1, 1\)",
    ),
    "predecessor beyond": (
        sssp([1.0]), {"predecessors": row(-1, 2, dtype=np.int32)}, "predecessors run from -1 to 2",
    ),
    "predecessor below": (
        sssp([1.0]), {"predecessors": row(-2, 0, dtype=np.int32)}, "predecessors run from -2 to 0",
    ),
    "predecessors int8": (
        sssp([1.0]), {"predecessors": row(-1, 0, dtype=np.int8)}, "predecessors are int8",
    ),
    "predecessors float": (
        sssp([1.0]), {"predecessors": row(-1.0, 0.0)}, "predecessors are float64",
    ),
    "no such arc": (
        lambda: kl.sssp(CHAIN, 0), {"predecessors": row(-1, 0, 1, 2, 0, dtype=np.int32)},
        "the predecessor of vertex 4 is 0, but there is no such arc",
    ),
    "predecessor of the source": (
        sssp([1.0, 2.0]), {"predecessors": row(1, 0, 1, dtype=np.int32)},
        "vertex 0 is reached and has predecessor 1",
    ),
    "sources are missing": (sssp([1.0]), {"drop": ("sources",)}, "sources are missing"),
    "values are missing": (sssp([1.0]), {"drop": ("values",)}, "values are missing"),
    "head is missing": (sssp([1.0]), {"drop": ("head",)}, "not a result saved by Kleene"),
    "head is a list": (sssp([1.0]), {"head": lambda h: h.clear()}, "not a result saved by Kleene"),
    "another format": (
        sssp([1.0]), {"head": lambda h: h.update(format="kleene result 9")}, "not a result saved",
    ),
    "another graph": (
        sssp([1.0]), {"head": lambda h: h.update(graph=[2, 1, 0])}, "belongs to another graph",
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", EDITS)
def test_edited_results_are_refused(name: str, tmp_path: Path) -> None:
    make, changes, message = EDITS[name]
    right = make()
    right.verify()
    edited(right, tmp_path).verify()
    with pytest.raises((FormatError, VerificationError), match=message):
        print(edited(right, tmp_path, **changes).verify())


@pytest.mark.parametrize("field", ["graph", "plan", "stats", "limit", "single"])
def test_a_head_without_a_field(field: str, tmp_path: Path) -> None:
    with pytest.raises(FormatError, match=f"head has no field '{field}'"):
        edited(kl.bfs(CHAIN, 0), tmp_path, head=lambda head: head.pop(field))
    if field in ("plan", "stats"):
        with pytest.raises(FormatError, match=f"{field} has no field"):
            edited(kl.bfs(CHAIN, 0), tmp_path, head=lambda head: head.update({field: [1]}))


@pytest.mark.parametrize("table", ["plan", "stats"])
def test_a_plan_without_a_field(table: str, tmp_path: Path) -> None:
    right = kl.bfs(CHAIN, 0)
    names: list[str] = []
    edited(right, tmp_path, head=lambda head: names.extend(head[table]))
    assert len(names) == (14 if table == "plan" else 4)
    if table == "plan":  # files of older versions have neither
        for name, default in (("devices", ()), ("form", "arcs")):
            names.remove(name)
            old = edited(right, tmp_path, head=lambda head, name=name: head["plan"].pop(name))
            assert getattr(old.plan, name) == default
    for name in names:
        with pytest.raises(FormatError, match=f"{table} has no field '{name}'"):
            edited(right, tmp_path, head=lambda head, name=name: head[table].pop(name))


def test_right_answers_in_unusual_clothes(tmp_path: Path) -> None:
    """What changes no answer is no reason to refuse."""
    right = kl.sssp(CHAIN, 0)
    none = edited(
        right, tmp_path, **ONLY_SOURCE, targets=np.empty(0, np.int64), horizons=np.zeros(1)
    )
    assert str(none.verify()).startswith("proved: 1 source")
    wide = edited(right, tmp_path, sources=np.zeros(1, np.int64), extra=np.zeros(3))
    assert wide.verify().tolerance == "exact in float64"
    columns = edited(kl.apsp(CHAIN), tmp_path, values=np.asfortranarray(kl.apsp(CHAIN).distances))
    assert columns.verify().rows == 5
    assert columns.distances.flags.writeable
    assert isinstance(columns.plan.reasons, tuple)
    assert kl.apsp(CHAIN, sources=[]).verify().rows == 0


@pytest.mark.parametrize("name", ["flat values", "int8", "no vertex as source", "NaN horizon"])
def test_load_itself_refuses_what_no_call_returns(name: str, tmp_path: Path) -> None:
    make, changes, message = EDITS[name]
    with pytest.raises(FormatError, match=message):
        edited(make(), tmp_path, **changes)


def test_the_least_numbers_of_a_plan(tmp_path: Path) -> None:
    least = {"threads": 1, "memory": 0, "available": 0, "device_memory": 0}
    loaded = edited(kl.bfs(CHAIN, 0), tmp_path, head=plan(**least))
    assert {name: getattr(loaded.plan, name) for name in least} == least


def test_a_graph_is_known_by_the_checksum_of_its_arrays(tmp_path: Path) -> None:
    """Part of the format: files of earlier versions must still be known."""
    heads: list[Any] = []
    edited(kl.bfs(CHAIN, 0), tmp_path, head=heads.append)
    offsets, neighbors, weights = CHAIN.csr
    assert weights is not None
    data = offsets.tobytes() + neighbors.tobytes() + weights.tobytes()
    assert heads[0]["graph"] == [5, 4, zlib.crc32(data)]


def test_an_older_file_has_paths_from_its_sources(tmp_path: Path) -> None:
    right = kl.sssp(CHAIN, 0)
    read = edited(right, tmp_path, head=lambda head: head.pop("reverse"))
    assert not read.reverse
    assert read.path(2) == right.path(2)


def test_pairs_are_of_no_closure(tmp_path: Path) -> None:
    pairs = kl.sssp(CHAIN, pairs=[(0, 2), (1, 2)])
    closed = kl.closure(CHAIN, "min_plus").plan
    with pytest.raises(FormatError, match="'closure', which takes no pairs"):
        edited(pairs, tmp_path, head=plan(problem="closure", method=closed.method))
