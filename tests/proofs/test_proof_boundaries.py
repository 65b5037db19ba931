"""Claims that a proof with one small mistake would judge otherwise."""

from __future__ import annotations

import time
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from edited_results import CHAIN, edited

import kleene as kl
from kleene import FormatError, VerificationError
from kleene.backends.task import LoadsAnswer, WithinAnswer
from kleene.measures import loads_proof
from kleene.measures.loads import Loads
from kleene.proofs import pairs as pair_proof
from kleene.proofs import reach as reach_proof
from kleene.proofs import rows as row_proof
from kleene.proofs.counts import CountBounds, edges_in
from kleene.proofs.pairs import PairValues, verify_pairs
from kleene.proofs.rows import ProvedRow, compare_targets, verify_rows
from kleene.system.npy_header import LONGEST_HEADER

EPS = float(np.finfo(np.float64).eps)
Patch = pytest.MonkeyPatch


def walks(*paths: list[int]) -> tuple[Any, Any]:
    """Return paths as a result stores them."""
    offsets = np.cumsum([0, *map(len, paths)])
    return np.array([v for path in paths for v in path], np.int32), offsets.astype(np.int64)


def pairs_claim(g: kl.Graph, ends: Any, values: Any, *paths: list[int], **more: Any) -> PairValues:
    origins, destinations = np.array(ends, np.int32).reshape(-1, 2).T
    options: dict[str, Any] = {"limit": None, "by_target": False, "hops": False} | more
    return PairValues(
        g, origins=origins, destinations=destinations, values=np.asarray(values),
        walks=walks(*paths) if paths else None, **options,
    )  # fmt: skip


# ---- pairs --------------------------------------------------------------------------------------


def test_a_claim_of_pairs_is_looked_at_before_it_is_proved() -> None:
    claim = pairs_claim(CHAIN, [(0, 1)], [1.0], [0, 1])
    verify_pairs(claim)
    for changes, message in (
        (
            {"destinations": claim.destinations[:0]},
            "there are 1 sources, but targets or values differ",
        ),
        ({"destinations": np.array([9])}, "targets hold 9"),
        ({"values": claim.values.astype(np.float16)}, "values are float16"),
        ({"walks": walks([0, 9])}, "vertices hold 9"),
    ):
        with pytest.raises(VerificationError, match=message):
            verify_pairs(replace(claim, **changes))  # type: ignore[arg-type]


def test_pairs_on_a_negative_cycle_are_refused() -> None:
    g = kl.Graph.from_edges([0, 1], [1, 0], [1, -2])
    with pytest.raises(VerificationError, match="the graph has a negative cycle"):
        verify_pairs(pairs_claim(g, [(0, 1)], np.array([1])))


def test_rows_of_pairs_are_computed_some_at_a_time(monkeypatch: Patch) -> None:
    g = kl.generate.path(10)
    claim = pairs_claim(g, [(v, 9) for v in range(8)], np.arange(9, 1, -1, np.int32))
    seen: list[int] = []
    own = pair_proof._proved_rows
    monkeypatch.setattr(
        pair_proof, "_proved_rows", lambda c, roots: (seen.append(len(roots)), own(c, roots))[1]
    )
    for room, batches in (
        (3 * 16 * g.n, [3, 3, 2]),
        (3 * 16 * g.n - 1, [2, 2, 2, 2]),
        (1, [1] * 8),
    ):
        seen.clear()
        monkeypatch.setattr(pair_proof, "_BATCH", room)
        began = time.perf_counter()
        proof = verify_pairs(claim)
        assert seen == batches
        assert 0 < proof.seconds <= time.perf_counter() - began


