"""Answers: rows in memory, on a device and in stores, with and without what is computed late."""

from __future__ import annotations

import copy
import os
import pickle
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import kleene as kl
from kleene.backends.answer import Answer, KeptRows, LatePredecessors, WholeRows
from kleene.backends.cuda.answer import kept_answer
from kleene.backends.cuda.runtime.device import open_device
from kleene.stores.load import StoredRows, answer_in_store
from kleene.stores.npy import NpyWriter
from kleene.stores.writer import StoreSpec, StoreWriter
from kleene.stores.zarr import ZarrWriter

G = kl.generate.grid(4, 5, weights=(1, 9), seed=2)
RIGHT = kl.apsp(G)
VALUES, LINKS = RIGHT.distances, RIGHT.predecessors
SOURCES, TARGETS = np.arange(G.n, dtype=np.int32), np.array([7, 3, 11], np.int32)

pytestmark = pytest.mark.skipif(os.name != "posix", reason="stores need signals")

Hold = Callable[[Any, Any], Answer]


def in_memory(values: Any, links: Any) -> Answer:
    return Answer(values, links)


def on_device(values: Any, links: Any) -> Answer:
    device: Any = open_device("emulated")
    kept = (None if rows is None else device.upload(rows, "rows") for rows in (values, links))
    return kept_answer(KeptRows(device, *kept))


def in_store(writer: type[StoreWriter], path: Path) -> Hold:
    def hold(values: Any, links: Any) -> Answer:
        kind = None if links is None else str(links.dtype)
        spec = StoreSpec({}, "", "", values.shape, str(values.dtype), kind, 6)
        files = writer(path, spec)
        files.create({})
        for piece in spec.pieces:
            rows = slice(piece.first, piece.stop)
            files.write(piece, values[rows], None if links is None else links[rows])
        files.finish()
        return answer_in_store(files)

    return hold


@pytest.fixture(params=["memory", "device", "npy", "zarr"])
def hold(request: pytest.FixtureRequest, tmp_path: Path) -> Hold:
    """Return what puts rows where answers are held, and returns the answer."""
    writers = {"npy": NpyWriter, "zarr": ZarrWriter}
    if request.param in writers:
        return in_store(writers[request.param], tmp_path / f"d.{request.param}")
    return in_memory if request.param == "memory" else on_device


class Computed:
    """Rows of the right answer, and what was asked for."""

    def __init__(self) -> None:
        self.asked: list[tuple[str, int]] = []

    def predecessors(self, sources: Any) -> Any:
        self.asked.append(("predecessors", len(sources)))
        return LINKS[sources]

    def rows(self, sources: Any) -> Answer:
        self.asked.append(("rows", len(sources)))
        return Answer(VALUES[sources], LINKS[sources])

    def walks(self, source: int, vertices: Any) -> Any:
        self.asked.append(("walks", len(vertices)))
        paths = [RIGHT.path(source, vertex) for vertex in vertices.tolist()]
        return np.concatenate(paths), np.cumsum([0, *map(len, paths)])


def twins(answer: Answer) -> list[Answer]:
    return [answer, pickle.loads(pickle.dumps(answer)), copy.deepcopy(answer)]


def right_rows(found: Answer, which: Any) -> None:
    assert isinstance(found.values, np.ndarray)
    assert isinstance(found.predecessors, np.ndarray)
    np.testing.assert_array_equal(found.values, VALUES[which])
    np.testing.assert_array_equal(found.predecessors, LINKS[which])


def test_rows_wherever_they_are(hold: Hold) -> None:
    made = hold(VALUES, LINKS)
    horizons = np.arange(G.n)
    for answer in twins(Answer(made.values, made.predecessors, horizons)):
        assert (answer.on_demand, answer.has_paths) == (False, True)
        assert (answer.values.shape, answer.values.dtype) == (VALUES.shape, VALUES.dtype)
        some = answer.rows(np.array([6, 2]))
        right_rows(some, [6, 2])
        assert some.horizons is not None
        assert some.horizons.tolist() == [6, 2]
        assert answer.at(4, TARGETS).tolist() == VALUES[4, TARGETS].tolist()
        np.testing.assert_array_equal(answer.at(slice(2, 5), TARGETS), VALUES[2:5, TARGETS])
        np.testing.assert_array_equal(answer.links(slice(3, 5)), LINKS[3:5])
        np.testing.assert_array_equal(answer.values[-1], VALUES[-1])
        assert answer.walks(4, TARGETS) is None
        right_rows(Answer(answer.whole_values, answer.whole_predecessors), slice(None))


