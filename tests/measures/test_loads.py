"""``kl.loads``: trips on their shortest paths, beside an oracle that lists the paths."""

from __future__ import annotations

import json
import math
from itertools import permutations
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp
from graphs import WITH_NEGATIVE_CYCLE, graph, names
from hypothesis import given, settings
from hypothesis import strategies as st
from loads_oracle import Trip, least_cost, split_loads

import kleene as kl
from kleene.graph.rows import Lines
from kleene.measures.loads import Loads

WITHOUT_CYCLES = [
    name
    for name in names()
    if name not in WITH_NEGATIVE_CYCLE and name != "negative_cycle_elsewhere"
]
POSITIVE = [name for name in WITHOUT_CYCLES if not graph(name).stats.negative]
METHODS = [(row.name, row.device) for row in kl.methods("loads")]


def some_trips(g: kl.Graph, count: int = 40) -> list[Trip]:
    if not g.n:
        return []
    rng = np.random.default_rng(g.n)
    ends = rng.integers(0, g.n, (count, 2)).tolist()
    return [(s, t, volume) for (s, t), volume in zip(ends, rng.integers(0, 9, count), strict=True)]


def as_arrays(trips: list[Trip]) -> tuple[list[Any], list[Any], list[Any]]:
    return tuple([list(column) for column in zip(*trips, strict=True)] or ([], [], []))  # type: ignore[return-value]


def require_conserved(g: kl.Graph, found: Loads, trips: list[Trip], assigned: list[bool]) -> None:
    """What enters a vertex or begins there leaves it or ends there."""
    balance = np.zeros(g.n)
    through = np.zeros(g.n)
    for (s, t, volume), has_path in zip(trips, assigned, strict=True):
        if has_path and s != t:
            balance[s] += volume
            balance[t] -= volume
            through[s] += volume
    np.add.at(balance, g.coo.targets, found.arcs)
    np.subtract.at(balance, g.coo.sources, found.arcs)
    np.add.at(through, g.coo.targets, found.arcs)
    assert np.allclose(balance, 0, atol=1e-9)
    assert np.allclose(found.vertices, through)


def check(g: kl.Graph, trips: list[Trip], hops: bool, limit: Any, **options: Any) -> Loads:
    """Every trip is on a shortest path."""
    listed = as_arrays(trips)
    found = kl.loads(options.pop("prepared", g), listed, hops=hops, limit=limit, **options)
    cost, assigned = least_cost(g, trips, hops, limit)
    assert math.isclose(found.total_cost, cost, rel_tol=1e-5, abs_tol=1e-9)
    require_conserved(g, found, trips, assigned)
    lost = [i for i, has_path in enumerate(assigned) if not has_path and trips[i][2] > 0]
    assert found.unassigned.positions.tolist() == lost
    assert found.unassigned.volumes.tolist() == [trips[i][2] for i in lost]
    assert found.unassigned.total + found.volume == sum(trip[2] for trip in trips)
    return found


# ---- the zoo ------------------------------------------------------------------------------------


@pytest.mark.parametrize("hops", [False, True])
@pytest.mark.parametrize(("method", "device"), METHODS)
@pytest.mark.parametrize("name", POSITIVE)
def test_the_zoo_beside_the_oracle(name: str, method: str, device: str, hops: bool) -> None:
    g = graph(name)
    found = check(g, some_trips(g), hops, None, method=method, device=device)
    assert (found.plan.method, found.plan.device) == (method, device)
    found.verify()


@pytest.mark.parametrize("name", WITHOUT_CYCLES)
def test_a_prepared_graph_takes_negative_weights(name: str) -> None:
    g = graph(name)
    found = check(g, some_trips(g), False, None, prepared=kl.prepare(g))
    assert found.plan.method == "prepared"
    found.verify()