def test_a_missing_pair_is_judged_by_the_limit() -> None:
    whole = kl.Graph.from_edges([0, 1], [1, 2], [3, 3])
    none = np.iinfo(np.int32).max
    missing = np.array([none], np.int32)
    verify_pairs(pairs_claim(whole, [(0, 2)], missing, limit=5))
    with pytest.raises(VerificationError, match="but there is a path"):
        verify_pairs(pairs_claim(whole, [(0, 2)], missing, limit=6))
    sums = kl.Graph.from_edges([0, 1, 2], [1, 2, 3], [0.3, 0.2, 0.1])
    length = 0.3 + 0.2 + 0.1
    assert length < 0.3 + (0.2 + 0.1), "which is beyond the limit"
    for paths in ((), ([],)):
        proof = verify_pairs(pairs_claim(sums, [(0, 3)], [np.inf], *paths, limit=length))
        assert proof.tolerance == "up to rounding"
        last = length + 8 * EPS * (3 + 1) * length  # that rounding could come to
        for end, limit in ((3, last), (2, 0.5), (1, 0.3), (0, 0.0)):
            with pytest.raises(VerificationError, match="but there is a path"):
                verify_pairs(pairs_claim(sums, [(0, end)], [np.inf], *paths, limit=limit))


def test_one_pair_that_rounds_is_said_to_round() -> None:
    g = kl.Graph.from_edges([0, 1, 2], [1, 2, 3], [0.1, 0.2, 0.3])
    same, other = (0.1 + 0.2) + 0.3, 0.1 + (0.2 + 0.3)
    proof = verify_pairs(pairs_claim(g, [(0, 3), (0, 3)], [same, other]))
    assert proof.tolerance == "up to rounding"


def test_a_path_may_be_off_its_distance_by_rounding_and_no_more() -> None:
    """Two arcs that add up to one: 8 eps for each of them, and once more."""
    for off, right in ((24, True), (26, False)):
        g = kl.Graph.from_edges([0, 0, 2], [1, 2, 1], [1.0, 0.5, 0.5 + off * EPS])
        claim = pairs_claim(g, [(0, 1)], [1.0], [0, 2, 1])
        if right:
            verify_pairs(claim)
            continue
        with pytest.raises(VerificationError, match="adds up to something else"):
            verify_pairs(claim)


def test_a_value_without_a_path_may_be_off_by_the_rounding_of_its_row() -> None:
    g = kl.Graph.from_edges([0, 1, 2, 3], [1, 2, 3, 4], [0.1, 0.2, 0.3, 0.7])
    right = kl.sssp(g, 0).distances[4]
    for value, tolerance in ((right, "exact in float64"), (right + 8 * EPS, "up to rounding")):
        assert verify_pairs(pairs_claim(g, [(0, 4)], [value])).tolerance == tolerance
    with pytest.raises(VerificationError, match="the row of its search holds another value"):
        verify_pairs(pairs_claim(g, [(0, 4)], [right + 1e-12]))


def test_rounding_is_that_of_the_path_and_not_of_other_arcs() -> None:
    g = kl.Graph.from_edges([0, 1, 2, 3], [1, 2, 3, 4], [1.0, 1.0, 1.0, 1e12])
    with pytest.raises(VerificationError, match="the row of its search holds another value"):
        verify_pairs(pairs_claim(g, [(0, 2)], [2 + 1e-9], [0, 1, 2]))
    with pytest.raises(VerificationError, match="but there is a path"):
        verify_pairs(pairs_claim(g, [(0, 3)], [np.inf], limit=3.001))


def test_the_path_that_goes_round_is_the_one_that_is_named() -> None:
    g = kl.Graph.from_edges([0, 1, 2, 1], [1, 2, 1, 3], [1, 0, 0, 1])
    straight, round_ = [0, 1, 3], [0, 1, 2, 1, 3]
    values = np.array([2] * 3)
    for at in range(3):
        paths = [round_ if i == at else straight for i in range(3)]
        with pytest.raises(VerificationError, match=f"pair {at}, .* visits a vertex twice"):
            verify_pairs(pairs_claim(g, [(0, 3)] * 3, values, *paths))


def test_the_sum_along_a_path_of_larger_numbers_is_right() -> None:
    """The row of the search leads straight; sums along the other path rise and fall."""
    steps = 20
    heights = [0.0] + [4096.0 * (v % 2) for v in range(1, steps)] + [1.0]
    arcs = [(v, v + 1, heights[v + 1] - heights[v]) for v in range(steps)]
    off = 1e-10  # beyond the rounding of one arc over 4096, and below that of twenty
    arcs[-1] = (steps - 1, steps, arcs[-1][2] + off)
    arcs += [(0, v, heights[v]) for v in range(2, steps + 1)]
    g = kl.Graph.from_edges(*map(list, zip(*arcs, strict=True)))
    walk = list(range(steps + 1))
    total = float(np.cumsum([w for _, _, w in arcs[:steps]])[-1])
    assert 0 < total - 1 < 2 * off
    ends, paths = [(0, steps), (0, steps - 1)], (walk, [0, steps - 1])
    right = np.array([total, heights[-2]])
    verify_pairs(pairs_claim(g, ends, right, *paths))
    with pytest.raises(VerificationError, match="holds another value"):  # not the sum along it
        verify_pairs(pairs_claim(g, ends, right + np.array([off / 5, 0]), *paths))


