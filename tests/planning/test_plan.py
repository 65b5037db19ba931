"""The planner: which method and type, why, how much memory, and what is refused."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from types import MappingProxyType
from typing import Any

import numpy as np
import pytest
from graphs import graph
from hypothesis import given
from hypothesis import strategies as st

import kleene as kl
from kleene.errors import DeviceError, GraphError, MemoryBudgetError, RequestError
from kleene.planning import plan as planning
from kleene.planning.ask import Ask
from kleene.planning.cost_model import gpu_cost
from kleene.planning.facts import Facts
from kleene.planning.plan import make_plan
from kleene.planning.prepared_cost import cpu_seconds, gpu_seconds
from kleene.planning.rules import RULES, choose_method
from kleene.prepared.known import Known
from kleene.registry import DEVICES, PROBLEMS, find, methods
from kleene.system.machine import Machine

SMALL = Facts(100, 500, "int32", 1, 9, 900)
BOX = Machine(cores=2, memory=2**30, simd="AVX2", devices=("reference",))


def plan(problem: str = "sssp", facts: Facts = SMALL, box: Machine = BOX, **ask: Any) -> Any:
    return make_plan(facts, Ask.of(problem, **ask), box)


def test_auto_picks_by_the_facts() -> None:
    assert plan("sssp").method == "dijkstra"
    assert plan("sssp", replace(SMALL, min_weight=-1)).method == "bellman_ford"
    assert plan("apsp").method == "floyd_warshall"
    assert plan("apsp", replace(SMALL, n=5000)).method == "johnson"
    assert plan("apsp", sources=3).method == "johnson"
    assert plan("bfs").reasons[1] == "queue: looks at each arc once"


def test_tiles_where_a_matrix_pays_and_in_the_memory_of_the_answer() -> None:
    box = replace(BOX, devices=("cpu", "reference"), memory=None)
    dense = replace(SMALL, n=2000, m=400_000)
    whole = plan("apsp", dense, box)
    assert whole.method == plan("closure", dense, box).method == "tiled"
    assert "matrix" in whole.reasons[1]
    answer = 8 * dense.n**2  # int32 lengths and predecessors
    assert answer < whole.memory < 1.25 * answer
    assert plan("apsp", dense, box, sources=1000, method="tiled").memory > 1.5 * answer
    bits = plan("closure", dense, box, semiring="boolean", predecessors=False)
    assert bits.memory < 1.2 * dense.n**2


@pytest.mark.parametrize(
    ("problem", "method"),
    [
        ("betweenness", "lanes"), ("betweenness", "dijkstra"), ("betweenness", "sampled"),
        ("loads", "searches"), ("loads", "prepared"), ("within", "bounded_dijkstra"),
        ("apsp", "prepared"),
    ],
)  # fmt: skip
def test_memory_is_that_of_the_threads(problem: str, method: str) -> None:
    wide = Machine(cores=64, memory=None, simd="AVX2", devices=("cpu", "reference"))
    facts = Facts(10_000, 200_000, "int32", 1, 9, 90_000)
    ask = {"method": method, "sources": 1000, "predecessors": True}
    memory = [plan(problem, facts, wide, threads=t, **ask).memory for t in (1, 8, None)]
    assert memory[0] < memory[1] < memory[2]
    per_thread = (memory[1] - memory[0]) // 7
    assert memory[2] - memory[0] == 63 * per_thread


GPU_BOX = Machine(cores=16, memory=None, simd="AVX-512", devices=("cuda", "cpu", "reference"))


@pytest.mark.parametrize(
    ("problem", "n", "m", "cores", "device"),
    [
        ("apsp", 16384, 16384**2 // 4, 16, "cuda"),
        ("apsp", 16384, 16384**2 // 4, 2, "cuda"),
        ("apsp", 4096, 4096**2 // 4, 2, "cuda"),
        ("apsp", 4096, 4096**2 // 4, 16, "cpu"),  # opening the GPU takes longer
        ("apsp", 1000, 10**6, 2, "cpu"),
        ("apsp", 3353, 8859, 16, "cpu"),  # Rome
        ("apsp", 44_000, 1_000_000, 16, "cuda"),  # sparse: searches on both
        ("closure", 16384, 8 * 16384, 16, "cuda"),  # always a matrix
        ("closure", 16384, 3 * 16384, 16, "cpu"),  # unless elimination may pay
        ("closure", 1000, 4000, 16, "cpu"),
        ("bfs", 2**20, 31 * 10**6, 2, "cpu"),  # one search is not worth opening the GPU
        ("bfs", 2**24, 521 * 10**6, 2, "cpu"),
        ("sssp", 2**20, 31 * 10**6, 16, "cpu"),
        ("sssp", 560_000, 1_640_000, 2, "cpu"),
    ],
)
def test_auto_takes_the_gpu_where_it_is_clearly_faster(
    problem: str, n: int, m: int, cores: int, device: str
) -> None:
    facts = Facts(n, m, "float32", 1, 9, 9 * n)
    box = replace(GPU_BOX, cores=cores)
    sources = 1 if problem in ("bfs", "sssp") else None
    made = plan(problem, facts, box, predecessors=False, sources=sources)
    assert made.device == device
    told = {"cuda": "; clearly faster than the CPU, about ", "cpu": "GPU is not clearly faster"}
    assert told[device] in str(made)
    without = replace(box, devices=("cpu", "reference"))
    assert plan(problem, facts, without, sources=sources).device == "cpu"


RMAT_20 = Facts(2**20, 31 * 10**6, "int32", 1, 255, 255 * 2**20, csc=True, device="cuda")
ROADS = replace(RMAT_20, n=560_000, m=1_640_000)


@pytest.mark.parametrize(
    ("problem", "facts", "cores", "device"),
    [
        ("bfs", RMAT_20, 2, "cuda"),
        ("sssp", RMAT_20, 16, "cuda"),
        ("sssp", ROADS, 2, "cuda"),
        ("sssp", ROADS, 16, "cuda"),
        ("bfs", ROADS, 16, "cuda"),
        ("bfs", SMALL, 2, "cpu"),
        ("sssp", replace(SMALL, device="cuda"), 2, "cpu"),
    ],
)
def test_a_graph_on_the_gpu_stays_there_where_that_is_faster(
    problem: str, facts: Facts, cores: int, device: str
) -> None:
    made = plan(problem, facts, replace(GPU_BOX, cores=cores), sources=1)
    assert made.device == device
    if facts.device == "cuda":
        told = {"cuda": "; faster than the CPU, about ", "cpu": "; the GPU is not faster than"}
        assert told[device] in made.reasons[0]
        assert made.reasons[0].endswith(", with the graph there")


def test_the_emulator_is_no_gpu_to_the_planner() -> None:
    both = replace(GPU_BOX, devices=("cuda", "cpu", "emulated", "reference"))
    for box in (both, replace(both, devices=("cpu", "emulated", "reference"))):
        made = plan("sssp", replace(RMAT_20, device="emulated"), box, sources=1)
        assert made.device == "cpu"
        assert "with the graph there" not in str(made)


def on_gpu(problem: str, facts: Facts, **ask: Any) -> str:
    return str(plan(problem, facts, GPU_BOX, device="cuda", **ask).method)


def test_methods_of_the_gpu() -> None:
    hops = replace(RMAT_20, weight_dtype=None, min_weight=1, max_weight=1, path_bound=2**20)
    assert on_gpu("bfs", hops, sources=1) == "direction_optimizing"
    assert on_gpu("bfs", hops, sources=8) == "multi_source"
    grid = replace(hops, n=4096**2, m=4 * 4096**2)
    assert on_gpu("bfs", grid, sources=8) == "direction_optimizing", "thin, and not many"
    assert on_gpu("bfs", grid, sources=1000) == "multi_source"
    assert on_gpu("sssp", RMAT_20, sources=1) == "near_far"
    assert on_gpu("sssp", replace(RMAT_20, min_weight=-1), sources=1) == "bellman_ford"
    assert on_gpu("sssp", RMAT_20, sources=64) == "batched"
    assert on_gpu("sssp", replace(RMAT_20, min_weight=-1), sources=64) == "bellman_ford"
    assert on_gpu("sssp", replace(ROADS, n=4096**2, m=4 * 4096**2), sources=16) == "near_far"
    dense, sparse = replace(RMAT_20, n=4096, m=4096**2 // 4), replace(RMAT_20, n=44_000, m=10**6)
    assert on_gpu("apsp", dense, predecessors=False) == "tiled"
    assert on_gpu("apsp", sparse, predecessors=False) == "batched"
    assert on_gpu("apsp", replace(sparse, min_weight=-1), predecessors=False) == "tiled"
    assert on_gpu("apsp", replace(dense, weight_dtype=None), predecessors=False) == "batched"


def test_a_plan_for_gpus_of_workers_on_a_machine_without_one() -> None:
    ask = Ask.of("apsp", device="cuda", devices=("cuda:1",), sources=512, threads=16).for_workers()
    made = make_plan(replace(RMAT_20, n=2**16, m=2**20), ask, BOX)
    assert (made.method, made.first_device) == ("batched", "cuda:1")
    assert made.device_memory > 0
    assert made.reasons[0] == "device: 'cuda' on the workers, as asked"
    assert Ask.of("apsp", device="cpu").for_workers() == Ask.of("apsp", device="cpu")


def test_prepared_on_the_gpu_where_rows_are_many() -> None:
    """Preparing takes seconds on the host, once; then a row takes microseconds."""
    known = Known(4 * ROADS.n, 25 * ROADS.n, "eliminated", frozenset({("min_plus", "int64")}))
    ready = replace(ROADS, prepared=known)
    assert on_gpu("sssp", ROADS, sources=16) == "batched"
    assert on_gpu("sssp", ROADS, sources=100_000, predecessors=False) == "prepared"
    assert on_gpu("sssp", ready, sources=100, predecessors=False) == "prepared"
    assert on_gpu("sssp", ready, sources=100, limited=True) != "prepared"
    assert on_gpu("sssp", replace(ready, min_weight=-1), sources=100) == "prepared"
    refused = replace(ROADS, prepared=Known(0, 0, "counted", refused="too large"))
    assert on_gpu("sssp", refused, sources=100_000) != "prepared"


def test_a_method_that_both_devices_have_runs_where_it_is_faster() -> None:
    for problem, name in [("bfs", "direction_optimizing"), ("sssp", "bellman_ford")]:
        made = plan(problem, SMALL, GPU_BOX, method=name, sources=1)
        assert (made.method, made.device) == (name, "cpu")
    large = Facts(16384, 4 * 16384, "float32", 1, 9, 9 * 16384)
    assert plan("apsp", large, GPU_BOX, method="tiled", predecessors=False).device == "cuda"
    assert plan("apsp", SMALL, GPU_BOX, method="naive").device == "cuda", "only there"


@pytest.mark.parametrize("problem", ["bfs", "sssp", "apsp", "closure"])
@pytest.mark.parametrize("degree", [3, 20])
@pytest.mark.parametrize("device", ["cpu", "cuda"])
def test_estimates_grow_with_the_work(problem: str, degree: int, device: str) -> None:
    def costs(n: int, cores: int = 4, **options: Any) -> tuple[float, float]:
        facts = Facts(n, degree * n, "int32", 1, 255, 255 * n, True, device)
        ask = Ask.of(problem, **options)
        method, _ = choose_method(facts, ask, "cuda")
        gpu = gpu_seconds(facts, ask, method.name, 4)
        return gpu, cpu_seconds(facts, ask, cores)

    sizes = [
        costs(n, sources=1 if problem in ("bfs", "sssp") else None) for n in (10, 10**3, 10**4)
    ]
    assert sizes == sorted(sizes)
    assert all(cpu > 0 for _, cpu in sizes)
    few, many = costs(5000, sources=2), costs(5000, sources=4000)
    assert few <= many
    assert costs(5000, predecessors=False) <= costs(5000)
    assert costs(5000, cores=16)[1] <= costs(5000)[1]
    assert costs(5000, cores=16)[0] == costs(5000)[0]
    assert costs(0) >= (0, 0)


def test_where_the_seconds_on_a_gpu_go() -> None:
    one = Ask.of("sssp", sources=1)
    placed = gpu_cost(RMAT_20, one, "near_far")
    alone = gpu_cost(replace(RMAT_20, device="cpu"), one, "near_far")
    assert (placed.start, alone.start) == (0, 0.35)
    assert alone.copies - placed.copies > 8 * RMAT_20.m / 10e9
    assert alone.work == placed.work
    assert alone.total == pytest.approx(sum(alone))
    pushed = gpu_cost(replace(RMAT_20, csc=False), one.but(problem="bfs"), "direction_optimizing")
    assert pushed.work > gpu_cost(RMAT_20, one.but(problem="bfs"), "direction_optimizing").work


@pytest.mark.parametrize(
    ("problem", "n", "m", "sources", "method", "seconds"),
    [
        ("bfs", 2**24, 521 * 10**6, 1, "direction_optimizing", 1.51e-3),
        ("bfs", 4096**2, 67 * 10**6, 1, "direction_optimizing", 22e-3),
        ("sssp", 2**22, 128 * 10**6, 1, "near_far", 4.8e-3),
        ("sssp", 560_000, 1_640_000, 1, "near_far", 6.5e-3),
        ("sssp", 4096**2, 67 * 10**6, 1, "near_far", 24e-3),
        ("sssp", 65_536, 1_820_170, 512, "batched", 6.5e-3),
    ],
)
def test_estimates_are_near_what_an_h200_did(
    problem: str, n: int, m: int, sources: int | None, method: str, seconds: float
) -> None:
    facts = replace(RMAT_20, n=n, m=m, path_bound=2**20)
    found = gpu_cost(facts, Ask.of(problem, sources=sources, predecessors=False), method)
    assert seconds / 1.5 < found.work < seconds * 1.5


def test_what_is_asked_for_counts_for_the_device() -> None:
    dense = Facts(8192, 8192**2 // 4, "float32", 1, 9, 9 * 8192)
    assert plan("apsp", dense, GPU_BOX).device == "cuda"
    assert plan("apsp", dense, GPU_BOX, sources=3).device == "cpu"
    bits = {"semiring": "boolean", "predecessors": False}
    assert plan("closure", dense, GPU_BOX, **bits).device == "cpu"
    assert plan("apsp", dense, GPU_BOX, device="cpu").device == "cpu"
    hops = Facts(8192, 80 * 8192, None, 1, 1, 8192)
    assert plan("apsp", hops, GPU_BOX).device == "cpu"
    assert (
        plan("apsp", dense, replace(GPU_BOX, cores=2), threads=16, predecessors=False).reasons[0]
        == plan("apsp", dense, GPU_BOX, predecessors=False).reasons[0]
    )


def test_every_rule_names_a_row_and_ends_with_one_that_always_fits() -> None:
    for (problem, device), rules in RULES.items():
        assert problem in PROBLEMS
        assert device in DEVICES
        for rule in rules:
            row = find(problem, rule.method, "emulated" if device == "cuda" else device)
            assert row is not None, rule
            assert row.unrecorded or find(problem, rule.method, device) is not None, rule
        assert rules[-1].fits(SMALL, Ask.of(problem))
    # What runs by CUDA runs in the emulator, by the same rules.
    by_cuda = {row.problem for row in methods(device="emulated")}
    rows = {(row.problem, row.device) for row in methods() if row.device != "emulated"}
    assert set(RULES) == rows | {(problem, "cuda") for problem in by_cuda}


def test_types() -> None:
    assert plan("bfs").dtype == "int32"
    assert plan(facts=replace(SMALL, weight_dtype=None)).dtype == "int32"
    assert plan(facts=replace(SMALL, weight_dtype="float32")).dtype == "float32"
    assert plan(facts=replace(SMALL, path_bound=2**30)).dtype == "int64"
    assert plan(facts=replace(SMALL, weight_dtype="float32", path_bound=1e39)).dtype == "float64"
    with pytest.raises(GraphError, match=r"safe up to 4.61169e\+18; pass dtype='float64'"):
        plan(facts=replace(SMALL, weight_dtype="int64", path_bound=2**63))
    wide = replace(SMALL, weight_dtype="int64", path_bound=2**63)
    assert plan(facts=wide, dtype="float64").dtype == "float64"
    assert plan("closure", semiring="boolean").dtype == "bool"
    assert plan("closure", semiring="max_min", facts=replace(SMALL, path_bound=2**40)).dtype == (
        "int32"
    )
    lowest = replace(SMALL, min_weight=-(2**31))
    assert plan("closure", semiring="max_min", facts=lowest).dtype == "int64"
    percent = replace(SMALL, min_weight=0, max_weight=1)
    assert plan("closure", semiring="max_times", facts=percent).dtype == "float64"


@pytest.mark.parametrize(
    ("request_", "facts", "error", "message"),
    [
        ({"method": "magic"}, {}, RequestError, "no method 'magic' for sssp; there are 'dijkstra'"),
        ({"method": "magic", "device": "reference"}, {}, RequestError, "on device 'reference'"),
        ({"device": "abacus"}, {}, RequestError, "no device 'abacus'; there are 'auto', 'cuda'"),
        ({"device": "cuda"}, {}, DeviceError, "(an NVIDIA GPU) is not available here"),
        ({"method": "dijkstra"}, {"min_weight": -2}, RequestError, "leave the method to 'auto'"),
        ({"limited": True}, {"min_weight": -2}, RequestError, "limit needs non-negative weights"),
        ({"dtype": "complex64"}, {}, RequestError, "dtype must be int32, int64, float32 or"),
        ({"dtype": "rubbish"}, {}, RequestError, "dtype must be int32, int64, float32 or"),
        ({"dtype": "int32"}, {"path_bound": 2**31}, RequestError, "int32 is safe up to 1.07374e"),
        ({"dtype": "int32"}, {"weight_dtype": "float64"}, RequestError, "cannot hold float64"),
        (
            {"problem": "closure", "semiring": "boolean", "dtype": "int32"}, {},
            RequestError, "a boolean closure takes no dtype",
        ),
        (
            {"problem": "closure", "semiring": "max_min", "dtype": "float32"},
            {"weight_dtype": "float64", "max_weight": 1e300}, RequestError,
            "dtype float32 cannot hold weights from 1 to 1e+300",
        ),
        (
            {"problem": "closure", "semiring": "max_times"}, {},
            GraphError, "takes weights from 0 to 1 (probabilities), but these run from 1 to 9",
        ),
        (
            {"problem": "apsp"}, {"n": 10**6, "m": 10**7}, MemoryBudgetError,
            "apsp on 1,000,000 vertices needs 7.3 TiB and 1.0 GiB are available; what makes it "
            "fit: sources=[...] for some of the rows, or out='distances.npy' to keep the values "
            "in a file, or predecessors=False",
        ),
    ],
)  # fmt: skip
def test_refusals(
    request_: dict[str, Any], facts: dict[str, Any], error: type[Exception], message: str
) -> None:
    with pytest.raises(error) as caught:
        make_plan(replace(SMALL, **facts), Ask.of(**{"problem": "sssp", **request_}), BOX)
    assert message in str(caught.value)


def test_a_decision_changes_no_other(monkeypatch: pytest.MonkeyPatch) -> None:
    def reading(decide: Any) -> Any:
        return lambda facts, ask, box, made: decide(facts, ask, box, MappingProxyType(made))

    monkeypatch.setattr(planning, "DECIDE", tuple(map(reading, planning.DECIDE)))
    box = replace(BOX, memory=2**33, devices=("cuda", "cpu"), gpus=2)
    large = replace(SMALL, n=40_000, m=4 * 10**8)
    both = {"device": "cuda", "devices": ("cuda:0", "cuda:1"), "method": "tiled"}
    made = plan("apsp", large, box, block_rows=512, **both)
    assert made.rounds is not None
    assert made.devices == ("cuda:0",)
    at = [reason.partition(":")[0] for reason in made.reasons]
    assert at.index("one device") < at.index("rounds")


def test_unknown_memory_refuses_nothing() -> None:
    huge = replace(SMALL, n=10**6, m=10**7)
    assert plan("apsp", huge, replace(BOX, memory=None)).memory > 2**42


def test_explain() -> None:
    text = str(kl.explain(graph("grid"), "apsp", predecessors=False))
    assert text.startswith("apsp by tiled on cpu, int32 values\n  memory   ")
    assert "available" in text
    assert kl.explain(graph("grid"), "closure", semiring="max_min").semiring == "max_min"
    assert kl.explain(graph("grid"), "sssp", sources=[1, 2]).method == "dijkstra"
    with pytest.raises(RequestError, match="no problem 'tsp'; there are 'bfs'"):
        kl.explain(graph("grid"), "tsp")


@given(
    st.sampled_from([np.int32, np.int64, np.float32, np.float64]),
    st.lists(st.integers(0, 2**31 - 1), min_size=1, max_size=6),
)
def test_integer_arithmetic_never_wraps(dtype: Any, lengths: list[int]) -> None:
    """A chain of weights up to the end of their type: widened as needed, and exact."""
    weights = np.array(lengths, dtype=dtype)
    n = len(weights)
    g = kl.Graph.from_edges(np.arange(n), np.arange(1, n + 1), weights)
    total = sum(int(w) for w in weights)
    for call in (kl.sssp(g, 0), kl.sssp(g, 0, method="bellman_ford"), kl.apsp(g, sources=[0])):
        assert float(call.distances.ravel()[-1]) == pytest.approx(total, rel=1e-6)
        if dtype in (np.int32, np.int64):
            assert int(call.distances.ravel()[-1]) == total
        call.verify()


def test_negative_cycle_at_the_end_of_the_type_is_found_without_wrapping() -> None:
    big = -(2**60)
    g = kl.Graph.from_edges([0, 1], [1, 0], [big, big + 5])
    for call in (lambda: kl.sssp(g, 0), lambda: kl.apsp(g)):
        with pytest.raises(kl.NegativeCycleError):
            call()


# ---- the registry -------------------------------------------------------------------------------


def test_registry_rows_are_complete_and_unique() -> None:
    keys = [(row.problem, row.name, row.device) for row in methods()]
    assert len(set(keys)) == len(keys)
    for row in methods():
        assert callable(row.load())
        assert row.summary
        assert row.origin
        assert str(row).startswith(f"{row.problem} {row.name} on {row.device}: ")


def test_the_file_of_a_method_is_where_it_says() -> None:
    """In the repository, or in the package: then it is in every wheel."""
    package = Path(kl.__file__).parent
    absent = []
    for row in methods():
        native = row.file.startswith("native/")
        place = package.parent.parent if native else package
        absent += [row] * (not (place / row.file).is_file())
        kinds = {"cpu": (".cpp", ".hpp", ".py"), "reference": (".py",)}
        assert row.file.endswith(kinds.get(row.device, (".cu",))), row
        assert native or row.device != "cpu" or row.name == "johnson", row
    assert absent == []


def test_methods_prints_a_table() -> None:
    lines = repr(kl.methods()).splitlines()
    assert lines[0].split() == [
        "problem", "name", "device", "needs", "origin", "file", "summary",
    ]  # fmt: skip
    assert len(lines) == 1 + len(kl.methods())
    with pytest.raises(RequestError, match="no problem 'x'"):
        kl.methods("x")
    with pytest.raises(RequestError, match="no device 'x'"):
        kl.methods("bfs", "x")
