"""What rows of the registry say of themselves, held to what their functions do."""

from __future__ import annotations

import ast
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from test_methods import ROWS, label, solve, some_sources
from test_methods_native import functions

import kleene as kl
from kleene.backends.task import BetweennessTask, LoadsTask
from kleene.registry import Method, Size, methods
from kleene.registry.measures import HOPS_ONLY
from kleene.system.machine import this_machine

HERE = [row for row in methods() if row.device in this_machine().devices]


def of(**fields: Any) -> list[Method]:
    return [row for row in HERE if all(getattr(row, name) == is_ for name, is_ in fields.items())]


# ---- makes --------------------------------------------------------------------------------------

#: What functions return whose answers have a class of their own.
FORMS = {"Answer": "rows", "WithinAnswer": "sparse", "LoadsAnswer": "sums"}


@pytest.mark.parametrize("row", methods(), ids=label)
def test_functions_return_the_first_form(row: Method) -> None:
    module, name = row.entry.split(":")
    returned = functions(module)[name].returns
    assert returned is not None
    made = FORMS.get(ast.unparse(returned))
    assert row.makes[0] == made if made else row.makes[0] not in ("rows", "sparse")


def town() -> kl.Graph:
    return kl.generate.grid(7, 9, drop=0.1, weights=(1, 9), seed=3)


@pytest.mark.parametrize("row", of(problem="betweenness", makes=("sums",)), ids=label)
def test_betweenness_of_parts_adds_up(row: Method) -> None:
    g = town()
    every, hops = np.arange(g.n, dtype=g.id_dtype), row.name in HOPS_ONLY
    for targets in (None, every[5:40]):  # of all pairs, trees may be folded first
        task = BetweennessTask(g, every, targets, hops, None, False, True, 2, device=row.device)
        first, second = (
            row.load()(replace(task, sources=part)) for part in (every[:17], every[17:])
        )
        for sums, some, others in zip(row.load()(task), first, second, strict=True):
            np.testing.assert_allclose(some + others, sums, atol=1e-9)


@pytest.mark.parametrize("row", of(problem="loads"), ids=label)
def test_loads_of_parts_add_up(row: Method) -> None:
    g, rng = town(), np.random.default_rng(4)
    origins, destinations = rng.integers(0, g.n, (2, 50)).astype(g.id_dtype)
    whole = LoadsTask(
        g, origins, destinations, rng.random(50), False, False, None, np.dtype(np.int32), False, 2
    )

    def arcs(trips: slice) -> Any:
        names = ("origins", "destinations", "volumes")
        found = row.load()(replace(whole, **{name: getattr(whole, name)[trips] for name in names}))
        return found.arcs

    assert arcs(slice(None)).any()
    np.testing.assert_allclose(arcs(slice(0, 21)) + arcs(slice(21, None)), arcs(slice(None)))


# ---- cuts ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("row", methods(), ids=label)
def test_what_is_never_cut_holds_a_matrix_or_has_no_parts(row: Method) -> None:
    """One row of a matrix takes the memory of all; one search takes far less."""
    if "rows" in row.makes:
        n, m, item = 10_000, 40_000, 4
        size = Size(n, m, 1, item, False)
        work = row.workspace(size) + (row.device_memory(size) if row.device_memory else 0)
        assert (work >= item * n * n) == (row.cuts == "never")
    else:
        assert (row.makes == ("value",)) == (row.cuts == "never")


@pytest.mark.parametrize("row", [row for row in ROWS if row.cuts == "rows"], ids=label)
def test_some_rows_are_those_of_all(row: Method) -> None:
    """However sources are cut, values are the same: of floats too, bit for bit."""
    g, semiring = awkward(np.float32), row.semirings[0]
    sources = np.array(some_sources(row, g))
    options = {} if row.problem == "bfs" else {"dtype": "float32"}
    whole = solve(row, g, semiring, sources=sources, **options)
    for part in (slice(0, 1), slice(1, 7), slice(7, None)):
        some = solve(row, g, semiring, sources=sources[part], **options)
        assert some.distances.tobytes() == whole.distances[part].tobytes()


# ---- order --------------------------------------------------------------------------------------


def awkward(dtype: Any) -> kl.Graph:
    """Lengths of all sizes, so that sums round at nearly every arc, on a road-like graph."""
    g, rng = kl.generate.grid(9, 9), np.random.default_rng(6)
    return g.reweight(arcs=(10.0 ** rng.uniform(-3, 3, g.m)).astype(dtype))


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("row", [row for row in ROWS if row.problem != "bfs"], ids=label)
def test_sums_arc_by_arc_are_the_same_bits(row: Method, dtype: Any) -> None:
    """And others are not, but for Johnson's algorithm, whose order shows at negative weights."""
    g = awkward(dtype)
    sources = some_sources(row, g)
    wanted = kl.sssp(g, sources=sources, method="dijkstra", device="reference")
    found = solve(row, g, "min_plus", sources=sources)
    same = found.distances.tobytes() == wanted.distances.tobytes()
    assert same == (row.order == "arc by arc" or row.name == "johnson")