def test_saved_pairs_are_checked_field_by_field(tmp_path: Path) -> None:
    pairs = kl.sssp(CHAIN, pairs=[(0, 2), (1, 2), (3, 4)])
    for changes, message in (
        ({"targets": np.array([2, 2, 9])}, "targets hold 9"),
        ({"vertices": np.full(7, 9)}, "vertices hold 9"),
        ({"offsets": np.array([1, 3, 5, 7])}, "offsets should rise from 0"),
        ({"offsets": np.array([0.0, 3, 5, 7])}, "offsets should rise from 0"),
        ({"offsets": np.array([0, 3, 7])}, "offsets should rise from 0"),
        ({"head": lambda h: h.update(by_target=1)}, "by_target is 1"),
        (
            {
                "head": lambda h: h["plan"].update(dtype="float16"),
                "values": pairs.distances.astype(np.float16),
            },
            "values are float16",
        ),
    ):
        with pytest.raises(FormatError, match=message):
            edited(pairs, tmp_path, **changes)  # type: ignore[arg-type]


def test_arrays_of_pairs_one_number_larger_than_they_may_be(tmp_path: Path) -> None:
    pairs = kl.sssp(CHAIN, pairs=[(0, 2)] * 1000)
    room = (LONGEST_HEADER - 128) // 8  # NumPy's header has 128 bytes
    for name, most, message in (
        ("offsets", 1001 + room, "offsets should rise"),
        ("vertices", 3000 + room, "vertices of paths, expected"),
    ):
        with pytest.raises(FormatError, match=message):
            edited(pairs, tmp_path, **{name: np.zeros(most, np.int64)})  # type: ignore[arg-type]
        with pytest.raises(FormatError, match=f"bytes of '{name}', too many"):
            edited(pairs, tmp_path, **{name: np.zeros(most + 1, np.int64)})  # type: ignore[arg-type]


def test_saved_rows_are_checked_field_by_field(tmp_path: Path) -> None:
    matrix = kl.sssp(CHAIN, sources=[0, 1], targets=[2, 3])
    for changes, message in (
        ({"head": lambda h: h.update(reverse=1)}, "reverse is 1"),
        ({"values": np.zeros((2, 3))}, r"values have shape \(2, 3\), not \(2, 2\)"),
    ):
        with pytest.raises(FormatError, match=message):
            edited(matrix, tmp_path, **changes)  # type: ignore[arg-type]
    older = edited(matrix, tmp_path, head=lambda h: h.pop("paths", None))
    assert older.path(0, 3) == [0, 1, 2, 3]


# ---- bounded searches ---------------------------------------------------------------------------


def reach(g: kl.Graph, sources: list[int], limit: Any, k: Any, *rows: dict[int, Any]) -> Any:
    """Prove rows of distances by vertex."""
    offsets = np.cumsum([0, *map(len, rows)])
    vertices = np.array([v for row in rows for v in row], np.int32)
    distances = np.array([d for row in rows for d in row.values()])
    answer = WithinAnswer(offsets, vertices, distances, None)
    return reach_proof.verify_reach(g, answer, np.array(sources), limit, k, False)


LINE = kl.Graph.from_edges([0, 1, 2], [1, 2, 3], [1, 1, 1])


