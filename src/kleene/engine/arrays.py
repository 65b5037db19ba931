"""Answers in arrays: new ones, memory of the caller, or a mapped file."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from kleene.engine.call import Call, Out, Part, Sink, Writer
from kleene.engine.pieces import Piece
from kleene.errors import Code, RequestError
from kleene.planning.plan import Plan
from kleene.system.atomic_file import atomic_array

__all__ = ["Arrays", "caller_memory", "memory_of"]

Array = NDArray[Any]


class Arrays(Sink, Writer):
    """An answer in arrays, in one piece: it is computed in its place, and nothing is copied."""

    tells_steps = True
    _memory: Array | None = None
    _file: ExitStack | None = None

    @property
    def writer(self) -> Writer:  # type: ignore[override]
        """Itself: arrays are of this process."""
        return self

    def open(self, call: Call, plan: Plan) -> Sequence[Piece]:
        """Take the memory that the caller brought, or map the file."""
        if isinstance(call.out, (str, Path)):
            self._file = ExitStack()
            shape, outer = _shapes(call)
            mapped = self._file.enter_context(atomic_array(call.out, outer, np.dtype(plan.dtype)))
            self._memory = mapped.reshape(shape)
        elif call.out is not None:
            self._memory = memory_of(call, plan)
        return (Piece(0, 0, call.rows),)

    def memory(self, pieces: Sequence[Piece], call: Call, plan: Plan) -> Array | None:
        """Return the memory of the caller, or of the file."""
        return self._memory

    def record(self, piece: Piece, receipt: Part) -> None:
        """Keep the answer."""
        self._part = receipt

    def finish(self) -> Part:
        """Return the answer; a file gets its name."""
        if self._file is not None:
            self._file.close()
        return self._part

    def abandon(self, error: BaseException) -> None:
        """Remove the file."""
        if self._file is not None:
            self._file.__exit__(type(error), error, error.__traceback__)


def memory_of(call: Call, plan: Plan) -> Array:
    """Return the memory that the caller brought for the values, one row for each source."""
    shape, outer = _shapes(call)
    return caller_memory(call.out, outer, np.dtype(plan.dtype)).reshape(shape)


def _shapes(call: Call) -> tuple[tuple[int, int], tuple[int, ...]]:
    """Return the shape of the values, and that of ``out``: a single row has one dimension."""
    targets = call.targets if call.by_form else None
    width = call.graph.n if targets is None else len(targets)
    shape = (len(call.sources), width)
    return shape, shape[1:] if call.single else shape


def caller_memory(out: Out, shape: tuple[int, ...], dtype: np.dtype[Any]) -> Array:
    """Return the array that a caller brought for values of a shape and type, checked."""
    if not isinstance(out, np.ndarray):
        raise RequestError(
            Code("out"), f" must be an array or a file name, not {type(out).__name__}"
        )
    if out.shape != shape or out.dtype != dtype or not out.flags.writeable:
        kind = "" if out.flags.writeable else "read-only "
        raise RequestError(
            Code("out"),
            f" must be a writable {dtype} array of shape {shape}, not a {kind}{out.dtype} "
            f"array of shape {out.shape}",
        )
    if not out.flags.c_contiguous:
        raise RequestError(Code("out"), " must be C-contiguous")
    return out
