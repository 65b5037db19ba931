"""A store: an answer of any size in files, written block by block, with a ledger of those done.

``d.npy`` or ``d.zarr`` is named ``d.npy.partial`` until it is whole; ``d.npy.ledger`` beside it has
a line for each block whose data is on the disk, with its checksum. A process that ends at any
moment, by kill -9 or a power failure, loses the blocks that it was writing; the same call computes
those that are missing. The order of writes that ensures this: ledger, empty files, then for each
block data, fsync, ledger line, fsync; at last the renames.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any

from numpy.typing import NDArray

from kleene.engine.pieces import Piece
from kleene.errors import RequestError, StoreError
from kleene.stores import STORE_SUFFIXES
from kleene.stores.ledger import Ledger, require_same
from kleene.stores.npy import NpyWriter
from kleene.stores.writer import Receipt, StoreSpec, StoreWriter
from kleene.stores.zarr import ZarrWriter
from kleene.system.atomic_file import remove_abandoned, target_file

__all__ = ["Piece", "Receipt", "Store", "StoreSpec", "StoreWriter", "ledger_of"]

_FORMAT, _VERSION = "kleene store", 1
_CHECKSUMS = ("distances", "predecessors")
_ADOPT = frozenset({"block_rows"})  # that of a store that is resumed holds


class Store:
    """The files of an answer, and which blocks of it are done; one process holds it.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> import numpy as np
    >>> from kleene.stores.store import Store, StoreSpec
    >>> spec = StoreSpec({"problem": "apsp"}, "g", "s", (5, 3), "int32", None, block_rows=2)
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = Path(folder, "d.npy")
    ...     with Store.open(path, spec) as store:
    ...         for piece in store.missing():
    ...             rows = np.arange(piece.first, piece.stop)
    ...             block = np.repeat(rows[:, None], 3, axis=1)
    ...             store.record(piece, store.writer().write(piece, block))
    ...         store.finish()
    ...     np.load(path)[:, 0]
    array([0, 1, 2, 3, 4], dtype=int32)
    """

    def __init__(
        self,
        ledger: Ledger | None,  # None in a store that is only read
        writer: StoreWriter,
        done: dict[int, Receipt],
    ) -> None:
        self._ledger, self._writer, self.done = ledger, writer, done

    @staticmethod
    def open(
        path: str | Path, spec: StoreSpec, vertices: Mapping[str, NDArray[Any]] | None = None
    ) -> Store:
        """Begin a store, or resume the one that is there; refuse that of another call.

        A finished store is only read: it may be in a folder without permission to write, and in
        use by other processes.

        Parameters
        ----------
        path : str or Path
            The name of the finished store.
        spec : StoreSpec
            What it holds. The size of the blocks of a store that is resumed is its own: see
            ``store.spec``.
        vertices : mapping, optional
            Lists of positions to put beside, where rows or columns are not all vertices:
            ``"source"``, ``"target"``.
        """
        path = _store_path(path)
        header = _header(spec)
        found = _look(path)
        if found is not None and found[0].done and found[0].finished:
            store, kept = found
            require_same(ledger_of(path), kept, header, _ADOPT)
            store.writer().validate(store.done)
            store.writer().require_vertices(vertices or {})
            return store
        ledger = Ledger.open(ledger_of(path), header, _ADOPT)
        try:
            writer = _writer(path, StoreSpec.parse(ledger.header, ledger.path))
            done = _receipts(ledger.path, ledger.entries, writer.spec)
            store = Store(ledger, writer, done)
            if done:
                writer.validate(done)
                writer.require_vertices(vertices or {})
        except BaseException:
            ledger.close()
            raise
        if not done:
            try:
                writer.create(vertices or {})
            except BaseException:
                store._discard()  # or the disk would stay as full as it is
                raise
        return store

    @staticmethod
    def look(path: str | Path) -> Store | None:
        """Return a store to read from, which may be in use and unfinished; None without one."""
        found = _look(path)
        return None if found is None else found[0]

    @staticmethod
    def find(path: str | Path) -> Store:
        """Return a store to read from; StoreError without one, or where its files are damaged."""
        store, ledger = Store.look(path), ledger_of(path)
        if store is None and ledger.is_file():
            raise StoreError(
                f"{path} is not a store: {ledger.name} is not its ledger, or lost its first line",
                advice=["restore it from a backup, or remove it and its store to start again"],
            )
        if store is None:
            raise StoreError(f"{path} is not a store: there is no ledger {ledger.name}")
        if store.done:
            store.writer().validate(store.done)
        return store

    @property
    def path(self) -> Path:
        """The name of the store when it is finished."""
        return self._writer.path

    @property
    def spec(self) -> StoreSpec:
        """What it holds."""
        return self._writer.spec

    @property
    def finished(self) -> bool:
        """Whether all blocks are done and the files have their names."""
        return not self.missing() and not self._writer.unfinished

    def require_same(self, spec: StoreSpec) -> None:
        """Refuse it where it is of another call."""
        found = _look(self.path)
        assert found is not None
        require_same(ledger_of(self.path), found[1], _header(spec), _ADOPT)

    def missing(self) -> list[Piece]:
        """Return the blocks that are not done, in order."""
        return [piece for piece in self.spec.pieces if piece.index not in self.done]

    def writer(self) -> StoreWriter:
        """Return what writes blocks; it may be sent to other processes."""
        return self._writer

    def record(self, piece: Piece, receipt: Receipt) -> None:
        """Enter a block into the ledger, once its data is on the disk."""
        assert self._ledger is not None
        assert piece.index not in self.done, piece
        self._ledger.append({"block": piece.index, **receipt._asdict()})
        self.done[piece.index] = receipt

    def finish(self) -> None:
        """Give the files their names; the ledger stays beside them."""
        assert not self.missing()
        if self._ledger is not None:
            self._writer.finish()
        with suppress(OSError):  # what killed processes left; a folder that may not be read
            remove_abandoned(self.path.parent)

    def verify(self, report: Callable[[int, int], object] | None = None) -> int:
        """Read every block that is done and compare checksums; return how many there are."""
        pieces = [piece for piece in self.spec.pieces if piece.index in self.done]
        if pieces:
            self._writer.validate(self.done)
        lines = {block: line for line, block in enumerate(self.done, 2)}
        for count, piece in enumerate(pieces, 1):
            try:
                self._writer.check(piece, self.done[piece.index])
            except StoreError as error:
                ledger = ledger_of(self.path).name
                raise StoreError(
                    f"{error}; to compute these rows again, remove line {lines[piece.index]} of "
                    f"{ledger} and make the call again"
                ) from None
            if report is not None:
                report(count, len(pieces))
        return len(pieces)

    def close(self) -> None:
        """Let other processes open it."""
        if self._ledger is not None:
            self._ledger.close()

    def __enter__(self) -> Store:
        return self

    def __exit__(self, kind: type[BaseException] | None, *_: object) -> None:
        if kind is None:
            self.close()
        else:
            self.leave()

    def leave(self) -> None:
        """Close it to resume it later; of a store without a block nothing is left."""
        if not self.done:
            self._discard()
        self.close()

    def _discard(self) -> None:
        """Remove what was begun: no block of it is done."""
        assert self._ledger is not None
        with suppress(OSError):
            self._writer.discard()
            self._ledger.discard()
        self.close()


def _header(spec: StoreSpec) -> dict[str, Any]:
    """Return the first line of the ledger of a store."""
    return {"format": _FORMAT, "version": _VERSION, **spec._asdict()}


def _look(path: str | Path) -> tuple[Store, dict[str, Any]] | None:
    """Return a store to read from, and the header of its ledger."""
    path = Path(path)
    read = Ledger.read(ledger_of(path))
    if read is None:
        return None
    path = _store_path(path)
    header, entries = read
    if header.get("format") != _FORMAT:
        return None
    if header.get("version") != _VERSION:
        raise StoreError(f"{ledger_of(path)} is of another version of Kleene")
    spec = StoreSpec.parse(header, ledger_of(path))
    store = Store(None, _writer(path, spec), _receipts(ledger_of(path), entries, spec))
    return store, header


def ledger_of(path: str | Path) -> Path:
    """Return the ledger of a store: beside the file itself, where the name is a link."""
    path = Path(path)
    path = Path(os.path.realpath(path)) if path.is_symlink() else path
    if path.name in ("", ".."):  # ".", "/"
        raise RequestError(f"{path} is a directory", advice=["name a file in it"])
    return path.with_name(path.name + ".ledger")


def _store_path(path: str | Path) -> Path:
    """Return the name of a store, checked."""
    path = Path(path)
    if path.suffix == ".zarr" and path.is_dir():
        return Path(os.path.realpath(path)) if path.is_symlink() else path
    path = target_file(path)
    if path.exists() and not path.is_file():
        raise RequestError(f"{path} is not a regular file, and cannot hold an answer")
    return path


def _writer(path: Path, spec: StoreSpec) -> StoreWriter:
    if path.suffix == ".npy":
        return NpyWriter(path, spec)
    if path.suffix == ".zarr":
        return ZarrWriter(path, spec)
    names = " or ".join(f"*{suffix}" for suffix in STORE_SUFFIXES)
    raise RequestError(f"a store is named {names}, not {path}")


def _receipts(path: Path, entries: list[dict[str, Any]], spec: StoreSpec) -> dict[int, Receipt]:
    """Return the checksums of the blocks that are done, by block."""
    return dict(_checked(path, entries, spec))


def _checked(
    path: Path, entries: list[dict[str, Any]], spec: StoreSpec
) -> Iterator[tuple[int, Receipt]]:
    blocks = -(-spec.shape[0] // spec.block_rows)
    seen: set[int] = set()
    for number, entry in enumerate(entries, 2):
        block = entry.get("block")
        sums = [entry.get(name) for name in _CHECKSUMS]
        right = (
            type(block) is int
            and 0 <= block < blocks
            and block not in seen
            and type(sums[0]) is int
            and type(sums[1]) is (type(None) if spec.predecessors is None else int)
        )
        if not right:
            raise StoreError(
                f"{path}:{number}: this line does not name a block of the store, or repeats one"
            )
        assert isinstance(block, int)
        seen.add(block)
        yield block, Receipt(*sums)  # type: ignore[arg-type]