def test_rows_of_what_is_near() -> None:
    proof = reach(LINE, [0], 2, None, {0: 0, 1: 1, 2: 2})
    assert (proof.arcs, proof.tolerance) == (3, "exact")
    real = LINE.reweight(arcs=[1.0, 1.0, 1.0])
    assert reach(real, [0], 2, None, {0: 0.0, 1: 1.0, 2: 2.0}).tolerance == "exact in float64"
    for limit, k, row, message in (
        (2, None, {0: 0, 1: 1, 4: 2}, "a row holds an id that is not a vertex"),
        (1, None, {0: 0, 1: 1, 2: 2}, "from source 0: vertex 2 holds 2, beyond the limit 1"),
        (9, None, {0: 0, 2: 2, 1: 1, 3: 3}, "the vertices of a row are not in order"),
        (2, None, {0: 0, 1: 1}, "the arc 1 -> 2 offers 2, which is better"),
        (None, 2, {0: 0, 1: 1, 2: 2, 3: 3}, "more than 2 vertices are stored"),
    ):
        with pytest.raises(VerificationError, match=message):
            reach(LINE, [0], limit, k, row)
    twice = WithinAnswer(np.array([0, 3]), np.array([0, 1, 1]), np.array([0, 1, 1]), None)
    with pytest.raises(VerificationError, match="not in order"):
        reach_proof.verify_reach(LINE, twice, np.array([0]), 1, None, False)


@pytest.mark.parametrize("piece", [1, 2**20])
def test_the_row_that_is_wrong_is_named(piece: int, monkeypatch: Patch) -> None:
    monkeypatch.setattr(reach_proof, "_PIECE", piece)
    good = {1: 0, 2: 1}
    reach(LINE, [1, 1, 1], None, 1, good, good, good)
    with pytest.raises(VerificationError, match="from source 0: more than 1 vertices"):
        reach(LINE, [1, 0, 1], None, 1, good, {0: 0, 1: 1, 2: 2}, good)
    with pytest.raises(VerificationError, match="from source 0: the source is not stored"):
        reach(LINE, [1, 0, 1], None, 1, good, {1: 1}, good)


def test_rows_are_taken_together_as_long_as_few_arcs_leave_them(monkeypatch: Patch) -> None:
    star = kl.Graph.from_edges([0, 0, 0, 1], [1, 2, 3, 0])
    rows = [[0], [1], [1], [0], [2], [1, 0]]  # from which 3, 1, 1, 3, 0 and 4 arcs leave
    answer = WithinAnswer(
        np.cumsum([0, *map(len, rows)]), np.concatenate(rows).astype(np.int32), np.zeros(7), None
    )
    pieces = {
        1: [(0, 1), (1, 2), (2, 3), (3, 4), (4, 5), (5, 6)],
        2: [(0, 1), (1, 3), (3, 4), (4, 5), (5, 6)],
        3: [(0, 1), (1, 3), (3, 5), (5, 6)],
        5: [(0, 3), (3, 5), (5, 6)],
        8: [(0, 5), (5, 6)],
        12: [(0, 6)],
    }
    for piece, right in pieces.items():
        monkeypatch.setattr(reach_proof, "_PIECE", piece)
        sources = np.zeros(6, np.int32)
        checker = reach_proof._Checker(star, answer, sources, None, None, True)
        assert list(checker.pieces()) == right, piece


def test_the_first_vertex_that_nothing_attains_is_named() -> None:
    g = kl.Graph.from_edges([0, 2, 3, 2], [2, 3, 2, 1], [5, 0, 0, 1])
    reach(g, [0], 9, None, {0: 0, 1: 6, 2: 5, 3: 5})
    with pytest.raises(VerificationError, match="vertex 1 holds 5, but no path attains that"):
        reach(g, [0], 9, None, {0: 0, 1: 5, 2: 4, 3: 4})


# ---- nearest facilities -------------------------------------------------------------------------


def test_labels_at_the_limit_and_labels_in_order() -> None:
    near = kl.nearest(kl.Graph.from_edges([0], [1], [5]), [0], limit=5, reverse=True)
    near.verify()
    near._distances[1], near._which[1] = near.no_path, -1
    with pytest.raises(VerificationError, match="the arc from 0 offers facility 0 at 5"):
        near.verify()
    three = kl.nearest(LINE, [0, 1, 2], 3, reverse=True)
    three.verify()
    three._distances[2], three._which[2] = [0, 2, 1], [2, 0, 1]
    with pytest.raises(VerificationError, match="vertex 2: labels that are not in order"):
        three.verify()


# ---- loads --------------------------------------------------------------------------------------