@pytest.mark.parametrize("keywords", [{"method": "prepared"}, {"device": "reference"}], ids=str)
@pytest.mark.parametrize("kind", [int, float])
def test_a_negative_cycle_is_named_by_label(kind: type, keywords: dict[str, str]) -> None:
    weights = np.array([-1, -2, 1], kind)
    g = kl.Graph.from_edges([0, 1, 2], [1, 0, 1], weights, labels=["a", "b", "c"])
    with pytest.raises(kl.NegativeCycleError) as raised:
        kl.loads(g, [("c", "b", 1.0)], **keywords)
    assert set(raised.value.cycle) == {"a", "b"}


def test_the_reference_takes_negative_weights() -> None:
    g = graph("negative_floats")
    check(g, some_trips(g), False, None, device="reference").verify()


@pytest.mark.parametrize("keywords", [{"method": "prepared"}, {"device": "reference"}], ids=str)
@pytest.mark.parametrize("weights", list(permutations([-0.1, 0.3, -0.2])), ids=str)
def test_a_cycle_that_is_negative_by_rounding(
    weights: tuple[float, ...], keywords: dict[str, str]
) -> None:
    """Its sum is zero, and in floats below that from some vertices on: searches must end."""
    g = kl.Graph.from_edges([0, 1, 2, 2], [1, 2, 0, 3], [*weights, 1.0])
    found = kl.loads(g, [(0, 3, 1.0), (1, 3, 1.0)], **keywords)
    assert found.arcs.tolist() == [1, 2, 0, 2]
    found.verify()


@pytest.mark.parametrize("hops", [False, True])
@pytest.mark.parametrize("device", ["cpu", "reference"])
@pytest.mark.parametrize("name", [name for name in POSITIVE if name != "zero_cycle"])
def test_split_over_all_paths(name: str, device: str, hops: bool) -> None:
    g = graph(name)
    trips = some_trips(g, 12)
    found = kl.loads(g, as_arrays(trips), split=True, hops=hops, device=device)
    right, _ = split_loads(g, trips, hops)
    if g.weights is None or g.weights.dtype.kind == "i" or hops:  # other ties are up to rounding
        assert np.allclose(found.arcs, np.array(right, dtype=float))
    found.verify()


@pytest.mark.parametrize("threads", [1, 3])
def test_grouped_climbs(threads: int) -> None:
    """Trips from each vertex to each share climbs, as single trips do not."""
    g = graph("grid")
    trips = [(s, t, 1 + (s * t) % 5) for s in range(0, g.n, 3) for t in range(g.n)]
    searched = kl.loads(g, as_arrays(trips), method="searches", threads=threads)
    prepared = kl.loads(g, as_arrays(trips), method="prepared", threads=threads)
    assert prepared.total_cost == searched.total_cost
    require_conserved(g, prepared, trips, [True] * len(trips))
    prepared.verify(sample=3)


def test_few_destinations_are_the_roots() -> None:
    g = graph("disconnected")
    trips = [(v, 2, 1) for v in range(g.n)] + [(4, 5, 2), (5, 4, 1), (0, 5, 7)]
    found = check(g, trips, False, None, method="searches")
    assert found._task.by_destination
    found.verify()
    limited = check(g, trips, False, 4)
    assert limited.unassigned.total == 12
    assert limited._task.by_destination


def test_limits() -> None:
    g = graph("float64_weights")
    for limit in (0, 0.3, 1, math.inf):
        check(g, some_trips(g), False, limit).verify()
        check(g, some_trips(g), True, limit).verify()


def test_huge_counts_of_paths() -> None:
    """A grid has more shortest paths between its corners than a float64 holds."""
    g = kl.generate.grid(600, 600)
    found = kl.loads(g, ([0], [g.n - 1], [1]), split=True)
    assert found.arcs.sum() == pytest.approx(1198)
    assert found.arcs[:2].tolist() == pytest.approx([0.5, 0.5])
    assert np.isfinite(found.arcs).all()


def test_zero_weights_in_any_order() -> None:
    """Vertices at the same distance are counted after those that arcs of length zero come from."""
    g = kl.Graph.from_edges([0, 0, 3, 2, 1, 4], [3, 4, 2, 1, 5, 1], [1, 1, 0, 0, 1, 0])
    trips = [(0, 5, 6), (0, 1, 2)]
    right, _ = split_loads(g, trips)
    found = kl.loads(g, as_arrays(trips), split=True)
    assert found.arcs.tolist() == [float(x) for x in right]


