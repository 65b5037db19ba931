"""A saved result is hostile input: load() names the field that is wrong, verify() the vertex."""

from __future__ import annotations

import json
import zipfile
import zlib
from collections.abc import Callable
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from graphs import graph
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import kleene as kl
from kleene import FormatError, VerificationError
from kleene.io.npy import LONGEST_HEADER

INF = np.inf
CHAIN = kl.Graph.from_edges([0, 1, 2, 3], [1, 2, 3, 4], [1.0, 2.0, 3.0, 4.0])
INTEGERS = kl.Graph.from_edges([0, 1, 2, 3], [1, 2, 3, 4], [1, 2, 3, 4])
DETOUR = kl.Graph.from_edges([0, 0, 1], [1, 2, 2], [1.0, 9.0, 1.0])
CHANCES = kl.Graph.from_edges([0, 1, 0], [1, 2, 2], [0.9, 0.8, 0.5])
CANCEL = kl.Graph.from_edges([0, 0, 1, 0], [1, 2, 2, 3], [5.0, 7.0, -1.0, 1e18])
NO_TREE = np.full((1, 5), -1, np.int32)


def edited(
    result: kl.Result,
    folder: Path,
    head: Callable[[dict[str, Any]], Any] = lambda head: None,
    drop: tuple[str, ...] = (),
    **arrays: Any,
) -> kl.Result:
    """Save a result, edit the file, and load it."""
    file = folder / "result.npz"
    result.save(file)
    with np.load(file) as archive:
        contents = dict(archive)
    fields = json.loads(str(contents["head"]))
    head(fields)
    contents["head"] = np.array(json.dumps(fields))
    contents |= arrays
    np.savez(file, **{name: array for name, array in contents.items() if name not in drop})
    return kl.Result.load(file, result.graph)


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
        "horizons hold 3.0, without a limit or targets",
    ),
    "horizon beyond the limit": (
        limited(3), {"horizons": np.array([4.0])}, "horizons hold 4.0, beyond the limit 3",
    ),
    "horizon before the limit": (
        limited(3), ONLY_SOURCE | {"horizons": np.zeros(1)}, "stopped at 0.0, before it had to",
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
        sssp([5.0, -1.0]), {"head": lambda h: h.update(limit=9.0)}, "limit .* not negative",
    ),
    "horizon with negative weights": (
        lambda: kl.sssp(CANCEL, 0, targets=[1]), {"horizons": np.array([5.0])},
        "horizons .* not negative",
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
        {"values": row(1, 0.9, INF)}, "vertex 2 holds inf, which is not from 0 to 1",
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
        lambda: kl.bfs(CHAIN, 0, dtype=float), {"values": row(0, 1, 2, 3, -0.5)}, "not whole",
    ),
    "nearly whole": (
        lambda: kl.bfs(CHAIN, 0, dtype=float), {"values": row(0, 1, 2, 3, 4 + 1e-14)}, "not whole",
    ),
    "no hop count": (
        lambda: kl.bfs(CHAIN, 0), {"values": row(0, 1, 2, 3, -2, dtype=np.int32)}, "no hop count",
    ),
    "infinite hops": (
        lambda: kl.bfs(CHAIN, 0, dtype=float), {"values": row(0, 1, 2, 3, INF)}, "counts exactly",
    ),
    # types
    "integers for floats": (sssp([0.9, 0.9]), typed("int32", 0, 0, 0), "int32 cannot hold float64"),
    "wrapped": (sssp(np.full(4, 2**30)), typed("int32", *WRAPPED), "int32 cannot hold path len"),
    "cut off": (sssp([2**32 + 1] * 2), typed("int32", 0, 1, 2), "int32 cannot hold path lengths"),
    "int8": (sssp([100, 100]), typed("int8", 0, 100, -56), "values are int8"),
    "uint8": (sssp([200, 100]), typed("uint8", 0, 200, 44), "values are uint8"),
    "uint64": (sssp([1, 2]), typed("uint64", 0, 1, 3), "values are uint64"),
    "float16": (sssp([1e6, 1e6]), typed("float16", 0, INF, INF), "values are float16"),
    "float32 overflows": (
        sssp([1e300, 1e300]), typed("float32", 0, INF, INF), "float32 cannot hold path lengths",
    ),
    "bool": (sssp([1, 2]), typed("bool", 0, 1, 1), "values are bool"),
    "complex": (sssp([1.0, 2.0]), typed("complex128", 0, 1, 3), "values are complex128"),
    "strings": (sssp([1.0, 2.0]), typed("<U3", "0", "1", "3"), "values are <U3"),
    "big-endian": (sssp([1.0, 2.0]), typed(">f8", 0, 1, 3), "values are >f8"),
    "numbers for booleans": (
        lambda: kl.closure(CHAIN, sources=[0]), typed("int32", 1, 1, 1, 1, 1), "should be bool",
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
        "single is True, and does not go with 0 rows",
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
    assert len(names) == (13 if table == "plan" else 4)
    if table == "plan":  # files of older versions have no devices
        names.remove("devices")
        old = edited(right, tmp_path, head=lambda head: head["plan"].pop("devices"))
        assert old.plan.devices == ()
    for name in names:
        with pytest.raises(FormatError, match=f"{table} has no field '{name}'"):
            edited(right, tmp_path, head=lambda head, name=name: head[table].pop(name))


def test_right_answers_in_unusual_clothes(tmp_path: Path) -> None:
    """What changes no answer is no reason to refuse."""
    right = kl.sssp(CHAIN, 0, targets=[2])
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


# ---- the archive --------------------------------------------------------------------------------


def test_what_does_not_belong_is_not_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file, right = tmp_path / "result.npz", kl.bfs(CHAIN, 0)
    right.save(file)
    with zipfile.ZipFile(file, "a", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("junk.npy", bytes(1 << 20))
    opened: list[str] = []
    own = zipfile.ZipFile.open

    def open_member(self: Any, member: Any, *rest: Any, **options: Any) -> Any:
        opened.append(member.filename)
        return own(self, member, *rest, **options)

    monkeypatch.setattr(zipfile.ZipFile, "open", open_member)
    assert kl.Result.load(file, CHAIN).distances.tolist() == right.distances.tolist()
    assert "values.npy" in opened
    assert "junk.npy" not in opened


def replaced(file: Path, name: str, data: bytes, **changes: Any) -> None:
    """Write an archive again, with another member of this name."""
    with zipfile.ZipFile(file) as archive:
        members = {name: archive.read(name) for name in archive.namelist()}
    members[name] = data
    with zipfile.ZipFile(file, "w", **({"compression": zipfile.ZIP_DEFLATED} | changes)) as archive:
        for name, data in members.items():
            archive.writestr(name, data)


@pytest.mark.parametrize("name", ["values", "predecessors", "horizons"])
def test_arrays_larger_than_the_sources_allow(name: str, tmp_path: Path) -> None:
    """A small file that unpacks to a large array is refused before that."""
    file = tmp_path / "result.npz"
    kl.sssp(CHAIN, 0, limit=5).save(file)
    replaced(file, f"{name}.npy", bytes(1 << 20))
    assert file.stat().st_size < 10_000
    with pytest.raises(FormatError, match=f"found 1,048,576 bytes of '{name}', too many"):
        kl.Result.load(file, CHAIN)


def test_an_array_one_number_larger_than_the_sources_allow(tmp_path: Path) -> None:
    n = 1000
    right = kl.bfs(kl.Graph.from_edges([0], [1], n=n), 0, dtype=float, predecessors=False)
    most = n + (LONGEST_HEADER - 128) // 8  # NumPy's header has 128 bytes
    with pytest.raises(FormatError, match=r"values have shape"):
        edited(right, tmp_path, values=np.zeros((1, most)))
    with pytest.raises(FormatError, match=r"bytes of 'values', too many"):
        edited(right, tmp_path, values=np.zeros((1, most + 1)))


@pytest.mark.parametrize("shape", [(), (1,)])
def test_a_head_that_is_no_text(shape: tuple[int, ...], tmp_path: Path) -> None:
    for head in (np.array(0x110000, np.uint32).view("U1"), np.array("{}"), np.array(1.5)):
        np.savez(tmp_path / "result.npz", head=head.reshape(shape))
        with pytest.raises(FormatError, match=r"not a result saved by Kleene|not Unicode"):
            kl.Result.load(tmp_path / "result.npz", CHAIN)


def test_arrays_larger_than_memory(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file = tmp_path / "result.npz"
    kl.sssp(CHAIN, 0).save(file)
    replaced(file, "sources.npy", bytes(1 << 26))
    monkeypatch.setattr("kleene.graph.checks.available_memory", lambda: 2**26 - 1)
    with pytest.raises(kl.MemoryBudgetError, match="the file may be damaged or malicious"):
        kl.Result.load(file, CHAIN)


@pytest.mark.parametrize(
    ("head", "message"),
    [
        (b"", "damaged header"),
        (b"\x93NUMPY\1\0", "damaged header"),
        (b"x" * 2**21, "found 2,097,152 bytes of 'head', too many"),
    ],
    ids=["empty", "short", "long"],
)
def test_heads_that_are_damaged(head: bytes, message: str, tmp_path: Path) -> None:
    file = tmp_path / "result.npz"
    kl.sssp(CHAIN, 0).save(file)
    replaced(file, "head.npy", head)
    with pytest.raises(FormatError, match=message):
        kl.Result.load(file, CHAIN)


def test_heads_that_are_none(tmp_path: Path) -> None:
    file = tmp_path / "result.npz"
    texts = ["", "{", "[]", "7", "NaN", "[" * 100_000, '{"format": []}', "9" * 5000]
    for head in (*map(np.array, texts), np.array(7), np.array(["{}"]), np.array(b"{}")):
        np.savez(file, head=head)
        with pytest.raises(FormatError, match="not a result saved by Kleene"):
            kl.Result.load(file, CHAIN)


def test_archives_of_other_kinds(tmp_path: Path) -> None:
    file = tmp_path / "result.npz"
    kl.sssp(CHAIN, 0).save(file)
    with np.load(file) as archive:
        values = archive["values"]
    replaced(file, "note.txt", b"", compression=zipfile.ZIP_LZMA)
    with pytest.raises(FormatError, match="compression that NumPy does not write"):
        kl.Result.load(file, CHAIN)
    for damage in (b"", b"PK\3\4", bytes(values)):
        file.write_bytes(damage)
        with pytest.raises(FormatError, match="damaged archive"):
            kl.Result.load(file, CHAIN)
    with pytest.raises(FormatError, match="found a directory, expected a file"):
        kl.Result.load(tmp_path, CHAIN)
    np.savez(file, head=np.array({"format": "kleene result 1"}), values=values)  # pickled
    with pytest.raises(FormatError, match="found Python objects"):
        kl.Result.load(file, CHAIN)


@settings(max_examples=100, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.data())
def test_damaged_files_raise_errors_of_our_own(tmp_path: Path, data: st.DataObject) -> None:
    """Whatever happens to the bytes, the answer is right or refused."""
    file, right = tmp_path / "result.npz", kl.sssp(CHAIN, 0, limit=8)
    right.save(file)
    content = bytearray(file.read_bytes())
    for _ in range(data.draw(st.integers(1, 3))):
        content[data.draw(st.integers(0, 2**16)) % len(content)] = data.draw(st.integers(0, 255))
    file.write_bytes(content[: len(content) - data.draw(st.integers(0, 40))])
    try:
        loaded = kl.Result.load(file, CHAIN)
        loaded.verify()
    except kl.KleeneError:
        return
    assert loaded.distances.tolist() == right.distances.tolist()


# ---- edits at random ----------------------------------------------------------------------------


def some_graph(data: st.DataObject, kind: str) -> kl.Graph:
    n = data.draw(st.integers(2, 8))
    weights = {
        "int": st.integers(0, 5),
        "float": st.floats(0.01, 10).map(lambda w: round(w, 2)),
        "negative": st.floats(0.01, 3).map(lambda w: round(w, 2)),
        "chances": st.sampled_from([0.1, 0.25, 0.5, 0.9, 1.0]),
    }[kind]
    vertex = st.integers(0, n - 1)
    arcs = data.draw(st.lists(st.tuples(vertex, vertex, weights), min_size=1, max_size=20))
    tails, heads, values = zip(*arcs, strict=True)
    if kind == "negative":  # no cycle is: heights cancel round each
        height = data.draw(st.lists(st.integers(-9, 9), min_size=n, max_size=n))
        values = tuple(w + 0.3 * (height[v] - height[u]) for u, v, w in arcs)
    dtype = np.int32 if kind == "int" else np.float64
    return kl.Graph.from_edges(tails, heads, np.array(values, dtype), n=n)


ANSWERS: dict[str, tuple[str, Callable[..., kl.Result]]] = {
    "bfs": ("int", lambda g, **options: kl.bfs(g, sources=range(g.n), **options)),
    "bfs_float": (
        "int",
        lambda g, **options: kl.bfs(g, sources=range(g.n), dtype=float, **options),
    ),
    "bfs_limit": ("int", lambda g, **options: kl.bfs(g, sources=range(g.n), limit=2, **options)),
    "sssp_int": ("int", lambda g, **options: kl.sssp(g, sources=range(g.n), **options)),
    "sssp_float": ("float", lambda g, **options: kl.sssp(g, sources=range(g.n), **options)),
    "sssp_limit": ("float", lambda g, **o: kl.sssp(g, sources=range(g.n), limit=5.0, **o)),
    "sssp_negative": ("negative", lambda g, **o: kl.sssp(g, sources=range(g.n), **o)),
    "apsp_negative": ("negative", lambda g, **o: kl.apsp(g, method="floyd_warshall", **o)),
    "apsp_float": ("float", lambda g, **options: kl.apsp(g, method="floyd_warshall", **options)),
    "apsp_limit": ("float", lambda g, **o: kl.apsp(g, method="floyd_warshall", limit=5.0, **o)),
    "boolean": ("int", lambda g, **options: kl.closure(g, "boolean", **options)),
    "max_min": ("float", lambda g, **options: kl.closure(g, "max_min", **options)),
    "max_times": ("chances", lambda g, **options: kl.closure(g, "max_times", **options)),
}


@pytest.mark.parametrize("name", ANSWERS)
@given(data=st.data())
def test_any_edit_that_changes_the_answer_is_refused(name: str, data: st.DataObject) -> None:
    kind, solve = ANSWERS[name]
    g = some_graph(data, kind)
    with_tree = data.draw(st.booleans())
    result = solve(g, predecessors=with_tree)
    result.verify()
    values = result._answer.values
    at = data.draw(st.integers(0, g.n - 1)), data.draw(st.integers(0, g.n - 1))
    old = values[at].item()
    numbers: list[Any] = [result.no_path]
    if values.dtype.kind == "b":
        numbers = [not old]
    elif values.dtype.kind == "i":
        ends = np.iinfo(values.dtype)
        numbers += [0, 1, 3, min(old + 1, ends.max), old - 1, ends.min]
    else:
        numbers += [0.0, 1.0, 0.5, old * (1 + 1e-9), old * (1 - 1e-9), np.nan, INF, -INF, -1.0]
    new = data.draw(st.sampled_from(numbers))
    if new == old or abs(new - old) < 1e-12:
        return
    values[at] = new
    tree = result._answer.predecessors
    if tree is not None and data.draw(st.booleans()):
        tree[at] = data.draw(st.integers(-1, g.n - 1))
    with pytest.raises(VerificationError):
        print(result.verify())


@pytest.mark.parametrize("name", ANSWERS)
@given(data=st.data())
def test_any_tree_that_is_none_is_refused(name: str, data: st.DataObject) -> None:
    """Proved predecessors give paths of the right value, without a circle."""
    kind, solve = ANSWERS[name]
    g = some_graph(data, kind)
    result = solve(g, predecessors=True)
    tree, values = result._answer.predecessors, result._answer.values
    assert tree is not None
    for _ in range(data.draw(st.integers(1, 3))):
        at = data.draw(st.integers(0, g.n - 1)), data.draw(st.integers(0, g.n - 1))
        tree[at] = data.draw(st.integers(-2, g.n))
    try:
        result.verify()
    except VerificationError:
        return
    weights = {}
    for u, v, w in zip(
        g.coo.sources.tolist(), g.coo.targets.tolist(), g.weights.tolist(), strict=True
    ):
        weights[u, v] = 1 if result.problem == "bfs" or name == "boolean" else w
    steps = {"boolean": min, "max_min": min, "max_times": lambda a, b: a * b}
    join = steps.get(name, lambda a, b: a + b)
    for source in range(g.n):
        for target in range(g.n):
            path = result.path(source, target)
            assert bool(path) == (values[source, target] != result.no_path)
            value = {"boolean": 1, "max_min": INF, "max_times": 1}.get(name, 0)
            for arc in pairwise(path):
                value = join(value, weights[arc])
            if path:
                wanted = bool(value) if name == "boolean" else value
                assert wanted == pytest.approx(values[source, target], rel=1e-14, abs=1e-14)


def test_a_result_edited_in_memory() -> None:
    r = kl.sssp(CHAIN, 0)
    assert r.reached.all()
    r.distances[4] = INF
    assert r.reached.tolist() == [True] * 4 + [False]
    with pytest.raises(VerificationError, match="vertex 4 is not reached and has predecessor 3"):
        r.verify()
    r = kl.apsp(CHAIN, sources=[0, 0])
    r.distances[1, 4] = 99
    with pytest.raises(VerificationError, match="vertex 4 holds 99"):
        r.verify()
    r = kl.apsp(CHAIN, sources=[0, 1])
    r.sources[1] = 7
    with pytest.raises(VerificationError, match="sources hold 7, which is no vertex"):
        r.verify()
    r = kl.closure(CHANCES, "max_times", sources=[0])
    r.graph = CHAIN
    with pytest.raises(VerificationError, match="values have shape"):
        r.verify()


def test_probabilities_must_be_such() -> None:
    right = kl.closure(CHANCES, "max_times")
    right.graph = CHANCES.reweight(arcs=np.array([0.9, 1.5, 0.8]))
    with pytest.raises(VerificationError, match="weights are no probabilities"):
        right.verify()
    right.graph = CHANCES.reweight(arcs=np.array([0.9, -0.5, 0.8]))
    with pytest.raises(VerificationError, match="weights are no probabilities"):
        right.verify()


def test_floats_that_do_not_count() -> None:
    """Past 2**24 hops, float32 skips numbers."""
    r = kl.bfs(graph("grid"), 0, dtype="float32")
    r.verify()
    r.distances[5] = 2.0**24
    with pytest.raises(VerificationError, match="float32 counts exactly only below"):
        r.verify()


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
