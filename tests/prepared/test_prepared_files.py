"""``.kp`` files: what is saved comes back mapped."""

from __future__ import annotations

import gc
import gzip
import io
import mmap
import os
import zipfile
from pathlib import Path
from typing import Any

import numpy as np
import prepared_reference
import pytest
from prepared_city import city, prepared, require_same, save_city

import kleene as kl
from kleene.prepared import files
from kleene.prepared.cache import Preparation
from kleene.prepared.customization import Customization


@pytest.fixture
def saved(tmp_path: Path) -> Path:
    return save_city(tmp_path)


# ---- round trips --------------------------------------------------------------------------------


@pytest.mark.parametrize("dtype", ["int32", "int64", "float32", "float64"])
@pytest.mark.parametrize("semiring", ["min_plus", "max_min"])
def test_what_is_saved_is_loaded(tmp_path: Path, semiring: str, dtype: str) -> None:
    parts = prepared(kl.generate.uniform(40, 90, weights=(1, 9), seed=2), semiring, dtype)
    files.save(tmp_path / "a.kp", *parts)
    require_same(files.load(tmp_path / "a.kp"), parts)


def test_other_semirings_and_negative_weights(tmp_path: Path) -> None:
    g = kl.generate.tree(30, weights=(0.25, 1.0), seed=1)
    streets = kl.Graph.from_edges([0, 1, 2], [1, 2, 3], [4, -9, 2])
    for parts in (
        prepared(g, "max_times", np.float64),
        prepared(g, "boolean", bool),
        prepared(streets, dtype=np.int64),
        prepared(kl.generate.cycle(9)),  # no weights
        prepared(kl.Graph.from_edges([], [], n=5)),
        prepared(kl.Graph.from_edges([], [], n=0)),
    ):
        files.save(tmp_path / "a.kp", *parts)
        require_same(files.load(tmp_path / "a.kp"), parts)


def test_labels_positions_and_rows_are_kept(tmp_path: Path) -> None:
    table = {"source": ["a", "b", "a"], "target": ["b", "c", "b"], "weight": [5, 6, 2]}
    g = kl.Graph.from_table(table).with_positions([(0, 0), (1, 2), (3, 4)])
    files.save(tmp_path / "a.kp", *prepared(g))
    loaded = files.load(tmp_path / "a.kp")
    require_same(loaded, prepared(g))
    assert loaded[0].reweight(rows=[1, 2, 3]).weights.tolist() == [1, 2]


def test_one_array_for_both_directions(tmp_path: Path) -> None:
    g, elimination, made = prepared(city())
    both = Customization(made.semiring, made.dtype, made.negative, made.up, made.up)
    files.save(tmp_path / "a.kp", g, elimination, both)
    assert files.load(tmp_path / "a.kp")[2].symmetric
    with np.load(tmp_path / "a.kp") as archive:
        assert "prepared_down" not in archive


def test_values_of_32_bits_for_answers_of_64(tmp_path: Path) -> None:
    g, elimination, made = prepared(city(), dtype=np.int32)
    narrow = Customization("min_plus", np.dtype(np.int64), False, made.up, made.down)
    files.save(tmp_path / "a.kp", g, elimination, narrow)
    require_same(files.load(tmp_path / "a.kp"), (g, elimination, narrow))


def test_a_kp_is_a_graph_file_and_an_npz(saved: Path) -> None:
    assert np.array_equal(kl.read(saved).weights, city().weights)
    with np.load(saved) as archive:
        assert "prepared_heads" in archive


def test_the_same_graph_gives_the_same_bytes(saved: Path) -> None:
    before = saved.read_bytes()
    files.save(saved, *files.load(saved))
    assert saved.read_bytes() == before


def test_streams_and_gzip_are_read(saved: Path) -> None:
    contents = saved.read_bytes()
    packed = saved.with_suffix(".gz")
    packed.write_bytes(gzip.compress(contents))
    for source in (io.BytesIO(contents), packed, str(saved)):
        require_same(files.load(source), prepared(city()))


def test_a_graph_may_be_given(saved: Path) -> None:
    g = city()
    assert files.load(saved, g)[0] is g


@pytest.mark.parametrize("late", [False, True])
def test_ctrl_c_while_a_file_is_written(
    saved: Path, monkeypatch: pytest.MonkeyPatch, late: bool
) -> None:
    """Whether a member was just opened or is half written, the old file stays."""
    before, real = saved.read_bytes(), zipfile.ZipFile.open

    def interrupted(*args: Any, **options: Any) -> Any:
        member = real(*args, **options)
        if late:
            member.write(b"half")
        raise KeyboardInterrupt

    monkeypatch.setattr(zipfile.ZipFile, "open", interrupted)
    with pytest.raises(KeyboardInterrupt):
        files.save(saved, *prepared(city()))
    monkeypatch.undo()
    gc.collect()
    assert saved.read_bytes() == before
    assert os.listdir(saved.parent) == [saved.name]


# ---- mapping ------------------------------------------------------------------------------------


def memory_of(array: Any) -> Any:
    """Return the object that the memory of an array belongs to."""
    owner = array
    while True:
        below = getattr(owner, "base", None)
        below = getattr(owner, "_owner", None) if below is None else below
        below = owner.obj if below is None and isinstance(owner, memoryview) else below
        if below is None:
            return owner
        owner = below


def test_arrays_are_mapped(tmp_path: Path) -> None:
    side = 60  # arrays below a page are copied
    g = kl.generate.path(side * side, weights=(1, 9), seed=1)
    order = np.arange(g.n).tolist()
    elimination = prepared_reference.eliminate(g, order)
    made = prepared_reference.customize(g, elimination)
    files.save(tmp_path / "a.kp", g, elimination, made)
    loaded, eliminated, customized = files.load(tmp_path / "a.kp")
    for array in (
        *(loaded.offsets, loaded.neighbors, loaded.weights),
        *(eliminated.order, eliminated.offsets, eliminated.heads, customized.up, customized.down),
    ):
        assert isinstance(memory_of(array), mmap.mmap)
        assert array.ctypes.data % 64 == 0
        assert not array.flags.writeable


def test_a_loaded_graph_outlives_its_file(tmp_path: Path) -> None:
    path = tmp_path / "a.kp"
    parts = prepared(kl.generate.path(2000, weights=(1, 9), seed=1))
    files.save(path, *parts)
    loaded = files.load(path)
    files.save(path, *prepared(city()))  # another file of this name
    require_same(loaded, parts)
    path.unlink()
    require_same(loaded, parts)


# ---- what is kept -------------------------------------------------------------------------------


def test_bytes_are_counted_while_other_threads_ask(saved: Path) -> None:
    """A question may derive something of an elimination at any moment."""
    graph, elimination, customization = files.load(saved)

    class Watched(np.ndarray):  # type: ignore[type-arg]
        @property
        def nbytes(self) -> int:
            elimination.__dict__["derived"] = None  # by another thread, just now
            return 7

    elimination.__dict__["kept"] = np.zeros(1).view(Watched)
    kept = Preparation.of(graph)
    kept.keep(graph, elimination, customization)
    assert kept.nbytes > elimination.heads.nbytes