def test_predecessors_on_demand_wherever_values_are(hold: Hold) -> None:
    computed, values = Computed(), hold(VALUES, None).values
    answer = Answer(values, LatePredecessors(SOURCES, computed))
    assert (answer.on_demand, answer.has_paths) == (True, True)
    np.testing.assert_array_equal(answer.at(slice(2, 5), TARGETS), VALUES[2:5, TARGETS])
    assert not computed.asked
    right_rows(answer.rows(np.array([6, 2])), [6, 2])
    np.testing.assert_array_equal(answer.links(slice(3, 6)), LINKS[3:6])
    np.testing.assert_array_equal(answer.predecessors[5], LINKS[5])
    assert computed.asked == [("predecessors", count) for count in (2, 3, 1)]
    assert answer.on_demand
    np.testing.assert_array_equal(answer.links(slice(0, G.n)), LINKS)
    assert not answer.on_demand
    for twin in twins(answer):
        np.testing.assert_array_equal(twin.links(slice(3, 6)), LINKS[3:6])
        right_rows(twin.rows(SOURCES), slice(None))
        assert not twin.on_demand
    assert len(computed.asked) == 4, "they are kept"


def test_a_copy_computes_predecessors_first() -> None:
    for twin in twins(Answer(VALUES, LatePredecessors(SOURCES, Computed())))[1:]:
        assert not twin.on_demand
        right_rows(twin, slice(None))


@pytest.mark.parametrize("paths", [True, False])
def test_whole_rows_on_demand_wherever_the_targets_are(hold: Hold, paths: bool) -> None:
    computed, block = Computed(), hold(VALUES[:, TARGETS], None).values
    answer = Answer(block, None, rest=WholeRows(SOURCES, TARGETS, computed, paths))
    assert (answer.on_demand, answer.has_paths) == (True, paths)
    for vertices in (TARGETS, TARGETS[::-1], TARGETS[1:]):
        np.testing.assert_array_equal(answer.at(slice(2, 5), vertices), VALUES[2:5, vertices])
        np.testing.assert_array_equal(answer.at(4, vertices), VALUES[4, vertices])
    assert not computed.asked
    right_rows(answer.rows(np.array([6, 2])), [6, 2])
    links, walks = answer.links(slice(3, 6)), answer.walks(4, TARGETS)
    if paths:
        np.testing.assert_array_equal(links, LINKS[3:6])
        assert walks is not None
        assert walks[0][: walks[1][1]].tolist() == RIGHT.path(4, 7)
        assert computed.asked == [("rows", 2), ("rows", 3), ("walks", 3)]
    else:
        assert (links, walks, answer.whole_predecessors) == (None, None, None)
        assert computed.asked == [("rows", 2)]
    computed.asked.clear()
    np.testing.assert_array_equal(answer.whole_values, VALUES)
    if paths:
        np.testing.assert_array_equal(answer.whole_predecessors, LINKS)
        np.testing.assert_array_equal(answer.links(slice(3, 6)), LINKS[3:6])
    assert computed.asked == [("rows", G.n)], "they are kept"
    for twin in twins(answer)[1:]:
        np.testing.assert_array_equal(twin.at(slice(None), TARGETS), VALUES[:, TARGETS])
        assert twin.rest is not None
        assert twin.rest.paths == paths


@pytest.mark.parametrize("writer", [NpyWriter, ZarrWriter])
def test_rows_in_a_store_stay_there(writer: type[StoreWriter], tmp_path: Path) -> None:
    """A pickle carries none, not even those that were read."""
    answer = in_store(writer, tmp_path / "d")(VALUES, LINKS)
    before = len(pickle.dumps(answer))
    right_rows(answer.rows(SOURCES), slice(None))
    np.testing.assert_array_equal(answer.whole_values, VALUES)
    assert answer.whole_values is answer.whole_values
    assert len(pickle.dumps(answer)) == before
    assert isinstance(copy.deepcopy(answer).values, StoredRows)


def test_a_copy_of_what_a_device_holds_is_in_memory() -> None:
    answer = on_device(VALUES, LINKS)
    assert answer.kept is not None
    for twin in twins(answer)[1:]:
        assert twin.kept is None
        right_rows(twin, slice(None))
