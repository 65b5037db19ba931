"""Calls that faults are put into: readers and writers."""

from __future__ import annotations

import gzip
import io
import os
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np

import kleene as kl
from kleene.graph.core import Graph
from kleene.io.files import FORMATS
from kleene.results.result import Result
from torture.fault_inputs import Call, Case, on, small
from torture.sample_files import READ_ONLY

__all__ = ["file_cases"]

#: What each format cannot do without, besides its name.
SUFFIXES = {name: format.suffixes[0] for name, format in FORMATS.items()}


def file_cases() -> Iterator[Case]:
    for name, suffix in SUFFIXES.items():
        for gzipped in (False, True) if FORMATS[name].text else (False,):
            file = f"graph{suffix}" + (".gz" if gzipped else "")
            yield Case(f"read {file} ({name})", reading(file, name))
            if FORMATS[name].write is not None:
                yield Case(f"write {file} ({name})", writing(file, name), final=file)
    streets = lambda: b"from,to,oneway\n" + b"ann,bob,yes\nbob,cy,\ncy,ann,-1\n" * 30  # noqa: E731
    yield Case("read one-way streets", on(streets, read_streets))
    yield Case("read names", on(lambda: b"ann,bob,1\nbob,cy,2\n" * 90, read_bytes))
    yield Case("Result.save", saving, final="result.npz")
    yield Case("Result.load", loading)
    yield Case("out=", mapping, final="values.npy", replaces=False)
    left = tuple(f"d{end}" for end in (".npy.ledger", ".npy.partial", ".predecessors.npy.partial"))
    left += ("d.predecessors.npy",)
    yield Case("out=, in blocks", storing, final="d.npy", replaces=False, leaves=left)
    yield Case(
        "out=, in rounds", closing, final="d.npy", replaces=False, leaves=(*left, "d.npy.rounds")
    )
    for file in ("parts.npz", "parts.wsg", "parts.txt"):
        yield Case(f"read {file} in parts", reading_parts(file))
    yield Case("write in parts", writing_parts, final="d.npy", replaces=False, leaves=left)
    yield Case("lab record", recording, final="record.jsonl")


def for_format(name: str) -> Graph:
    g = small(120)
    if name == "metis":
        g = g.symmetrise()
    return g


def reading(file: str, name: str) -> Callable[[Path], Call]:
    def prepare(folder: Path) -> Call:
        if name in READ_ONLY:
            with (gzip.open if file.endswith(".gz") else open)(folder / file, "wb") as opened:
                opened.write(READ_ONLY[name])
        else:
            kl.write(for_format(name), folder / file, name)
        return lambda: kl.read(folder / file, name, threads=3)

    return prepare


def writing(file: str, name: str) -> Callable[[Path], Call]:
    def prepare(folder: Path) -> Call:
        g = for_format(name)

        def call() -> Any:
            kl.write(g, folder / file, name, threads=3)
            return lambda: kl.read(folder / file, name)

        return call

    return prepare


def read_streets(text: bytes) -> Any:
    places = io.BytesIO(b"id,x,y\nann,0,0\nbob,1,1\ncy,2,2\n")
    g = kl.read(io.BytesIO(text), "edge_list", directed="oneway", positions=places, threads=3)
    return g, g.positions


def read_bytes(text: bytes) -> Any:
    g = kl.read(io.BytesIO(text), "edge_list", threads=3)
    return g, g.index("cy")


def saving(folder: Path) -> Call:
    result = kl.sssp(small(), 0, threads=1)

    def call() -> Any:
        result.save(folder / "result.npz")
        return lambda: Result.load(folder / "result.npz", result.graph)

    return call


def loading(folder: Path) -> Call:
    result = kl.sssp(small(), 0, threads=1)
    result.save(folder / "result.npz")
    return lambda: Result.load(folder / "result.npz", result.graph)


def mapping(folder: Path) -> Call:
    g = small()

    def call() -> Any:
        (folder / "values.npy").unlink(missing_ok=True)  # it is not replaced
        kl.apsp(g, out=str(folder / "values.npy"), threads=3)
        return lambda: np.load(folder / "values.npy")

    return call


def storing(folder: Path) -> Call:
    g = small()

    def call() -> Any:
        os.environ["KLEENE_PIECE_SECONDS"] = "4e-4"
        try:
            kl.apsp(g, out=str(folder / "d.npy"), method="batched", threads=1)
        finally:
            del os.environ["KLEENE_PIECE_SECONDS"]
        return lambda: [np.load(folder / name) for name in ("d.npy", "d.predecessors.npy")]

    return call


def closing(folder: Path) -> Call:
    g = small(130)

    def call() -> Any:
        os.environ["KLEENE_MEMORY"] = "230K"
        try:
            r = kl.apsp(g, out=str(folder / "d.npy"), method="tiled", device="cpu", threads=1)
        finally:
            del os.environ["KLEENE_MEMORY"]
        assert r.plan.rounds is not None or "read from" in str(r.plan)  # finished by the first call
        return lambda: [np.load(folder / name) for name in ("d.npy", "d.predecessors.npy")]

    return call


def reading_parts(file: str) -> Callable[[Path], Call]:
    def prepare(folder: Path) -> Call:
        kl.write(small(120), folder / file)

        def call() -> Any:
            part = kl.distributed.read(folder / file, comm=kl.distributed.Communicator())
            return part.offsets, part.neighbors, part.weights

        return call

    return prepare


def writing_parts(folder: Path) -> Call:
    alone = kl.distributed.Communicator()
    result = kl.distributed.bfs(kl.distributed.rmat(7, seed=1, comm=alone), 0)

    def call() -> Any:
        kl.distributed.write(result, folder / "d.npy")
        return lambda: [np.load(folder / name) for name in ("d.npy", "d.predecessors.npy")]

    return call


def recording(folder: Path) -> Call:
    from kleene_lab.harness import record

    lines = [record.Run("a", "2026-01-01T00:00:00Z", {"cores": 2}, "1", "0")]

    def call() -> Any:
        record.write(folder / "record.jsonl", lines)
        return lambda: (folder / "record.jsonl").read_text()

    return call
