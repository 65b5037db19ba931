"""Names that are not there: the error says which was meant, or what to use instead."""

from __future__ import annotations

import pickle
import re
from collections.abc import Callable
from importlib import import_module
from inspect import isfunction, signature
from typing import Any

import networkx as nx
import pytest

import kleene as kl
from kleene.planning.ask import Ask
from kleene.planning.facts import Facts
from kleene.planning.plan import make_plan
from kleene.system.hints import ATTRIBUTES, KEYWORDS, USE_INSTEAD
from kleene.system.machine import Machine
from kleene.system.suggestions import did_you_mean

GRAPH = kl.Graph.from_edges([0, 1], [1, 2], [3, 4])


@pytest.mark.parametrize(
    ("call", "error", "message"),
    [
        (lambda: kl.sssp(GRAPH, 0, method="djikstra"), kl.RequestError, "did you mean 'dijkstra'?"),
        (lambda: kl.sssp(GRAPH, 0, method="Bellman-Ford"), kl.RequestError, "'bellman_ford'?"),
        (lambda: kl.sssp(GRAPH, 0, method="delta"), kl.RequestError, "mean 'delta_stepping'?"),
        (
            lambda: kl.sssp(GRAPH, 0, method="floyd_warshall"), kl.RequestError,
            "'floyd_warshall' is a method of apsp and closure",
        ),
        (
            lambda: kl.sssp(GRAPH, 0, method="near_far", device="cpu"), kl.RequestError,
            "'near_far' is for device 'cuda' and 'emulated'",
        ),
        (lambda: kl.sssp(GRAPH, 0, device="gpu"), kl.RequestError, "did you mean 'cuda'?"),
        (lambda: kl.sssp(GRAPH, 0, dtype="flaot32"), kl.RequestError, "did you mean 'float32'?"),
        (lambda: kl.closure(GRAPH, "minplus"), kl.RequestError, "did you mean 'min_plus'?"),
        (lambda: kl.closure(GRAPH, "bottleneck"), kl.RequestError, "did you mean 'max_min'?"),
        (lambda: kl.spmv(GRAPH, [1, 1, 1], form="crs"), kl.RequestError, "there are 'csr'"),
        (lambda: kl.explain(GRAPH, "appsp"), kl.RequestError, "did you mean 'apsp'?"),
        (lambda: kl.methods("ssp"), kl.RequestError, "did you mean 'sssp'?"),
        (lambda: kl.methods("sssp", "cdua"), kl.RequestError, "did you mean 'cuda'?"),
        (lambda: GRAPH.to("gpu"), kl.DeviceError, "did you mean 'cuda'?"),
        (lambda: kl.Graph(nx.path_graph(3)), kl.GraphError, "not networkx.Graph; make a graph"),
        (lambda: kl.Graph(3), kl.GraphError, "not int; make a graph with Graph.from_any"),
        (lambda: kl.bfs(nx.path_graph(3), 0), kl.GraphError, "not networkx.Graph; make one"),
    ],
)  # fmt: skip
def test_the_error_names_what_was_meant(
    call: Callable[[], object], error: type[Exception], message: str
) -> None:
    with pytest.raises(error) as caught:
        call()
    assert message in str(caught.value)


def test_methods_of_this_machine_come_first() -> None:
    facts = Facts(10, 20, "int32", 1, 9, 90)
    ask = Ask.of("sssp", method="magic")
    for devices, first in ((("cpu", "reference"), "dijkstra"), (("cuda", "cpu"), "near_far")):
        with pytest.raises(kl.RequestError, match=f"there are '{first}'") as caught:
            make_plan(facts, ask, Machine(2, None, "", devices))
        assert "'bellman_ford_plain'" in str(caught.value)  # all are named


@pytest.mark.parametrize(
    ("name", "advice"),
    [
        ("dijkstra", "use kl.sssp(graph, source)"),
        ("bellman_ford", "use kl.sssp(graph, source)"),
        ("shortest_path", "kl.sssp(graph, source).path(target)"),
        ("floyd_warshall", "use kl.apsp(graph)"),
        ("verify", "use result.verify()"),
        ("connected_components", "use kl.components(graph)"),
        ("from_edges", "use kl.Graph.from_edges(...)"),
        ("from_networkx", "use kl.Graph.from_networkx(...)"),
        ("DiGraph", "use kl.Graph.from_any(thing)"),
        ("load", "use kl.read(path)"),
        ("save", "use kl.write(graph, path)"),
        ("plot", "use kl.draw(graph)"),
        ("apps", "did you mean 'apsp'?"),
        ("grpah", "did you mean 'Graph'?"),
        ("Results", "did you mean 'Result'?"),
    ],
)
def test_names_of_other_libraries(name: str, advice: str) -> None:
    with pytest.raises(AttributeError, match=f"has no attribute '{name}'; ") as caught:
        getattr(kl, name)
    assert advice in str(caught.value)
    assert not hasattr(kl, name)


def test_names_without_advice() -> None:
    for name in ("xyzzy", "__wrapped__", "_repr_html_"):
        with pytest.raises(AttributeError, match=f"has no attribute '{name}'$"):
            getattr(kl, name)


