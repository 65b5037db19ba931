"""Kernel sources: variants, digests, the cache of compiled kernels.

Compiled kernels are cached in KLEENE_CACHE_DIR, or in the system's cache folder, under a hash of
everything they depend on.
"""

from __future__ import annotations

import hashlib
import os
import re
import sys
import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from functools import cache
from pathlib import Path
from typing import Any

from kleene.backends.cuda.variants import VARIANTS, is_unrecorded, variant_name
from kleene.system.atomic_file import atomic_path

__all__ = [
    "FOLDER",
    "compiled",
    "digest",
    "find_variant",
    "normalized",
    "program_options",
    "source",
    "without_comments",
]

FOLDER = Path(__file__).parents[1] / "kernels"
_STANDARD = "c++17"


def find_variant(file: str, defines: Mapping[str, str | int]) -> str:
    """Return the name of a variant listed in variants.py, or raise LookupError."""
    name = variant_name(defines)
    if name not in map(variant_name, VARIANTS.get(file, ())):
        raise LookupError(f"no variant {name!r} of {file}.cu; they are listed in variants.py")
    return name


def source(file: str) -> str:
    """Return the text of a kernel file."""
    return (FOLDER / f"{file}.cu").read_text()


@cache
def digest(file: str | None = None) -> str:
    """Return a SHA-256 of all kernel sources, or of one file and all headers.

    Files that have not run on a GPU yet do not count, unless ``file`` is one of them. Comments and
    white space do not count: see :func:`normalized`.
    """
    whole = hashlib.sha256()
    for path in sorted(FOLDER.rglob("*.cu*")):
        if is_unrecorded(path.stem) and not (file is not None and is_unrecorded(file)):
            continue
        if path.suffix == ".cuh" or file in (None, path.stem):
            name = path.relative_to(FOLDER).as_posix()
            whole.update(f"{name}\0{normalized(path.read_text())}\0".encode())
    return whole.hexdigest()


_COMMENT_OR_STRING = re.compile(
    r"""//(?:[^\n\\]|\\.)*|/\*.*?\*/|"(?:[^"\\\n]|\\.)*"|'(?:[^'\\\n]|\\.)*'""", re.DOTALL
)
_SPACE_OR_STRING = re.compile(r"""("(?:[^"\\]|\\.)*")|\s+""")
_TOKEN = re.compile(
    r"""\w+|"(?:[^"\\]|\\.)*"|'(?:[^'\\]|\\.)*'|<<=|>>=|\.\.\.|[-+*/%&|^<>=!]=|\+\+|--|->|<<|>>|"""
    r"""&&|\|\||::|\S"""
)


def without_comments(source: str) -> str:
    """Return C++ source with a space for each comment."""
    return _COMMENT_OR_STRING.sub(lambda m: " " if m[0][0] == "/" else m[0], source)


def normalized(source: str) -> str:
    r"""Return C++ source as tokens, one a line, without comments.

    Literals stay as they are. A preprocessor directive is one line, and runs of white space in it
    become one space, since ``#define F (x)`` and ``#define F(x)`` differ.

    >>> normalized("int  f( ) {\n  return 1 ;  // one\n}") == normalized("int f() { return 1; }")
    True
    """
    lines = []
    for line in without_comments(source).replace("\\\n", " ").splitlines():
        if line.lstrip().startswith("#"):
            lines.append(_SPACE_OR_STRING.sub(lambda m: m[1] or " ", line.strip()))
        else:
            lines += _TOKEN.findall(line)
    return "\n".join(lines)


def program_options(defines: Mapping[str, str | int]) -> dict[str, Any]:
    """Return the compiler options of a variant, as ``cuda.core.ProgramOptions`` takes them."""
    return {
        "std": _STANDARD,
        "device_as_default_execution_space": True,  # makes lambdas device functions
        "include_path": str(FOLDER),
        "define_macro": [(name, str(defines[name])) for name in sorted(defines)] or None,
    }


# ---- compiled kernels ---------------------------------------------------------------------------

Compile = Callable[[str, str, Mapping[str, str | int], int], bytes]


def compiled(
    file: str,
    defines: Mapping[str, str | int],
    arch: int,
    compiler: str,
    compile_: Compile,
    recompile: bool = False,
) -> bytes:
    """Return the binary of a variant, from the cache if it is there; ``recompile`` ignores it.

    ``compiler`` is the name and the version of the compiler; ``compile_`` calls it with the source,
    the file's name, the definitions and the architecture.
    """
    key = repr((digest(file), file, variant_name(defines), arch, compiler, _STANDARD))
    path = _cache_folder() / f"{file}-{hashlib.sha256(key.encode()).hexdigest()[:32]}.cubin"
    if not recompile:
        with suppress(OSError):
            return path.read_bytes()
    with _COMPILING:
        if not recompile:
            with suppress(OSError):  # another GPU's thread was first
                return path.read_bytes()
        with _notice(f"compiling {file}.cu for this GPU, once"):
            image = compile_(source(file), f"{file}.cu", defines, arch)
        with suppress(OSError):  # an unwritable cache is not an error
            _write(path, image)
    return image


_COMPILING = threading.Lock()


def _cache_folder() -> Path:
    if chosen := os.environ.get("KLEENE_CACHE_DIR"):
        return Path(chosen)
    if sys.platform == "win32":
        return Path(os.environ.get("LOCALAPPDATA", Path.home())) / "kleene" / "kernels"
    if sys.platform == "darwin":
        return Path.home() / "Library" / "Caches" / "kleene" / "kernels"
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "kleene" / "kernels"


def _write(path: Path, image: bytes) -> None:
    """Write a file at once: other processes never read a part of it."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with atomic_path(path) as beside:
        beside.write_bytes(image)


@contextmanager
def _notice(what: str) -> Iterator[None]:
    """Show a message on a terminal during slow work, then erase it."""
    if not sys.stderr.isatty():
        yield
        return
    print(f"kleene: {what} ...", end="", file=sys.stderr, flush=True)
    try:
        yield
    finally:
        print("\r\033[K", end="", file=sys.stderr, flush=True)
