"""A file that is whole is read as such, in whatever state interrupts and threads leave Python."""

from __future__ import annotations

import ast
import errno
import os
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import scipy.sparse
from numpy._core import arrayprint

import kleene as kl
from kleene.stores.zarr import ZarrWriter
from kleene.system.atomic_file import atomic_array

GRAPH = kl.generate.grid(5, 5, weights=(1, 9), seed=1)
ENDS = [(0, 1), (3, 20)]


def graph_file(folder: Path) -> Callable[[], Any]:
    kl.write(GRAPH, folder / "g.npz")
    return lambda: kl.read(folder / "g.npz").weights


def graph_file_by_ranks(folder: Path) -> Callable[[], Any]:
    kl.write(GRAPH, folder / "g.npz")
    return lambda: kl.distributed.read(folder / "g.npz", comm=kl.distributed.Communicator()).weights


def sparse_matrix(folder: Path) -> Callable[[], Any]:
    scipy.sparse.save_npz(folder / "s.npz", scipy.sparse.csr_array(np.eye(3, k=1)))
    return lambda: kl.read(folder / "s.npz").weights


def dense_matrix(folder: Path) -> Callable[[], Any]:
    np.save(folder / "m.npy", np.where(np.eye(3, k=1), 2.0, np.inf))
    return lambda: kl.read(folder / "m.npy").weights


def prepared_graph(folder: Path) -> Callable[[], Any]:
    kl.prepare(GRAPH).save(folder / "g.kp")
    return lambda: kl.load_prepared(folder / "g.kp").tree(0).distances


def saved_rows(folder: Path) -> Callable[[], Any]:
    kl.sssp(GRAPH, 0).save(folder / "r.npz")
    return lambda: kl.Result.load(folder / "r.npz", GRAPH).distances


def saved_pairs(folder: Path) -> Callable[[], Any]:
    kl.sssp(GRAPH, pairs=ENDS).save(folder / "p.npz")
    return lambda: kl.Result.load(folder / "p.npz", GRAPH).distances


def store_of_files(folder: Path) -> Callable[[], Any]:
    def call() -> Any:
        return kl.sssp(GRAPH, sources=[3, 1], targets=[0, 7, 9], out=folder / "d.npy").distances

    call()
    return call


def new_array(folder: Path) -> Callable[[], Any]:
    def call() -> Any:
        with atomic_array(folder / "a.npy", (2, 3), np.dtype(np.int32)) as array:
            array[:] = 7
            return array.copy()

    return call


FILES = [
    graph_file, graph_file_by_ranks, sparse_matrix, dense_matrix, prepared_graph, saved_rows,
    saved_pairs, store_of_files, new_array,
]  # fmt: skip


class Everything(set[Any]):
    """Marks of all arrays, as if each had been met by an interrupt."""

    def __contains__(self, _: object) -> bool:
        return True


@pytest.fixture
def unprintable() -> Iterator[None]:
    """Let NumPy print every array as it does after Ctrl-C in its printing: as dots."""
    cells = [
        cell
        for function in vars(arrayprint).values()
        for cell in getattr(function, "__closure__", None) or ()
        if isinstance(cell.cell_contents, set)
    ]
    before = [cell.cell_contents for cell in cells]
    for cell in cells:
        cell.cell_contents = Everything()
    yield
    for cell, kept in zip(cells, before, strict=True):
        cell.cell_contents = kept


@pytest.mark.parametrize("make", FILES, ids=lambda make: make.__name__)
def test_strings_are_not_read_by_printing_them(
    make: Callable[[Path], Callable[[], Any]], tmp_path: Path, request: pytest.FixtureRequest
) -> None:
    call = make(tmp_path)
    right = call()
    request.getfixturevalue("unprintable")
    assert str(np.array("text")) == "..."
    assert np.array_equal(call(), right)


@pytest.mark.parametrize("make", FILES, ids=lambda make: make.__name__)
def test_headers_are_read_while_ast_fails(
    make: Callable[[Path], Callable[[], Any]], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Before Python 3.11.8 it does now and then, where several threads use it (gh-106905)."""
    call = make(tmp_path)
    right = call()

    def fail(*_: object, **__: object) -> None:
        raise SystemError("AST constructor recursion depth mismatch (before=24, after=17)")

    np.save(tmp_path / "x.npy", np.zeros(1))
    with monkeypatch.context() as failing:
        for name in ("parse", "literal_eval"):
            failing.setattr(ast, name, fail)
        with pytest.raises(SystemError):
            np.load(tmp_path / "x.npy")
        answer = call()
    assert np.array_equal(answer, right)


@pytest.mark.parametrize("make", [graph_file, graph_file_by_ranks, prepared_graph, saved_rows])
def test_an_error_of_the_system_is_no_damage(
    make: Callable[[Path], Callable[[], Any]], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """At whichever read of the file it comes."""
    call, read = make(tmp_path), os.preadv
    errors: list[tuple[int | None, Path]] = []
    for healthy in range(1000):
        reads = iter(range(healthy))

        def fail(*arguments: Any, reads: Iterator[int] = reads) -> int:
            if next(reads, None) is None:
                raise OSError(errno.EIO, os.strerror(errno.EIO))
            return read(*arguments)

        monkeypatch.setattr(os, "preadv", fail)
        try:
            call()
            break
        except OSError as error:
            errors.append((error.errno, Path(str(error.filename)).parent))
    assert errors == [(errno.EIO, tmp_path)] * healthy
    assert healthy > 1


def test_an_encrypted_archive_is_no_damage(tmp_path: Path) -> None:
    path = tmp_path / "g.npz"
    kl.write(GRAPH, path)
    contents = bytearray(path.read_bytes())
    for signature, flags in ((b"PK\x03\x04", 6), (b"PK\x01\x02", 8)):
        at = contents.find(signature)
        while at >= 0:
            contents[at + flags] |= 1
            at = contents.find(signature, at + 1)
    path.write_bytes(contents)
    alone = kl.distributed.Communicator()
    for read in (kl.read, partial(kl.distributed.read, comm=alone)):
        with pytest.raises(kl.FormatError, match=r"found '[a-z]+' encrypted"):
            read(path)


def test_a_lack_of_memory_is_no_damage(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    stored = kl.sssp(GRAPH, sources=[3, 1], targets=[0, 7, 9], out=tmp_path / "d.zarr")

    def fail(*_: object) -> None:
        raise MemoryError

    monkeypatch.setattr(ZarrWriter, "_open", fail)
    with pytest.raises(MemoryError):
        stored.distances[:]