#: Two ways from 0 to 3 that are as long, a longer one, and a way back from 2 to 1.
WAYS = kl.Graph.from_edges([0, 0, 1, 2, 0, 2], [1, 2, 3, 3, 3, 1], [1, 1, 1, 1, 5, 1])


def arcs_of(flows: dict[tuple[int, int], float], g: kl.Graph = WAYS) -> Any:
    """Return flows by arc; 0 elsewhere."""
    ends = list(zip(g.coo.sources.tolist(), g.coo.targets.tolist(), strict=True))
    return np.array([flows.get(arc, 0.0) for arc in ends])


def claimed(found: Loads, flows: Any, assigned: Any = None) -> Loads:
    assigned = found._assigned if assigned is None else np.array(assigned)
    return Loads(found._task, found._positions, flows, assigned, found.plan, found.stats)


def test_flows_that_are_conserved_and_not_those_of_the_trips() -> None:
    found = kl.loads(WAYS, ([0], [3], [6]))
    used = {(0, 1): 6.0, (1, 3): 6.0}
    other = {(0, 2): 6.0, (2, 3): 6.0}
    if found.arcs.tolist() != arcs_of(used).tolist():
        used, other = other, used
    first = min(used, key=lambda arc: arc)
    with pytest.raises(VerificationError, match=f"from {first[0]} to {first[1]} carries less than"):
        claimed(found, arcs_of(other)).verify()
    both = kl.Graph.from_edges([0, 1, 2, 3, 0], [1, 0, 3, 2, 2], [1, 1, 1, 1, 1])
    flow = kl.loads(both, ([0], [2], [6]))
    circle = arcs_of({(0, 2): 6, (2, 3): 1, (3, 2): 1}, both)
    with pytest.raises(VerificationError, match="from 2 to 3 does not carry the sum of its trips"):
        claimed(flow, circle).verify()
    with pytest.raises(VerificationError, match="has a flow that is negative or NaN"):
        claimed(flow, arcs_of({(0, 2): 6, (2, 3): -1, (3, 2): -1}, both)).verify()


def test_the_trip_that_is_not_as_the_answer_says() -> None:
    found = kl.loads(WAYS, ([0, 0, 0], [1, 2, 3], [1.0, 2.0, 4.0]))
    none = arcs_of({})
    with pytest.raises(VerificationError, match="wrong about whether 1 can be reached from 0"):
        claimed(found, none, [False] * 3).verify()


def test_origins_are_checked_as_many_as_are_affordable(monkeypatch: Patch) -> None:
    found = kl.loads(WAYS, ([0, 1, 2], [3, 3, 3], [1.0, 1.0, 1.0]))
    cost = WAYS.n + WAYS.m
    for work, rows in ((0, 1), (cost, 1), (2 * cost, 2), (3 * cost - 1, 2), (9 * cost, 3)):
        monkeypatch.setattr(loads_proof, "_WORK", work)
        began = time.perf_counter()
        proof = found.verify()
        assert (proof.rows, proof.of) == (rows, 3)
        assert 0 < proof.seconds <= time.perf_counter() - began


def test_what_a_method_finds_again_is_checked_as_well(monkeypatch: Patch) -> None:
    """The method may be wrong in the same way as the answer."""
    own = loads_proof.run_method

    def found_again(flows: dict[tuple[int, int], float], split: bool = False) -> Loads:
        found = kl.loads(WAYS, ([0], [3], [6]), split=split)

        def run(plan: Any, task: Any) -> LoadsAnswer:
            right: LoadsAnswer = own(plan, task)
            return right._replace(arcs=arcs_of(flows))

        monkeypatch.setattr(loads_proof, "run_method", run)
        return found

    with pytest.raises(VerificationError, match="what leaves 0 does not conserve flow: at 1"):
        found_again({(0, 1): 6}).verify()
    with pytest.raises(VerificationError, match="trips from 0 cost 30, but 12 on shortest paths"):
        found_again({(0, 3): 6}).verify()
    with pytest.raises(VerificationError, match=r"to \d has a wrong share of what leaves 0"):
        found_again({(0, 1): 6, (1, 3): 6}, split=True).verify()


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_lengths_of_float32_round_more(dtype: str, monkeypatch: Patch) -> None:
    g = WAYS.reweight(arcs=WAYS.weights.astype(dtype))
    ends = list(zip(g.coo.sources.tolist(), g.coo.targets.tolist(), strict=True))
    lengths = g.weights.copy()
    lengths[ends.index((2, 3))] *= 1 + 1e-6
    g = g.reweight(arcs=lengths)
    found = kl.loads(g, ([0], [3], [6]))
    longer = arcs_of({(0, 2): 6, (2, 3): 6})
    again = LoadsAnswer(longer, found._assigned)
    monkeypatch.setattr(loads_proof, "run_method", lambda plan, task: again)
    if dtype == "float32":
        claimed(found, longer).verify()
        return
    with pytest.raises(VerificationError, match="on shortest paths"):
        claimed(found, longer).verify()


