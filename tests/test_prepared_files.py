"""``.kp`` files: what is saved comes back mapped; what is damaged, hostile or stale is refused."""

from __future__ import annotations

import gc
import gzip
import io
import json
import mmap
import os
import random
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import prepared_reference
import pytest

import kleene as kl
from kleene.graph.frozen import is_frozen
from kleene.io.npz_mapped import write_aligned
from kleene.prepared import files
from kleene.prepared.cache import Preparation
from kleene.prepared.customization import Customization
from kleene.prepared.elimination import Elimination

Arrays = dict[str, Any]
Parts = tuple[kl.Graph, Elimination, Customization]


def prepared(graph: kl.Graph, semiring: str = "min_plus", dtype: Any = None) -> Parts:
    order = np.random.default_rng(1).permutation(graph.n).tolist()
    elimination = prepared_reference.eliminate(graph, order)
    return graph, elimination, prepared_reference.customize(graph, elimination, semiring, dtype)


def city() -> kl.Graph:
    return kl.generate.grid(6, 7, weights=(1, 9), seed=3)


@pytest.fixture
def saved(tmp_path: Path) -> Path:
    path = tmp_path / "city.kp"
    files.save(path, *prepared(city()))
    return path


def require_same(found: Parts, parts: Parts) -> None:
    graph, elimination, customization = parts
    read, eliminated, customized = found
    assert (read.n, read.directed, read.name) == (graph.n, graph.directed, graph.name)
    for a, b in zip(read.csr, graph.csr, strict=True):
        assert (a is None and b is None) or np.array_equal(a, b)
    for name in ("labels", "positions"):
        a, b = getattr(read, name), getattr(graph, name)
        assert (a is None and b is None) or a.tolist() == b.tolist()
    for name in ("order", "ranks", "parents", "offsets", "heads"):
        a, b = getattr(eliminated, name), getattr(elimination, name)
        assert a.dtype == b.dtype
        assert np.array_equal(a, b)
    for name in ("semiring", "dtype", "negative", "symmetric"):
        assert getattr(customized, name) == getattr(customization, name)
    for name in ("up", "down"):
        a, b = getattr(customized, name), getattr(customization, name)
        assert a.dtype == b.dtype
        assert np.array_equal(a, b)
        assert is_frozen(a)


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


# ---- hostile files ------------------------------------------------------------------------------


def edited(path: Path, change: Callable[[Arrays], None]) -> Path:
    """Write the file again with other arrays, whose checksums are right."""
    with np.load(path) as archive:
        arrays = {name: archive[name].copy() for name in archive}
    change(arrays)
    with path.open("wb") as file:
        write_aligned(file, arrays)
    return path


def entry(name: str, at: Any, value: Any) -> Callable[[Arrays], None]:
    def change(arrays: Arrays) -> None:
        arrays[f"prepared_{name}"][at] = value

    return change


def array(name: str, make: Callable[[Any], Any]) -> Callable[[Arrays], None]:
    def change(arrays: Arrays) -> None:
        arrays[f"prepared_{name}"] = make(arrays[f"prepared_{name}"])

    return change


def head(**fields: Any) -> Callable[[Arrays], None]:
    def change(arrays: Arrays) -> None:
        arrays["prepared"] = np.array(json.dumps(json.loads(str(arrays["prepared"])) | fields))

    return change


def gone(name: str) -> Callable[[Arrays], None]:
    return lambda arrays: arrays.__delitem__(name)


def other_weight(arrays: Arrays) -> None:
    arrays["weights"][0] += 1
    arrays["weights"][arrays["offsets"][1]] += 1  # the way back


