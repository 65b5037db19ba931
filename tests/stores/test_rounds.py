"""Dense closures in rounds through files: the bits of a closure in memory, planned and bounded."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from rounds_samples import MEMORY, N, allow_on_device, graph, same

import kleene as kl
from kleene.backends.common.bands import RoundSplit
from kleene.stores import rounds

SEMIRINGS = [
    ("min_plus", "float32"),
    ("min_plus", "float64"),
    ("min_plus", "int32"),
    ("max_min", "float32"),
    ("max_times", "float64"),
    ("boolean", None),
]


@pytest.fixture
def small(monkeypatch: pytest.MonkeyPatch) -> pytest.MonkeyPatch:
    """Allow calls so little memory that N vertices take rounds of 96."""
    monkeypatch.setenv("KLEENE_MEMORY", MEMORY)
    return monkeypatch


# ---- the answer ---------------------------------------------------------------------------------


@pytest.mark.parametrize("paths", [False, True])
@pytest.mark.parametrize(("semiring", "dtype"), SEMIRINGS)
def test_the_answer_has_the_bits_of_one_in_memory(
    semiring: str, dtype: str | None, paths: bool, tmp_path: Path, small: pytest.MonkeyPatch
) -> None:
    g = graph(dtype)
    small.setenv("KLEENE_MEMORY", "1000K" if dtype == "float64" else "600K")
    if semiring == "boolean" and not paths:  # one bit a pair
        small.setenv("KLEENE_MEMORY", "12K")
    r = kl.closure(
        g, semiring, predecessors=paths, method="tiled", device="cpu", out=tmp_path / "d.npy"
    )
    assert r.plan.rounds is not None
    assert r.plan.rounds.count > 1
    left = {"d.npy", "d.npy.ledger"} | ({"d.predecessors.npy"} if paths else set())
    assert {file.name for file in tmp_path.iterdir()} == left
    small.delenv("KLEENE_MEMORY")
    same(r, kl.closure(g, semiring, predecessors=paths, method="tiled", device="cpu"))
    assert r.verify()


@pytest.mark.parametrize("paths", [False, True])
@pytest.mark.parametrize(("semiring", "dtype"), SEMIRINGS)
def test_rounds_on_a_gpu(
    semiring: str, dtype: str | None, paths: bool, tmp_path: Path, small: pytest.MonkeyPatch
) -> None:
    g = graph(dtype, n=400)
    wide = dtype == "float64" or (paths and semiring != "boolean")
    bits = semiring == "boolean" and not paths
    small.setenv("KLEENE_MEMORY", "18K" if bits else "1200K" if dtype == "float64" else "900K")
    allow_on_device(small, (3 if wide else 2) * 2**20)
    r = kl.closure(
        g, semiring, predecessors=paths, method="tiled", device="emulated", out=tmp_path / "d.npy"
    )
    assert r.plan.rounds is not None
    small.delenv("KLEENE_MEMORY")
    small.delenv("KLEENE_DEVICE_MEMORY")
    right = kl.closure(g, semiring, predecessors=paths, method="tiled", device="emulated")
    np.testing.assert_allclose(np.asarray(r.values), right.values, rtol=1e-5)
    assert r.verify()


def test_rounds_use_one_of_several_devices(tmp_path: Path, small: pytest.MonkeyPatch) -> None:
    g, both = graph(n=400), ("emulated:0", "emulated:1")
    small.setenv("KLEENE_EMULATOR_DEVICES", "2")
    small.setenv("KLEENE_MEMORY", "900K")
    options = {"method": "tiled", "devices": both, "predecessors": False}
    r = kl.closure(g, "min_plus", out=tmp_path / "d.npy", **options)
    assert r.plan.rounds is not None
    assert r.plan.devices == ("emulated:0",)
    assert "one device: rounds through files use one" in str(r.plan)
    small.delenv("KLEENE_MEMORY")
    assert kl.closure(g, "min_plus", **options).plan.devices == both


def test_rounds_take_the_memory_of_searches_that_wait(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    waiting = graph(n=8000).to("emulated")
    kl.bfs(waiting, 0, device="emulated")
    g = graph(n=400)
    monkeypatch.setenv("KLEENE_MEMORY", "900K")
    allow_on_device(monkeypatch, 2**19)
    options = {"method": "tiled", "device": "emulated", "predecessors": False}
    r = kl.apsp(g, out=tmp_path / "d.npy", **options)
    assert r.plan.rounds is not None


@pytest.mark.usefixtures("small")
def test_other_arguments(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    g = graph()
    found = [
        kl.apsp(g, method="tiled", limit=0.4, out=tmp_path / "limited.npy"),
        kl.apsp(g, method="tiled", deterministic=True, out=tmp_path / "chosen.npy"),
        kl.apsp(g, method="tiled", reverse=True, targets=[3, 1], out=tmp_path / "reverse.npy"),
        kl.apsp(g, method="tiled", out=tmp_path / "d.zarr"),
    ]
    assert all(r.plan.rounds is not None for r in found)
    monkeypatch.delenv("KLEENE_MEMORY")
    right = [
        kl.apsp(g, method="tiled", limit=0.4),
        kl.apsp(g, method="tiled", deterministic=True),
        kl.apsp(g, method="tiled", reverse=True, targets=[3, 1]),
        kl.apsp(g, method="tiled"),
    ]
    for r, s in zip(found, right, strict=True):
        np.testing.assert_array_equal(r.distances, s.distances)
        assert r.verify()
    np.testing.assert_array_equal(found[1].predecessors, right[1].predecessors)
    assert found[2].path(3, 5) == right[2].path(3, 5)


@pytest.mark.usefixtures("small")
def test_a_dense_graph(tmp_path: Path) -> None:
    matrix = np.random.default_rng(0).random((N, N)).astype(np.float32)
    g = kl.Graph.from_dense(matrix)
    r = kl.apsp(g, predecessors=False, out=tmp_path / "d.npy")
    assert (r.plan.method, r.plan.rounds is None) == ("tiled", False)
    assert "neighbors" not in g.__dict__  # its arcs would take twice its memory
    np.testing.assert_allclose(r.distances[7], kl.sssp(g, 7, threads=1).distances, rtol=1e-5)


# ---- the plan -----------------------------------------------------------------------------------


def test_explain_says_how_many_rounds_and_what_they_move(small: pytest.MonkeyPatch) -> None:
    plan = kl.explain(graph(), "apsp", method="tiled", device="cpu", out="d.npy")
    assert plan.rounds is not None
    assert plan.memory <= 600 * 1024
    matrix = N * N * 8  # with predecessors
    assert plan.rounds.count == 4
    assert plan.rounds.moved == 2 * 4 * matrix + matrix
    assert plan.rounds.disk == 2 * matrix
    text = str(plan)
    assert "rounds   4 of 96 vertices in about 1 s" in text
    assert "rounds: the matrix takes" in text
    assert kl.explain(graph(), "apsp", method="tiled", out="d.npy", device="cpu") == plan
    small.setenv("KLEENE_MEMORY", "100M")
    assert kl.explain(graph(), "apsp", method="tiled", out="d.npy").rounds is None


def test_long_closures_go_in_rounds_even_where_they_fit() -> None:
    from kleene.planning.ask import Ask
    from kleene.planning.facts import Facts
    from kleene.planning.plan import make_plan
    from kleene.system.machine import Machine

    n = 60_000
    facts = Facts(n, n * n // 2, "float32", 0.0, 1.0, float(n))
    machine = Machine(2, 2**40, "avx2")
    ask = Ask.of("apsp", predecessors=False, block_rows=64, given=True)
    plan = make_plan(facts, ask, machine)
    assert plan.rounds is not None
    assert plan.rounds.count >= 4
    assert any("takes long" in reason for reason in plan.reasons)
    assert make_plan(facts, ask.but(block_rows=0), machine).rounds is None
    assert make_plan(facts, ask.but(sources=5), machine).rounds is None


def test_a_split_fits_into_the_memory_that_it_was_made_for() -> None:
    for n in (1, 95, 96, 97, 5000, 10**6):
        for row in (1, n // 8 + 1, 4 * n, 12 * n):
            for memory in (300 * row, 1000 * row, 10**9):
                split = RoundSplit.fit(n, row, memory)
                assert 1 <= split.band <= n
                assert split.vertices % 96 == 0 < split.vertices <= split.most
                assert split.memory(row) <= max(memory, RoundSplit(96, 1, 96).memory(row))


def test_too_little_memory_for_any_rounds(small: pytest.MonkeyPatch, tmp_path: Path) -> None:
    small.setenv("KLEENE_MEMORY", "100K")
    with pytest.raises(kl.MemoryBudgetError, match=r"100.0 KiB are available"):
        kl.apsp(graph(), method="tiled", out=tmp_path / "d.npy")
    assert list(tmp_path.iterdir()) == []
    small.setenv("KLEENE_MEMORY", "much")
    with pytest.raises(kl.RequestError, match="KLEENE_MEMORY is 'much'"):
        kl.apsp(graph(), method="tiled")


#: Prints by how many bytes the memory grew during a closure of 23 MB.
GROWTH = """
import sys
from pathlib import Path
import numpy as np
import kleene as kl
from memory_peaks import peak

