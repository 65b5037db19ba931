"""Kernel sources: where they are, how they are specialised, what they take and compile to.

Compiled kernels are kept in the user's cache folder (KLEENE_CACHE_DIR, else where the system keeps
caches), under a name made from everything they depend on.
"""

from __future__ import annotations

import ctypes
import hashlib
import os
import struct
import sys
import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from functools import cache
from pathlib import Path

import numpy as np

from kleene.backends.cuda.runtime.device import Argument, Array
from kleene.backends.cuda.variants import VARIANTS, variant_name
from kleene.system import nvidia

__all__ = [
    "FOLDER",
    "Signature",
    "compiled",
    "digest",
    "find_variant",
    "options",
    "signatures",
    "source",
]

FOLDER = Path(__file__).parents[1] / "kernels"


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
def digest(file: str | None = None) -> str:
    """Return a digest of all kernel sources, or of one file and the headers it may include."""
    whole = hashlib.sha256()
    for path in sorted(FOLDER.iterdir()):
        if path.suffix == ".cuh" or (path.suffix == ".cu" and file in (None, path.stem)):
            whole.update(path.name.encode() + b"\0" + path.read_bytes() + b"\0")
    return whole.hexdigest()


def options(defines: Mapping[str, str | int]) -> tuple[str, ...]:
    """Return the compiler's options for a specialisation."""
    names = (f"-D{name}={defines[name]}" for name in sorted(defines))
    # Lambdas are functions of the device, too.
    return ("-std=c++17", "-default-device", f"-I{FOLDER}", *names)


# ---- what kernels compile to --------------------------------------------------------------------

Compile = Callable[[str, str, Sequence[str], int], bytes]  # (source, name, options, architecture)


def compiled(
    file: str, defines: Mapping[str, str | int], arch: int, compile_: Compile, afresh: bool = False
) -> bytes:
    """Return what the driver loads, from the cache unless it is not there or wanted ``afresh``."""
    chosen = options(defines)
    compiler = nvidia.package_version()
    key = repr((digest(file), file, variant_name(defines), arch, compiler, chosen[0]))
    path = _cache_folder() / f"{file}-{hashlib.sha256(key.encode()).hexdigest()[:32]}.cubin"
    if not afresh:
        with suppress(OSError):
            return path.read_bytes()
    with _told(f"compiling {file}.cu for this GPU, once"):
        image = compile_(source(file), f"{file}.cu", chosen, arch)
    with suppress(OSError):  # a cache that cannot be written is no reason to fail
        _write(path, image)
    return image


def _cache_folder() -> Path:
    if chosen := os.environ.get("KLEENE_CACHE_DIR"):
        return Path(chosen)
    if sys.platform == "win32":
        return Path(os.environ.get("LOCALAPPDATA", Path.home())) / "kleene" / "kernels"
    if sys.platform == "darwin":
        return Path.home() / "Library" / "Caches" / "kleene" / "kernels"
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "kleene" / "kernels"


def _write(path: Path, image: bytes) -> None:
    """Write beside, then rename, so that another process never reads half of it."""
    path.parent.mkdir(parents=True, exist_ok=True)
    handle, beside = tempfile.mkstemp(dir=path.parent, suffix=".part")
    with os.fdopen(handle, "wb") as file:
        file.write(image)
    Path(beside).replace(path)


@contextmanager
def _told(what: str) -> Iterator[None]:
    """Say at a terminal what takes so long, while it does."""
    if not sys.stderr.isatty():
        yield
        return
    print(f"kleene: {what} ...", end="", file=sys.stderr, flush=True)
    try:
        yield
    finally:
        print("\r\033[K", end="", file=sys.stderr, flush=True)


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

    def pack_into(self, words: ctypes.Array[ctypes.c_char], args: Sequence[Argument]) -> None:
        """Put a word of 8 bytes for each argument into memory."""
        try:
            self._pack.pack_into(words, 0, *self.values(args))
        except struct.error as error:
            raise TypeError(f"{self.title}: {error}, in {args!r}") from None

    def pack(self, args: Sequence[Argument]) -> bytes:
        """Return a word of 8 bytes for each argument."""
        try:
            return self._pack.pack(*self.values(args))
        except struct.error as error:
            raise TypeError(f"{self.title}: {error}, in {args!r}") from None


@cache
def signatures(file: str, variant: str) -> dict[str, Signature]:
    """Return what each kernel of a specialisation takes, by name."""
    from kleene import _emulator

    return {
        name: Signature(f"kernel {name} ({file}.cu, {variant})", codes)
        for _, of, kind, name, codes, _ in _emulator.kernels()
        if (of, kind) == (file, variant)
    }