# ---- counts -------------------------------------------------------------------------------------


def test_counts_in_words() -> None:
    bounds = CountBounds(np.array([0.0, 1.0, 2.0, 4.0]))
    row = ProvedRow(kl.generate.path(1), "min_plus", 0, np.zeros(8), np.empty(0))
    row.__dict__["slack"] = np.array([0, 0.1, 0.1, 0.1, 0.1, 0.1, 0.1, 0.1])
    row.__dict__["short"] = np.zeros(8, bool)
    row.values[1:] = [0.5, 0.95, 1.5, 1.5, 1.95, 3.0, 3.0]
    bounds.add(row, own=False)
    assert [bounds.in_words(j) for j in range(3)] == ["1 to 2", "2 to 4", "2 to 3"]
    whole = CountBounds(np.array([0.0, 1.0, 2.0, 4.0]))
    row.__dict__["slack"] = np.zeros(8)
    whole.add(row, own=False)
    assert [whole.in_words(j) for j in range(3)] == ["2", "3", "2"]
    none = CountBounds(np.array([0.0, 1.0, 1.05]))
    row.values[1:], row.__dict__["slack"] = 0.95, np.full(8, 0.2)
    none.add(row, own=False)
    assert none.in_words(1) == "0 to 7"


def test_edges_without_end() -> None:
    edges = np.array([-np.inf, 0.5, 2.0, np.inf])
    least, most = np.iinfo(np.int32).min, np.iinfo(np.int32).max
    assert edges_in(edges, np.dtype(np.int32)).tolist() == [least, 1, 2, most]
    h = kl.distance_histogram(kl.generate.path(4), sources=[0], bins=edges)
    assert h.counts.tolist() == [0, 1, 2]
    h.verify()


# ---- results ------------------------------------------------------------------------------------


def test_tables_of_results_come_in_blocks(monkeypatch: Patch) -> None:
    monkeypatch.setattr("kleene.results.result._TOGETHER", 2)
    g = kl.generate.grid(1, 10)
    prepared = kl.prepare(g)
    asked: list[tuple[int, int]] = []
    own = kl.Result._block

    def block(self: kl.Result, rows: slice, far: Any) -> Any:
        asked.append((rows.stop - rows.start, len(far)))
        return own(self, rows, far)

    monkeypatch.setattr(kl.Result, "_block", block)
    some = [1, 2, 3, 4]
    cases: list[tuple[int, Any, list[tuple[int, int]]]] = [
        (12, kl.sssp(g, sources=range(5)), [(1, 10)] * 5),
        (12, kl.sssp(g, sources=range(5), targets=some), [(3, 4)] * 2),
        (12, kl.sssp(g, sources=range(5), targets=[1] * 13), [(1, 12), (1, 1)] * 5),
        (12, kl.sssp(g, sources=[]), [(1, 10)]),
        (3, kl.sssp(g, sources=range(5), targets=[1]), [(3, 1)] * 2),
        (1, kl.sssp(g, sources=[0], targets=[]), [(1, 0)]),
        # Predecessors of a matrix are in whole rows, of which some are searched together.
        (12, prepared.matrix(range(5), some), [(2, 4)] * 3),
        (30, prepared.matrix(range(5), some), [(3, 4)] * 2),
        (12, prepared.matrix(range(5), [1] * 7), [(1, 7)] * 5),
    ]
    for room, result, blocks in cases:
        monkeypatch.setattr("kleene.results.result.BLOCK", room)
        asked.clear()
        table = result.to_pandas()
        assert asked == blocks
        assert len(table) == result._count == result.distances.size