def test_advice_names_what_exists() -> None:
    """Advice that names a function that was renamed, or that hides one, fails here."""
    public = {name.lower().replace("_", "") for name in kl.__all__}
    assert not public & set(USE_INSTEAD)
    for advice in [*USE_INSTEAD.values(), *ATTRIBUTES.values(), *(h for _, _, h in KEYWORDS)]:
        for name in re.findall(r"kl\.(\w+)", advice):
            assert name in kl.__all__, advice
        for name in re.findall(r"kl\.Graph\.(\w+)", advice):
            assert hasattr(kl.Graph, name), advice
        for name in re.findall(r"result\.(\w+)", advice):
            assert hasattr(kl.Result, name), advice
        for name in re.findall(r"\bg\.(\w+)", advice):
            assert hasattr(kl.Graph, name) or name == "n", advice


def functions() -> dict[str, Any]:
    return {name: one for name in kl.__all__ if isfunction(one := getattr(kl, name))}


def test_keywords_of_other_libraries_say_what_to_write_here() -> None:
    """Each row of the table is met by a function, and never says what a function has."""
    met = set()
    methods = [kl.Result.route, kl.Graph.nearest_vertex, kl.Graph.from_geopandas]
    for function in [*functions().values(), *methods]:
        known = signature(function).parameters
        if any(one.kind is one.VAR_KEYWORD for one in known.values()):
            continue  # it passes on what it does not know
        for row in KEYWORDS:
            names, ours, hint = row
            for name in names:
                if ours in known and name not in known:
                    with pytest.raises(TypeError, match="unexpected keyword") as caught:
                        function(**{name: None})
                    if str(caught.value).endswith(hint):
                        met.add(row)
    assert met == set(KEYWORDS)


@pytest.mark.parametrize(
    ("call", "advice"),
    [
        (lambda g: kl.sssp(g, 0, target=5), "use targets=[...]"),
        (lambda g: kl.sssp(g, 0, cutoff=5), "use limit="),
        (lambda g: kl.ego(g, 0, cutoff=5), "use radius="),
        (lambda g: kl.betweenness(g, k=5), "use samples="),
        (lambda g: kl.betweenness(g, weight=None), "hops=True counts arcs"),
        (lambda g: kl.apsp(g, weight="km"), "weights belong to the graph"),
        (lambda g: kl.apsp(g, thread=2), "did you mean 'threads'?"),
        (lambda g: kl.sssp(g, 1).route(3, source=1), "route(source, target)"),
        (lambda g: g.nearest_vertex(X=1, Y=2), "use x="),
        (lambda g: g.nearest_vertex(1, 2, mapping_distance=5), "use max_distance="),
        (lambda g: g.from_geopandas(None, oneway="oneway"), "use directed="),
    ],
)
def test_hints_on_keywords(call: Any, advice: str) -> None:
    with pytest.raises(TypeError, match="unexpected keyword argument '") as caught:
        call(kl.datasets.rome())
    assert advice in str(caught.value)


def test_a_prepared_graph_says_how_it_gets_new_weights() -> None:
    prepared = kl.prepare(kl.generate.grid(2, 2, weights=(1, 9)))
    said = "'PreparedGraph' object has no attribute 'reweight'; use p.customize(weights)"
    with pytest.raises(AttributeError, match=re.escape(said)):
        prepared.reweight([1, 2])  # type: ignore[attr-defined]
    assert not hasattr(prepared, "update")


def test_other_errors_of_types_stay() -> None:
    g = kl.datasets.rome()
    with pytest.raises(TypeError, match=r"unexpected keyword argument 'xyzzy'$"):
        kl.apsp(g, xyzzy=2)  # type: ignore[call-arg]
    with pytest.raises(TypeError, match=r"missing 1 required positional argument: 'graph'$"):
        kl.apsp()  # type: ignore[call-arg]

    def fail(done: int, total: int) -> None:
        raise TypeError("got an unexpected keyword argument 'cutoff'")

    with pytest.raises(TypeError, match=r"argument 'cutoff'$"):  # of the user's own function
        kl.apsp(g, sources=range(1, 64), progress=fail)


def test_public_functions_can_be_pickled_and_looked_at() -> None:
    for name, function in functions().items():
        assert pickle.loads(pickle.dumps(function)) is function, name
        module = import_module(function.__wrapped__.__module__)
        assert signature(function) == signature(getattr(module, name))
        assert function.__doc__ == getattr(module, name).__doc__


@pytest.mark.parametrize(
    ("name", "advice"),
    [
        ("nodes", "use g.label"),
        ("number_of_nodes", "use g.n"),
        ("nearest_nodes", "use g.nearest_vertex(x, y).vertices"),
        ("get_node_ids", "use g.nearest_vertex(x, y).vertices"),
        ("shortest_paths", "use kl.sssp(graph, source)"),
        ("xyzzy", "has no attribute 'xyzzy'"),
        ("_xyzzy", "has no attribute '_xyzzy'"),
    ],
)
def test_missing_attributes_of_graphs(name: str, advice: str) -> None:
    g = kl.generate.grid(4, 4, weights=(1, 9))
    with pytest.raises(AttributeError) as caught:
        getattr(g, name)
    assert f"; {advice}" in str(caught.value) or str(caught.value).endswith(advice)
    assert not hasattr(g, name)


def test_no_suggestion_for_what_is_not_a_name() -> None:
    assert did_you_mean(None, ["none"]) == ""
    assert did_you_mean("", ["none"]) == ""
    assert did_you_mean("zzz", []) == ""
