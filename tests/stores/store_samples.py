"""Stores of made-up rows, and processes that are killed while they write them."""

from __future__ import annotations

import os
import signal
import sys
import traceback
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from kleene.stores import ledger, npy, store, zarr
from kleene.stores.store import Piece, Store, StoreSpec

ROWS, COLUMNS, BLOCK = 23, 7, 5
SPEC = StoreSpec(
    {"problem": "apsp", "limit": None}, "3 9 12", "abc", (ROWS, COLUMNS), "float32", "int32", BLOCK
)


def rows(piece: Piece) -> tuple[Any, Any]:
    """Return the values and predecessors of a block."""
    values = np.arange(piece.first * COLUMNS, piece.stop * COLUMNS).reshape(-1, COLUMNS)
    return (values / 3).astype("float32"), (values % 5 - 1).astype("int32")


def fill(path: Path, spec: StoreSpec = SPEC) -> list[int]:
    """Write what is missing; return the blocks that were."""
    with Store.open(path, spec) as opened:
        missing = opened.missing()
        for piece in missing:
            values, links = rows(piece)
            links = None if spec.predecessors is None else links
            opened.record(piece, opened.writer().write(piece, values, links))
        opened.finish()
    return [piece.index for piece in missing]


def content(path: Path) -> dict[str, bytes]:
    """Return all files of a store but its ledger, by name."""
    files = [path, *path.parent.glob("**/*")]
    return {
        str(file.relative_to(path.parent)): file.read_bytes()
        for file in files
        if file.is_file() and file.suffix != ".ledger"
    }


# ---- death --------------------------------------------------------------------------------------


def die() -> None:
    os.kill(os.getpid(), signal.SIGKILL)


def in_child(act: Callable[[], object]) -> bool:
    """Run something in a child process; return whether it was killed. Others must succeed."""
    child = os.fork()
    if child == 0:
        try:
            act()
        except BaseException:
            traceback.print_exc()
            os._exit(1)
        os._exit(0)
    _, status = os.waitpid(child, 0)
    if os.WIFSIGNALED(status):
        return os.WTERMSIG(status) == signal.SIGKILL
    assert os.WEXITSTATUS(status) == 0
    return False


def die_at_line(count: int) -> None:
    """Kill this process before the so-manieth line of the modules of stores."""
    watched = {module.__file__ for module in (ledger, store, npy, zarr)}
    left = count

    def trace(frame: Any, event: str, argument: Any) -> Any:
        nonlocal left
        if frame.f_code.co_filename not in watched:
            return None
        if event == "line":
            left -= 1
            if left == 0:
                die()
        return trace

    sys.settrace(trace)


def die_in_write(module: Any, count: int, part: float) -> None:
    """Kill this process in the so-manieth write of a module, when a part of it is done."""
    left = count

    class Torn:
        def __init__(self, file: Any) -> None:
            self.file = file

        def write(self, data: Any) -> int:
            nonlocal left
            left -= 1
            if left == 0:
                self.file.write(bytes(data)[: int(part * len(data))])
                self.file.flush()
                die()
            return int(self.file.write(data))

        def __getattr__(self, name: str) -> Any:
            return getattr(self.file, name)

        def __enter__(self) -> Any:
            return self

        def __exit__(self, *_: object) -> None:
            self.file.close()

    module.open = lambda *args, **options: Torn(open(*args, **options))  # noqa: SIM115