# ---- random graphs ------------------------------------------------------------------------------


@st.composite
def cases(draw: Any) -> tuple[kl.Graph, list[Trip]]:
    n = draw(st.integers(1, 9))
    vertex = st.integers(0, n - 1)
    arcs = draw(st.lists(st.tuples(vertex, vertex, st.integers(1, 4)), max_size=24))
    kind = draw(st.sampled_from([np.int32, np.int64, np.float32, np.float64, None]))
    s, t, w = ([a[i] for a in arcs] for i in range(3))
    weights = None if kind is None else np.array(w, dtype=kind)
    directed = draw(st.booleans())
    trips = draw(st.lists(st.tuples(vertex, vertex, st.integers(0, 5)), max_size=12))
    return kl.Graph.from_edges(s, t, weights, n=n, directed=directed), trips


@settings(max_examples=150)
@given(case=cases(), data=st.data())
def test_random_trips(case: tuple[kl.Graph, list[Trip]], data: Any) -> None:
    g, trips = case
    hops = data.draw(st.booleans())
    limit = data.draw(st.sampled_from([None, 0, 2, 4.5]))
    threads = data.draw(st.sampled_from([1, 2]))
    method = data.draw(st.sampled_from(["searches", "prepared"] if limit is None else ["auto"]))
    check(g, trips, hops, limit, method=method, threads=threads).verify()
    found = kl.loads(g, as_arrays(trips), split=True, hops=hops, limit=limit, threads=threads)
    right, assigned = split_loads(g, trips, hops, limit)
    assert np.allclose(found.arcs, np.array(right, dtype=float))
    require_conserved(g, found, trips, assigned)


# ---- tables, rows, labels -----------------------------------------------------------------------

STREETS = {
    "source": ["a", "b", "c", "a", "x"],
    "target": ["b", "c", "a", "b", "a"],
    "weight": [4, 1, 1, 3, 1],
    "oneway": ["no", "yes", "no", "no", "reverse"],
}


def test_flows_on_table_rows() -> None:
    g = kl.Graph.from_table(STREETS, directed="oneway")
    trips = {
        "origin": ["a", "b", "a", "x"],
        "destination": ["b", "a", "x", "a"],
        "volume": [1, 2, 4, 8],
    }
    found = kl.loads(g, trips)
    assert found.along.tolist() == [0, 2, 2, 1, 0]
    assert found.against.tolist() == [0, 0, 0, 0, 4]
    assert found.rows.tolist() == [0, 2, 2, 1, 4]
    assert found.unassigned.origins.tolist() == ["x"]
    assert found.unassigned.destinations.tolist() == ["a"]
    assert (found.unassigned.positions.tolist(), found.unassigned.total) == ([3], 8)
    assert found.top(1) == [("a", "x", 4.0)]
    frame = found.to_frame()
    assert frame.columns.tolist() == ["source", "target", "flow", "row", "against"]
    assert frame.groupby("row").flow.sum().tolist() == [2, 2, 1, 4]
    assert "volume 7 on 4 of 6 arcs, 8 without a path" in repr(found)


def test_demand_in_every_form(tmp_path: Any) -> None:
    pd = pytest.importorskip("pandas")
    g = kl.Graph.from_table(STREETS)
    table = {"origin": ["a", "b"], "destination": ["c", "a"], "volume": [3, 0.5]}
    right = kl.loads(g, table).arcs.tolist()
    matrix = np.zeros((g.n, g.n))
    matrix[g.index("a"), g.index("c")] = 3
    matrix[g.index("b"), g.index("a")] = 0.5
    others = pd.DataFrame({"from": ["a", "b"], "to": ["c", "a"], "cars": [3, 0.5]})
    names = {"origin": "from", "destination": "to", "volume": "cars"}
    assert kl.loads(g, others, **names).arcs.tolist() == right  # type: ignore[arg-type]
    arrays = [np.array(values) for values in table.values()]
    trips = list(zip(*table.values(), strict=True))
    for demand in (pd.DataFrame(table), tuple(table.values()), arrays, trips, matrix,
                   sp.csr_array(matrix), sp.coo_matrix(matrix)):  # fmt: skip
        found = kl.loads(g, demand)
        assert found.arcs.tolist() == right
        found.save(tmp_path / "flows.csv")
    assert (tmp_path / "flows.csv").read_text().startswith("source,target,flow,row,against\n")
    one_each = kl.loads(g, others, origin="from", destination="to", volume=None)
    for demand in ({"origin": ["a", "a"], "destination": ["b", "b"]}, [("a", "b"), ("a", "b")]):
        assert kl.loads(g, demand).volume == 2 == one_each.volume