n = 2400
rng = np.random.default_rng(0)
g = kl.Graph.from_edges(*rng.integers(0, n, (2, 4 * n)), rng.random(4 * n).astype("f4"), n=n)
options = {"method": "tiled", "device": "cpu", "predecessors": False, "threads": 2}
kl.apsp(g, sources=range(3), **{**options, "method": "batched"})  # imports, arcs in other forms
grown = peak(lambda: kl.apsp(g, out=Path(sys.argv[1], "d.npy"), **options))
plan = kl.explain(g, "apsp", out="other.npy", **options)
print(grown, plan.memory, plan.rounds.count)
"""


@pytest.mark.skipif(sys.platform != "linux", reason="measures by /proc")
def test_the_memory_stays_within_what_is_allowed(tmp_path: Path) -> None:
    made = subprocess.run(
        [sys.executable, "-c", GROWTH, str(tmp_path)],
        env=os.environ
        | {"KLEENE_MEMORY": "10M", "MALLOC_MMAP_THRESHOLD_": "65536", "MALLOC_ARENA_MAX": "2"},
        cwd=Path(__file__).parents[1] / "support", capture_output=True, text=True, timeout=600,
    )  # fmt: skip
    assert made.returncode == 0, made.stderr
    grown, planned, count = map(int, made.stdout.split())
    assert count > 2
    assert planned <= 10 * 2**20
    assert grown <= planned + 3 * 2**20  # stacks of threads, and what they keep


@pytest.mark.usefixtures("small")
def test_names_that_cannot_be_written_to_are_refused_first(tmp_path: Path) -> None:
    with pytest.raises(kl.RequestError, match="there is no directory"):
        kl.apsp(graph(), method="tiled", out=tmp_path / "nowhere" / "d.npy")
    (tmp_path / "d.zarr").mkdir()
    with pytest.raises(kl.StoreError, match="no ledger beside it"):
        kl.apsp(graph(), method="tiled", out=tmp_path / "d.zarr")
    assert [file.name for file in tmp_path.rglob("*")] == ["d.zarr"]
    (tmp_path / "link.npy").symlink_to(tmp_path / "own.npy")
    r = kl.apsp(graph(), method="tiled", out=tmp_path / "link.npy")
    assert r.plan.rounds is not None
    assert (tmp_path / "own.npy").is_file()
    assert (tmp_path / "link.npy").is_symlink()


# ---- negative cycles ----------------------------------------------------------------------------


@pytest.mark.usefixtures("small")
def test_a_negative_cycle_is_found_and_leaves_nothing(tmp_path: Path) -> None:
    g = graph()
    tails, heads, weights = g.coo
    ring = np.arange(280, 285)  # in the last round
    ends = np.append(tails, ring), np.append(heads, np.roll(ring, -1))
    bad = kl.Graph.from_edges(*ends, np.append(weights, np.full(5, -9.0)).astype("f4"), n=N)
    with pytest.raises(kl.NegativeCycleError) as info:
        kl.apsp(bad, method="tiled", out=tmp_path / "d.npy")
    assert info.value.cycle
    assert list(tmp_path.iterdir()) == []


def test_cycles_that_are_negative_by_rounding_are_searched(
    tmp_path: Path, small: pytest.MonkeyPatch
) -> None:
    rng = np.random.default_rng(3)
    heights = rng.random(N).astype("f4") * 1000
    tails, heads = rng.integers(0, N, (2, 20 * N))
    lengths = (heights[heads] - heights[tails]).astype("f4")
    g = kl.Graph.from_edges(tails, heads, lengths, n=N)
    searched: list[int] = []
    johnson = rounds.johnson
    small.setattr(rounds, "johnson", lambda own: searched.append(len(own.sources)) or johnson(own))
    r = kl.apsp(g, method="tiled", device="cpu", out=tmp_path / "d.npy")
    assert sum(searched) == N
    small.delenv("KLEENE_MEMORY")
    right = kl.apsp(g, method="tiled", device="cpu")
    np.testing.assert_allclose(r.distances, right.distances, rtol=1e-3, atol=1e-2)
    assert r.verify()
