"""docs/names.md: every name that it maps exists, there and here."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

import kleene as kl

PAGE = Path(__file__).parents[1] / "docs" / "names.md"
COLUMNS = ["NetworkX", "igraph", "NetworKit", "Kleene"]


def cells(column: str) -> Iterator[str]:
    """Yield what a column has in backquotes, in the tables of four columns."""
    for line in PAGE.read_text().splitlines():
        row = [cell.strip() for cell in line.strip("|").split("|")]
        if len(row) == len(COLUMNS) and row[0] not in ("NetworkX", "---"):
            yield from re.findall(r"`([^`]+)`", row[COLUMNS.index(column)])


def missing(column: str, has: Callable[[str], bool]) -> list[str]:
    names = list(cells(column))
    assert len(names) > 15
    return [name for name in names if not has(name)]


def test_names_of_networkx() -> None:
    nx = pytest.importorskip("networkx")
    assert missing("NetworkX", lambda name: hasattr(nx, name)) == []


def test_names_of_igraph() -> None:
    igraph = pytest.importorskip("igraph")
    assert missing("igraph", lambda name: hasattr(igraph.Graph, name)) == []


def test_names_of_networkit() -> None:
    nk = pytest.importorskip("networkit")
    modules = (nk.distance, nk.centrality, nk.components, nk.reachability)

    def has(name: str) -> bool:
        kind, _, method = name.partition(".")
        found: list[Any] = [getattr(module, kind) for module in modules if hasattr(module, kind)]
        return bool(found) and (not method or hasattr(found[0], method))

    assert missing("NetworKit", has) == []


def test_the_calls_of_kleene_run() -> None:
    g = kl.generate.grid(3, 3)
    names = {
        "kl": kl, "g": g, "s": 0, "t": 8, "v": 4, "k": 2, "radius": 1, "targets": [4, 8],
        "facilities": [0, 8], "sources": [0, 8], "a": [0, 1], "b": [7, 8], "vertices": [0, 1],
        "demand": ([0], [8], [2.0]),
    }  # fmt: skip
    for call in cells("Kleene"):
        if call.startswith(("kl.", "g.")):
            eval(call.replace("samples=1000", "samples=4"), dict(names))