def test_three_trips_are_not_three_columns() -> None:
    g = graph("nine_vertices")
    trips = [(0, 1, 2), (3, 4, 5), (6, 7, 8)]
    columns = tuple(map(list, zip(*trips, strict=True)))
    assert kl.loads(g, trips).arcs.tolist() == kl.loads(g, columns).arcs.tolist()
    for demand in (tuple(trips), list(map(list, trips))):
        with pytest.raises(kl.RequestError, match="a list"):
            kl.loads(g, demand)


def test_positions_in_a_matrix() -> None:
    g = graph("disconnected")
    found = kl.loads(g, np.ones((7, 7)))
    tail, head = np.unravel_index(found.unassigned.positions, (7, 7))
    assert np.array_equal(tail, found.unassigned.origins)
    assert np.array_equal(head, found.unassigned.destinations)
    assert np.isinf(kl.apsp(g).floats[tail, head]).all()


@pytest.mark.parametrize("demand", [{"origin": [], "destination": [], "volume": []}, ([], [], []),
                                    sp.csr_array((9, 9))])  # fmt: skip
@pytest.mark.parametrize("split", [False, True])
def test_empty_demand(demand: Any, split: bool) -> None:
    found = kl.loads(graph("nine_vertices"), demand, split=split)
    assert not found.arcs.any()
    assert not found.vertices.any()
    assert not len(found.unassigned)
    assert found.total_cost == found.volume == 0
    found.verify()


def test_large_integers_stay_exact() -> None:
    g = graph("long_path")
    volume = 2**52 + 1
    for method in ("searches", "prepared"):
        found = kl.loads(g, ([0, 3], [256, 256], [volume, 2]), method=method)
        assert found.arcs[100] == volume + 2


# ---- errors -------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("demand", "options", "says"),
    [
        (([0], [99], [1]), {}, "no vertex 99"),
        (([0], [1], [-2]), {}, "row 0 is -2"),
        (([0, 0], [1, 1], [1, math.nan]), {}, "row 1 is nan"),
        (([0], [1], [math.inf]), {}, "row 0 is inf"),
        (([0], [1], ["x"]), {}, "real numbers"),
        (([0], [1, 2], [1]), {}, "1 origins, 2 destinations and 1 volumes"),
        (([0], [1]), {}, "has 2 entries"),
        ((0, 1, 2), {}, "origins of demand must be an array"),
        ([(0, 1), (2,)], {}, "trip 1 of demand has 1 entries"),
        (7, {}, "must be a table"),
        (np.ones((12, 12)), {}, "12 x 12, but the graph has 9"),
        (sp.csr_array((9, 10)), {}, "9 x 10, but the graph has 9"),
        (sp.coo_array(np.ones(9)), {}, "square matrix, 9 x 9, not|of 1 x 9"),  # of old SciPy
        ({"origin": [0], "target": [1]}, {}, "no column 'destination'"),
        ({"origin": [0], "destination": [1]}, {"volume": "cars"}, "no column 'cars'"),
        (([0], [1], [1e308] * 1), {"limit": math.nan}, "limit"),
        (([0, 1], [1, 2], [1e308, 1e308]), {}, "add up"),
        (([0], [1], [1]), {"method": "fast"}, "method"),
        (([0], [1], [1]), {"method": "prepared", "limit": 3}, "does not take a limit"),
        (([0], [1], [1]), {"method": "prepared", "split": True}, "does not take split=True"),
        (([0], [1], [1]), {"split": 3}, "split"),
    ],
)  # fmt: skip
def test_bad_demand(demand: Any, options: Any, says: str) -> None:
    with pytest.raises(kl.KleeneError, match=says):
        kl.loads(graph("nine_vertices"), demand, **options)


