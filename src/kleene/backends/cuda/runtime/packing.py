"""Packing of kernel arguments for a GPU, which knows the offset and the size of each parameter.

An integer is packed as an integer of that size and a float as a float of that size, so host code
passes no int for a float; the emulator, which knows the types, refuses that.
"""

from __future__ import annotations

import ctypes
import struct
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np

from kleene.backends.cuda.runtime.interface import Argument, Array
from kleene.backends.cuda.runtime.structs import PACK, Struct

__all__ = ["Parameters"]


class _Plan(NamedTuple):
    """How arguments of certain types are packed, and the positions of those that need work."""

    pack_into: Callable[..., None]
    arrays: Sequence[int]
    nulls: Sequence[int]
    structs: Sequence[int]


class Parameters:
    """The parameters of a kernel, and a buffer for the arguments of one launch.

    Parameters
    ----------
    title : str
        The name of the kernel in messages.
    layout : sequence of (offset, size)
        Where each parameter lies, in bytes.
    """

    def __init__(self, title: str, layout: Sequence[tuple[int, int]]) -> None:
        self._title, self._layout = title, tuple((offset, size) for offset, size in layout)
        self._plans: dict[tuple[type, ...], _Plan] = {}  # by the types of the arguments
        self._buffer = ctypes.create_string_buffer(max([8, *map(sum, self._layout)]))
        first = ctypes.addressof(self._buffer)
        self._pointers = (ctypes.c_void_p * max(1, len(self._layout)))(
            *(first + offset for offset, _ in self._layout)
        )
        #: The address of an array of the address of each argument.
        self.address = ctypes.addressof(self._pointers)

    def pack(self, args: Sequence[Argument]) -> None:
        """Write the arguments into the buffer; raise TypeError on a mismatch."""
        kinds = tuple(map(type, args))
        plan = self._plans.get(kinds)
        if plan is None:
            plan = self._plans[kinds] = self._plan(kinds)
        values: list[Any] = list(args)
        for i in plan.arrays:
            values[i] = values[i].address
        for i in plan.nulls:
            values[i] = 0
        for i in plan.structs:
            values[i] = self._struct_bytes(i, values[i])
        try:
            plan.pack_into(self._buffer, 0, *values)
        except struct.error:
            plan.pack_into(self._buffer, 0, *map(self._wrapped, range(len(values)), values))

    def _plan(self, kinds: tuple[type, ...]) -> _Plan:
        """Return how arguments of these types are packed."""
        if len(kinds) != len(self._layout):
            raise TypeError(f"{self._title} takes {len(self._layout)} arguments, not {len(kinds)}")
        form, end = "=", 0
        for position, (kind, (offset, size)) in enumerate(zip(kinds, self._layout, strict=True)):
            code = _code(kind, size)
            if code is None:
                raise TypeError(
                    f"argument {position} of {self._title} has {size} bytes, and is given as "
                    f"{kind.__name__}"
                )
            form += f"{offset - end}x{code}"
            end = offset + size
        of = {kind: [i for i, each in enumerate(kinds) if each is kind] for kind in set(kinds)}
        return _Plan(
            struct.Struct(form).pack_into,
            of.get(Array, ()),
            of.get(type(None), ()),
            of.get(Struct, ()),
        )

    def _struct_bytes(self, position: int, given: Struct) -> bytearray:
        size = self._layout[position][1]
        if len(given.data) != size:
            raise TypeError(
                f"argument {position} of {self._title} has {size} bytes, "
                f"and {given.type.name} has {len(given.data)}"
            )
        return given.data

    def _wrapped(self, position: int, value: Any) -> Any:
        """Return an unsigned integer as the signed one of the same bits."""
        if not isinstance(value, int):
            return value
        bits = 8 * self._layout[position][1]
        if not -(2 ** (bits - 1)) <= value < 2**bits:
            raise TypeError(
                f"argument {position} of {self._title} has {bits // 8} bytes, too few for {value}"
            )
        return value - 2**bits if value >= 2 ** (bits - 1) else value


_SIGNED = {1: "b", 2: "h", 4: "i", 8: "q"}
_FLOATS = {4: "f", 8: "d"}


def _code(kind: type, size: int) -> str | None:
    """Return the format of an argument of a type in a parameter of a size; None: it has none."""
    if kind is Struct:
        return f"{size}s"
    if kind is Array or kind is type(None):
        return "Q" if size == 8 else None
    if issubclass(kind, np.generic):
        dtype = np.dtype(kind)
        return PACK.get(dtype.str[1:]) if dtype.itemsize == size else None
    if issubclass(kind, int):
        return _SIGNED.get(size)
    return _FLOATS.get(size) if issubclass(kind, float) else None
