"""Names that are not there: the error says which was meant, or what to use instead."""

from __future__ import annotations

import re
from collections.abc import Callable

import networkx as nx
import pytest

import kleene as kl
from kleene.interop.names import USE_INSTEAD
from kleene.planning.ask import Ask
from kleene.planning.facts import Facts
from kleene.planning.plan import make_plan
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
    for advice in USE_INSTEAD.values():
        for name in re.findall(r"kl\.(\w+)", advice):
            assert name in kl.__all__, advice
        for name in re.findall(r"kl\.Graph\.(\w+)", advice):
            assert hasattr(kl.Graph, name), advice
        for name in re.findall(r"result\.(\w+)", advice):
            assert hasattr(kl.Result, name), advice


def test_no_suggestion_for_what_is_not_a_name() -> None:
    assert did_you_mean(None, ["none"]) == ""
    assert did_you_mean("", ["none"]) == ""
    assert did_you_mean("zzz", []) == ""