def test_a_negative_volume_in_a_matrix() -> None:
    with pytest.raises(kl.RequestError, match=r"row 1, column 2 is -1: leave out 1 such trip$"):
        kl.loads(graph("nine_vertices"), sp.coo_array(([-1.0], ([1], [2])), shape=(9, 9)))


def test_a_table_has_rows() -> None:
    pandas = pytest.importorskip("pandas")
    table = pandas.DataFrame({"origin": [0, 1], "destination": [1, 2], "volume": [1, math.nan]})
    with pytest.raises(kl.RequestError, match="row 1 is nan"):
        kl.loads(graph("nine_vertices"), table)


@pytest.mark.filterwarnings("ignore:the matrix subclass")
def test_a_matrix_of_numpy_is_a_matrix() -> None:
    g, demand = graph("nine_vertices"), np.eye(9, k=1)
    found = kl.loads(g, np.matrix(demand))
    assert found.arcs.tolist() == kl.loads(g, demand).arcs.tolist()


@pytest.mark.parametrize("device", ["cuda", "emulated"])
def test_a_device_that_loads_never_have(device: str) -> None:
    with pytest.raises(kl.RequestError, match="loads does not run on device") as caught:
        kl.loads(graph("nine_vertices"), [(0, 1)], device=device)
    assert "runs the same" not in str(caught.value)


def test_weights_that_are_refused() -> None:
    trips = ([0], [1], [1])
    with pytest.raises(kl.RequestError, match=r"non-negative.*kl.prepare"):
        kl.loads(graph("negative_acyclic"), trips)
    with pytest.raises(kl.RequestError, match="non-negative weights"):
        kl.loads(kl.prepare(graph("negative_acyclic")), trips, split=True)
    with pytest.raises(kl.RequestError, match="cycle"):
        kl.loads(graph("zero_cycle"), trips, split=True)
    swallowed = kl.Graph.from_edges([0, 1, 2, 2], [1, 2, 1, 3], [1e20, 1, 1, 1])
    for device in ("cpu", "reference"):
        with pytest.raises(kl.RequestError, match=r"adds nothing.*a cycle"):
            kl.loads(swallowed, ([0], [3], [1]), split=True, device=device)
    kl.loads(swallowed, ([0], [3], [1])).verify()
    with pytest.raises(kl.RequestError, match="max_min"):
        kl.loads(kl.prepare(graph("grid"), semiring="max_min"), trips)
    with pytest.raises(kl.GraphError, match=r"expected a kleene\.Graph"):
        kl.loads("roads", trips)  # type: ignore[arg-type]
    with pytest.raises(kl.RequestError, match="keep_rows"):
        kl.loads(kl.Graph.from_edges([0], [1], keep_rows=False), trips).rows  # noqa: B018


# ---- plans and progress --------------------------------------------------------------------------


def test_the_plan_says_what_runs() -> None:
    grid = kl.generate.grid(60, 60, weights=(1, 9), seed=2)
    assert kl.explain(grid, "loads", sources=[0, 1]).method == "searches"
    assert kl.explain(kl.prepare(grid), "loads", sources=[0, 1]).method == "prepared"
    assert kl.explain(graph("grid"), "loads", device="reference").method == "plain"
    trips = ([0, 3], [9, 800], [1, 1])
    assert kl.loads(kl.prepare(grid), trips).plan.method == "prepared"
    assert kl.loads(kl.prepare(grid), trips, split=True).plan.method == "searches"
    assert kl.loads(kl.prepare(grid), trips, limit=3).plan.method == "searches"
    hops = kl.loads(kl.prepare(grid), trips, hops=True)
    assert hops.total_cost == kl.bfs(grid, 0).distances[9] + kl.bfs(grid, 3).distances[800]


