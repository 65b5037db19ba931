"""Kernel signatures: the types of parameters, and packing arguments for a launch."""

from __future__ import annotations

import ctypes
import struct
from collections.abc import Sequence
from functools import cache

from kleene.backends.cuda.runtime.interface import Argument, Array
from kleene.backends.cuda.runtime.structs import PACK, Struct, checked_value

__all__ = ["Signature", "arrays_of", "signatures"]


def arrays_of(args: Sequence[Argument]) -> list[Array]:
    """Return all arrays of a launch, those in structs too."""
    found = [arg for arg in args if isinstance(arg, Array)]
    for arg in args:
        if isinstance(arg, Struct):
            found += arg.arrays.values()
    return found


class Signature:
    """The parameter types of a kernel, as NumPy type codes.

    A star marks a pointer; V and a number of bytes is a struct.
    """

    def __init__(self, title: str, codes: Sequence[str]) -> None:
        self.title = title
        self.codes = tuple(codes)
        self._pack = struct.Struct("=" + "".join(_slot(code) for code in codes))

    @property
    def nbytes(self) -> int:
        """Bytes of all packed arguments."""
        return self._pack.size

    def offsets(self) -> list[int]:
        """Return where each packed argument begins."""
        sizes = [struct.calcsize("=" + _slot(code)) for code in self.codes]
        return [sum(sizes[:i]) for i in range(len(sizes))]

    def values(self, args: Sequence[Argument]) -> list[int | float | bool | bytearray]:
        """Return what is packed; raise TypeError on a mismatch."""
        if len(args) != len(self.codes):
            raise TypeError(f"{self.title} takes {len(self.codes)} arguments, not {len(args)}")
        try:
            return [checked_value(*pair) for pair in zip(self.codes, args, strict=True)]
        except TypeError:
            for i, pair in enumerate(zip(self.codes, args, strict=True)):
                try:
                    checked_value(*pair)
                except TypeError as error:
                    raise TypeError(f"argument {i} of {self.title} is {error}") from None
            raise

    def pack_into(self, buffer: ctypes.Array[ctypes.c_char], args: Sequence[Argument]) -> None:
        """Write all arguments into a buffer, each aligned to 8 bytes."""
        try:
            self._pack.pack_into(buffer, 0, *self.values(args))
        except struct.error as error:
            raise TypeError(f"{self.title}: {error}, in {args!r}") from None

    def pack(self, args: Sequence[Argument]) -> bytes:
        """Return all arguments, each aligned to 8 bytes."""
        try:
            return self._pack.pack(*self.values(args))
        except struct.error as error:
            raise TypeError(f"{self.title}: {error}, in {args!r}") from None


def _slot(code: str) -> str:
    """Return the format of one argument, padded to a multiple of 8 bytes."""
    if code.startswith("*"):
        return "Q"
    if code.startswith("V"):
        size = int(code[1:])
        return f"{size}s{-size % 8}x"
    return f"{PACK[code]}{8 - int(code[1:])}x"


@cache
def signatures(file: str, variant: str) -> dict[str, Signature]:
    """Return the signature of each kernel of a variant, by name, from the emulator's build."""
    from kleene import _emulator

    return {
        name: Signature(f"kernel {name} ({file}.cu, {variant})", codes)
        for _, of, kind, name, codes, _ in _emulator.kernels()
        if (of, kind) == (file, variant)
    }