def test_paths_are_shown_in_short() -> None:
    g = kl.generate.path(6)
    r = kl.bfs(g, 0)
    assert repr(r.paths([0, 1, 2])) == "Paths([[0], [0, 1], [0, 1, 2]])"
    assert repr(r.paths([0, 1, 2, 3])) == "Paths([[0], [0, 1], [0, 1, 2], ...])"
    assert repr(r.paths([])) == "Paths([])"


# ---- numbers of paths ---------------------------------------------------------------------------


def layers(width: int, count: int) -> kl.Graph:
    """Return a graph with width ** count shortest paths from vertex 0 to the last vertex."""
    ends = [0, *(1 + layer * width for layer in range(count))]
    arcs = [(0, 1 + i) for i in range(width)]
    for first in ends[1:-1]:
        arcs += [(first + i, first + width + j) for i in range(width) for j in range(width)]
    last = 1 + count * width
    arcs += [(ends[-1] + i, last) for i in range(width)]
    return kl.Graph.from_edges(*map(list, zip(*arcs, strict=True)), n=last + 1)


def test_numbers_of_paths_whose_low_words_are_zero() -> None:
    counts = kl.path_counts(layers(4, 32), 0, exact=True)
    assert counts.values[-1] == 4**32 == 2**64
    assert counts.verify().tolerance == "130 of 130 numbers, exact"


def test_numbers_of_paths_are_compared_in_their_own_type() -> None:
    g = layers(3, 38)  # 3^38 is between 2^60 and 2^61, and no float
    whole = kl.path_counts(g, 0, exact=True)
    assert (whole.values.dtype, whole.values[-1]) == (np.int64, 3**38)
    began = time.perf_counter()
    proof = whole.verify()
    assert (proof.rows, proof.of) == (1, 1)
    assert 0 < proof.seconds <= time.perf_counter() - began
    kl.path_counts(g, 0).verify()
    values = whole.values.copy()
    values[-1] += 1
    whole.values = values
    with pytest.raises(VerificationError, match="shortest paths, but the plain method gives"):
        whole.verify()


# ---- rows that were proved ----------------------------------------------------------------------

TINY = float(np.finfo(np.float64).smallest_subnormal)
CHAINED = kl.Graph.from_edges([0, 1, 2], [1, 2, 3], [1.0, 2.0, 4.0])


def proved_row(g: kl.Graph, values: list[float], semiring: str = "min_plus") -> ProvedRow:
    tree = np.arange(-1, len(values) - 1, dtype=np.int32)
    return ProvedRow(g, semiring, 0, np.array(values), tree)


def test_the_rounding_of_a_row_grows_along_its_paths() -> None:
    whole = kl.generate.path(4)
    chances = kl.Graph.from_edges([0, 1], [1, 2], [0.5, 0.25])
    for row, sizes in (
        (proved_row(CHAINED, [0.0, 1.0, 3.0, 7.0]), [0, 1, 3, 7]),
        (proved_row(whole, [0.0, 1.0, 2.0, 3.0]), [0, 1, 2, 3]),
        (proved_row(chances, [1.0, 0.5, 0.125], "max_times"), [1, 0.5, 0.125]),
    ):
        right = [(arcs + 1) * (8 * EPS * size + TINY) for arcs, size in enumerate(sizes)]
        assert row.slack.tolist() == right
    row = proved_row(CHAINED, [0.0, 1.0, 3.0, 7.0])
    held = np.array([1 + 16 * EPS, 1 + 17 * EPS, np.inf, 1.0])
    assert row.agrees(np.array([1, 1, 1, 1]), held).tolist() == [True, False, False, True]


