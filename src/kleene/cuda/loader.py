"""Kernel sources: where they are, which specialisations exist, and what identifies them."""

from __future__ import annotations

import hashlib
import struct
from collections.abc import Mapping, Sequence
from functools import cache
from pathlib import Path

import numpy as np

from kleene.cuda.runtime import Argument, Array
from kleene.cuda.variants import VARIANTS, variant_name

__all__ = ["FOLDER", "Signature", "digest", "find_variant", "options", "source"]

FOLDER = Path(__file__).parent / "kernels"


def find_variant(file: str, defines: Mapping[str, str | int]) -> str:
    """Return the name of a specialisation that exists, or raise LookupError."""
    name = variant_name(defines)
    if name not in map(variant_name, VARIANTS.get(file, ())):
        raise LookupError(f"no variant {name!r} of {file}.cu; they are listed in variants.py")
    return name


def source(file: str) -> str:
    """Return the text of a kernel file."""
    return (FOLDER / f"{file}.cu").read_text()


@cache
def digest() -> str:
    """Return a digest of all kernel sources: compilers' caches do not look into headers."""
    whole = hashlib.sha256()
    for path in sorted(FOLDER.iterdir()):
        if path.suffix in (".cu", ".cuh"):
            whole.update(path.name.encode() + b"\0" + path.read_bytes() + b"\0")
    return whole.hexdigest()


def options(defines: Mapping[str, str | int]) -> tuple[str, ...]:
    """Return the compiler's options for a specialisation."""
    names = (f"-D{name}={defines[name]}" for name in sorted(defines))
    return ("-std=c++17", f"-I{FOLDER}", *names)


# ---- what a kernel takes ------------------------------------------------------------------------

_PACK = {"f4": "f4x", "f8": "d", "i1": "b7x", "i2": "h6x", "i4": "i4x", "i8": "q"}
_PACK |= {"u1": "B7x", "u2": "H6x", "u4": "I4x", "u8": "Q", "b1": "?7x"}


class Signature:
    """A kernel's parameters, as NumPy writes their types; a star before one is a pointer.

    The emulator's build knows them for certain, so both devices take them from there.
    """

    def __init__(self, title: str, codes: Sequence[str]) -> None:
        self.title = title
        self.codes = tuple(codes)
        self._pack = struct.Struct(
            "=" + "".join("Q" if code.startswith("*") else _PACK[code] for code in codes)
        )

    def values(self, args: Sequence[Argument]) -> list[int | float | bool]:
        """Return plain numbers for the arguments, addresses for arrays, or raise TypeError."""
        if len(args) != len(self.codes):
            raise TypeError(f"{self.title} takes {len(self.codes)} arguments, not {len(args)}")
        return [self._value(i, code, args[i]) for i, code in enumerate(self.codes)]

    def _value(self, place: int, code: str, arg: Argument) -> int | float | bool:
        if code.startswith("*"):
            if arg is None:
                return 0
            if isinstance(arg, Array) and code[1:] in ("", arg.dtype.str[1:]):
                return arg.address
        elif isinstance(arg, np.generic):
            if code == arg.dtype.str[1:]:
                value: int | float | bool = arg.item()
                return value
        elif isinstance(arg, (int, float)) and (code[0] == "f" or not isinstance(arg, float)):
            return float(arg) if code[0] == "f" else arg
        raise TypeError(f"argument {place} of {self.title} is {code}, and was given {arg!r}")

    def pack(self, args: Sequence[Argument]) -> bytes:
        """Return a word of 8 bytes for each argument."""
        try:
            return self._pack.pack(*self.values(args))
        except struct.error as error:
            raise TypeError(f"{self.title}: {error}, in {args!r}") from None