HOSTILE: dict[str, tuple[Callable[[Arrays], None], str]] = {
    "no head": (gone("prepared"), "no prepared graph"),
    "another head": (head(format="kleene result 1"), "no prepared graph"),
    "a list as head": (lambda a: a.update(prepared=np.array("[1]")), "no prepared graph"),
    "numbers as head": (lambda a: a.update(prepared=np.arange(3)), "no prepared graph"),
    "a later version": (head(version=2), "found version 2, expected 1; upgrade"),
    "a version in words": (head(version="1"), "found version '1'"),
    "another digest": (head(graph=[1, 2, 3]), "stale"),
    "other weights": (other_weight, "stale"),
    "an unknown semiring": (head(semiring="plus_times"), "in the semiring 'plus_times'"),
    "a list of semirings": (head(semiring=["min_plus"]), "in the semiring"),
    "a type that no semiring has": (head(dtype="int8"), "found values of 'int8'"),
    "integers for probabilities": (head(semiring="max_times", dtype="int32"), "found values of"),
    "a number as type": (head(dtype=32), "found values of 32"),
    "other values than the type": (head(dtype="float32"), "expected a list of float32"),
    "negative in words": (head(negative="no"), "found negative = 'no'"),
    "no heads": (gone("prepared_heads"), "found nothing as heads"),
    "no up": (gone("prepared_up"), "found nothing as up"),
    "short up": (array("up", lambda a: a[:-1]), "expected"),
    "short down": (array("down", lambda a: a[:-1]), "expected"),
    "down of another type": (array("down", lambda a: a.astype(np.int64)), "as down"),
    "up in two dimensions": (array("up", lambda a: a[None]), "as up"),
    "up below zero": (entry("up", 3, -1), "expected values from 0 to 1073741823"),
    "up too large": (entry("up", 3, 2**30), "expected values from 0 to"),
    "short order": (array("order", lambda a: a[:-1]), "found 41 order, expected 42"),
    "long ranks": (array("ranks", lambda a: np.append(a, a[:1])), "found 43 ranks"),
    "wide heads": (array("heads", lambda a: a.astype(np.int64)), "expected a list of int32"),
    "swapped bytes": (array("heads", lambda a: a.astype(">i4")), "expected a list of int32"),
    "a vertex twice": (entry("order", 0, 1), "order and ranks"),
    "a vertex that is none": (entry("order", 0, 42), "order and ranks"),
    "a rank that is none": (entry("ranks", 0, -7), "order and ranks"),
    "offsets that begin late": (entry("offsets", 0, 1), "offsets do not rise"),
    "offsets that end late": (entry("offsets", -1, 10**12), "offsets do not rise"),
    "offsets that fall": (entry("offsets", 5, -5), "offsets do not rise"),
    "offsets beyond": (entry("offsets", 5, 2**62), "offsets do not rise"),
    "a head that is none": (entry("heads", 0, 42), "heads are not"),
    "a negative head": (entry("heads", 0, -1), "heads are not"),
    "a head below": (entry("heads", -1, 0), "heads are not"),
    "another parent": (entry("parents", 0, 41), "parents are not"),
    "a root that is none": (entry("parents", 0, -1), "parents are not"),
    "no arcs": (
        lambda a: a.update(
            prepared_heads=a["prepared_heads"][:0],
            prepared_offsets=0 * a["prepared_offsets"],
            prepared_parents=0 * a["prepared_parents"] - 1,
            prepared_up=a["prepared_up"][:0],
            prepared_down=a["prepared_down"][:0],
        ),
        "an arc of the graph",
    ),
    "no neighbors": (gone("neighbors"), "expected 'neighbors'"),
    "a graph with a wild arc": (lambda a: a["neighbors"].fill(99), "not below n"),
}


@pytest.mark.parametrize("name", HOSTILE)
def test_a_hostile_file_is_refused(saved: Path, name: str) -> None:
    change, message = HOSTILE[name]
    edited(saved, change)
    with pytest.raises(kl.FormatError, match=message) as caught:
        files.load(saved)
    assert str(caught.value).startswith(f"{saved}: ")


def test_values_that_are_no_numbers_are_refused(tmp_path: Path) -> None:
    files.save(tmp_path / "a.kp", *prepared(city(), dtype=np.float64))
    edited(tmp_path / "a.kp", entry("down", 5, np.nan))
    with pytest.raises(kl.FormatError, match="down from nan to nan"):
        files.load(tmp_path / "a.kp")


def test_a_file_of_another_graph_is_stale(saved: Path) -> None:
    g = city()
    for other in (g.reweight(2), kl.generate.path(42), g.reweight(None)):
        with pytest.raises(kl.FormatError, match=r"city\.kp: the file is stale.*prepare it again"):
            files.load(saved, other)


@pytest.mark.parametrize("contents", [b"", b"PK\x03\x04", b"p sp 1 0\n", b"\x93NUMPY\x01"])
def test_a_file_of_another_kind_is_refused(tmp_path: Path, contents: bytes) -> None:
    (tmp_path / "a.kp").write_bytes(contents)
    with pytest.raises(kl.FormatError, match=r"a\.kp: "):
        files.load(tmp_path / "a.kp")


def test_a_graph_alone_is_no_prepared_graph(tmp_path: Path) -> None:
    kl.write(city(), tmp_path / "a.npz")
    with pytest.raises(kl.FormatError, match=r"no prepared graph, expected what `kleene prepare`"):
        files.load(tmp_path / "a.npz")


def test_flipped_bits_and_cut_files_are_noticed(saved: Path) -> None:
    """Every byte of an array is covered by a checksum; elsewhere a change may not matter."""
    contents, chance = saved.read_bytes(), random.Random(5)
    parts = files.load(saved)
    for _ in range(300):
        at = chance.randrange(len(contents))
        spoiled = bytearray(contents)
        spoiled[at] ^= 1 << chance.randrange(8)
        try:
            loaded = files.load(io.BytesIO(spoiled))
        except kl.FormatError:
            continue
        require_same(loaded, parts)
    for _ in range(50):
        with pytest.raises(kl.FormatError):
            files.load(io.BytesIO(contents[: chance.randrange(len(contents))]))


def test_packed_again_by_another_program(saved: Path) -> None:
    """A compressed member, or one that is not aligned, is read instead."""
    parts = files.load(saved)
    for method in (zipfile.ZIP_DEFLATED, zipfile.ZIP_STORED):
        other = saved.with_name(f"{method}.kp")
        with zipfile.ZipFile(saved) as old, zipfile.ZipFile(other, "w", method) as new:
            for member in old.namelist():
                new.writestr(member, old.read(member))
        require_same(files.load(other), parts)


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