def test_rows_are_proved_some_at_a_time(monkeypatch: Patch) -> None:
    g = kl.generate.grid(1, 6, weights=(0.5, 2.0), seed=1)
    asked: list[int] = []

    def rows(which: Any) -> Any:
        asked.append(len(which))
        return kl.sssp(g, sources=which.tolist())._answer

    def proof(compare: Any, sources: int = 6) -> Any:
        asked.clear()
        return verify_rows(g, "min_plus", np.arange(sources), rows, compare, None, 0, False)

    for room, batches in ((4 * 16 * g.n, [4, 2]), (4 * 16 * g.n - 1, [3, 3]), (1, [1] * 6)):
        monkeypatch.setattr(row_proof, "_BATCH", room)
        began = time.perf_counter()
        found = proof(compare_targets(lambda row, targets: targets, None))
        assert asked == batches
        assert found.tolerance == "exact in float64"
        assert 0 < found.seconds <= time.perf_counter() - began
    full = kl.apsp(g, method="batched").distances
    targets = np.array([2, 5])
    values = [full[row, targets] for row in range(6)]
    compare = compare_targets(lambda row, _: values[row], targets)
    assert proof(compare).tolerance == "exact in float64"
    values[1] = values[1] * (1 + EPS)
    assert proof(compare).tolerance == "up to rounding"
    values[1] = values[1] * (1 + 1e-12)
    with pytest.raises(VerificationError, match="row of source 1: vertex 2 holds"):
        proof(compare)


def test_rows_on_a_negative_cycle_are_refused() -> None:
    g = kl.Graph.from_edges([0, 1], [1, 0], [1, -2])
    with pytest.raises(VerificationError, match="the graph has a negative cycle"):
        verify_rows(
            g, "min_plus", np.array([0]), lambda which: kl.sssp(g, 0)._answer,
            compare_targets(lambda row, targets: targets, None), None, 0, False,
        )  # fmt: skip


# ---- nearest facilities of prepared graphs ------------------------------------------------------


def compared(
    offered: list[float], which: list[int], held: list[float], slack: float, limit: Any = None
) -> bool:
    """Compare facilities at vertices 1, 2, ... with the row of vertex 0 that was proved."""
    n = 1 + len(offered)
    g = kl.Graph.from_edges([0] * (n - 1), range(1, n), offered)
    near = kl.prepare(g).nearest([0], range(1, n), k=len(which), limit=limit)
    near._which[0], near._distances[0] = which, held
    row = ProvedRow(g, "min_plus", 0, np.array([0, *offered]), np.array([-1] + [0] * (n - 1)))
    row.__dict__["slack"], row.__dict__["short"] = np.full(n, slack), np.zeros(n, bool)
    found: bool = near._compare(0, row)
    return found


TIES = [1.0, 1.05, 2.0, 3.0]


def test_facilities_that_rounding_may_exchange() -> None:
    assert compared(TIES, [0, 1], [1.0, 1.05], 0.04)
    for offered, which, held, slack in (
        (TIES, [1, 0], [1.02, 1.03], 0.04),
        (TIES, [1, 0], [1.02, 1.02], 0.04),
        ([1.0, 1.05, 1.1], [0, 2], [1.0, 1.1], 0.04),
        ([0.5, 1.0, 1.5], [0, 2], [0.5, 1.5], 0.25),  # to the last bit
    ):
        assert not compared(offered, which, held, slack)
    inf = np.inf
    for offered, which, held, limit, message in (
        (TIES, [0, 2], [1.0, 2.0], None, r"expected \[0, 1\]"),
        (TIES, [0, -1], [1.0, inf], None, r"expected \[0, 1\]"),
        ([1.0, 1.05, 1.15], [0, 2], [1.0, 1.15], None, r"expected \[0, 1\]"),
        (TIES, [0, 0], [1.0, 1.02], None, r"expected \[0, 1\]"),
        (TIES, [0, 4], [1.0, 1.02], None, r"expected \[0, 1\]"),
        (TIES, [-1, 0], [3.0, inf], 0.5, r"expected \[\]"),
        (TIES, [1, 0], [1.06, 0.99], None, "not in order or beyond the limit"),
        (TIES, [0, 1, 2], [1.03, 1.02, 2.0], None, "not in order or beyond the limit"),
        (TIES, [0, 1], [1.0, 1.06], 1.05, "not in order or beyond the limit"),
    ):
        with pytest.raises(VerificationError, match=message):
            compared(offered, which, held, 0.04, limit)


def test_paths_to_facilities_of_some_vertices() -> None:
    near = kl.prepare(kl.generate.grid(1, 6)).nearest([3, 5], [2, 0], limit=1)
    assert list(near.paths([3, 5])) == [[3, 2], []]
    for asked in ([3, 4], [4, 3]):
        with pytest.raises(kl.RequestError, match="vertex 4 is not among the sources"):
            near.paths(asked)