def test_progress_and_threads() -> None:
    g = graph("grid")
    trips = ([v % 30 for v in range(40)], [(7 * v) % 100 for v in range(40)], [1] * 40)
    seen: list[tuple[int, int]] = []
    for method, of in (("searches", 30), ("prepared", 40), ("plain", 30)):
        device = "reference" if method == "plain" else "cpu"
        kl.loads(
            g, trips, method=method, device=device, threads=2,
            progress=lambda *at: seen.append(at),
        )  # fmt: skip
        assert seen[-1] == (of, of)


@pytest.mark.parametrize("method", ["searches", "prepared"])
def test_an_error_in_progress_ends_the_call(method: str) -> None:
    def stop(done: int, total: int) -> None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        kl.loads(graph("grid"), ([0], [9], [1]), method=method, progress=stop)


# ---- on maps ------------------------------------------------------------------------------------


def test_flows_on_a_map() -> None:
    """A line for each row, as the table has it, whichever way its trips go."""
    streets = {"source": ["a", "c", "b"], "target": ["b", "b", "d"], "oneway": ["no", "yes", "no"]}
    g = kl.Graph.from_table(streets, weight=None, directed="oneway")
    places = {"a": (9, 48), "b": (9, 49), "c": (8, 49), "d": (7, 50)}
    g = g.with_positions(places, crs="EPSG:4326")
    assert g.rows is not None
    bend = np.array([[9, 48], [9.5, 48.5], [9, 49]])
    g = g._derived(g.csr, rows=g.rows.with_lines(Lines(np.array([0, 3, 3, 3]), bend)))
    demand = (["a", "b", "c"], ["d", "a", "a"], [4.0, 2, 1])
    whole = kl.loads(g, demand).to_geojson()
    assert [each["properties"] for each in whole["features"]] == [
        {"row": 0, "along": 4, "against": 3, "flow": 7, "source": "a", "target": "b"},
        {"row": 1, "along": 1, "against": 0, "flow": 1, "source": "c", "target": "b"},
        {"row": 2, "along": 4, "against": 0, "flow": 4, "source": "b", "target": "d"},
    ]
    lines = [each["geometry"]["coordinates"] for each in whole["features"]]
    assert lines == [bend.tolist(), [[8, 49], [9, 49]], [[9, 49], [7, 50]]]
    back = kl.loads(g.transpose(), ([*demand[1]], [*demand[0]], demand[2])).to_geojson()
    assert [each["geometry"] for each in back["features"]] == [
        each["geometry"] for each in whole["features"]
    ]
    part = kl.loads(g.subgraph(["b", "d"]), (["d"], ["b"], [3.0])).to_geojson()
    assert [each["properties"] for each in part["features"]] == [
        {"row": 2, "along": 0, "against": 3, "flow": 3, "source": "b", "target": "d"}
    ]


def test_flows_without_a_table_are_those_of_arcs(tmp_path: Path) -> None:
    g = kl.Graph.from_csr([0, 1, 2], [1, 0]).with_positions([(0, 0), (1, 1)])
    flows = kl.loads(g, ([0], [1], [5.0]))
    flows.save(tmp_path / "flows.geojson")
    assert json.loads((tmp_path / "flows.geojson").read_text()) == flows.to_geojson()
    assert [each["properties"] for each in flows.to_geojson()["features"]] == [
        {"flow": 5, "source": 0, "target": 1}, {"flow": 0, "source": 1, "target": 0},
    ]  # fmt: skip
    flows.save(tmp_path / "flows.csv")
    assert len((tmp_path / "flows.csv").read_text().splitlines()) == 3


def test_flows_without_places() -> None:
    flows = kl.loads(kl.generate.path(3), ([0], [1], [5.0]))
    with pytest.raises(kl.GraphError, match=r"no positions: .* with graph.with_positions"):
        flows.to_geojson()
    far = kl.loads(kl.generate.path(2).with_positions([(0, 0), (500, 0)]), ([0], [1], [5.0]))
    with pytest.raises(kl.GraphError, match="in degrees, and a position is"):
        far.to_geojson()
