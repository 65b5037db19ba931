"""Kernel sources: variants, includes, digests, the cache of compiled kernels.

A digest is of what the compiler is given: the text with its headers in their places, and the
options. Comments, white space, the names of files and the folders that they are in do not count.

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
from functools import cache, lru_cache
from pathlib import Path
from typing import Any

from kleene.backends.cuda import variants
from kleene.backends.cuda.variants import VARIANTS, is_unrecorded, variant_name
from kleene.system.atomic_file import atomic_path

__all__ = [
    "FOLDER",
    "compiled",
    "digest",
    "find_variant",
    "normalized",
    "path_of",
    "program_options",
    "resolved",
    "source",
    "without_comments",
]

FOLDER = variants.FOLDER
_STANDARD = "c++17"


def find_variant(file: str, defines: Mapping[str, str | int]) -> str:
    """Return the name of a variant listed in variants.py, or raise LookupError."""
    name = variant_name(defines)
    if name not in map(variant_name, VARIANTS.get(file, ())):
        raise LookupError(f"no variant {name!r} of {file}.cu; they are listed in variants.py")
    return name


def path_of(file: str) -> Path:
    """Return where a kernel file is; a header is named with its folder and ``.cuh``."""
    return FOLDER / file if file.endswith(".cuh") else variants.path_of(file, FOLDER)


def source(file: str) -> str:
    """Return the text of a kernel file."""
    return path_of(file).read_text()


# ---- includes -----------------------------------------------------------------------------------

_DIRECTIVE = re.compile(
    r'^[ \t]*#[ \t]*(?:include[ \t]*"([^"\n]+)"|pragma[ \t]+once\b).*\n?', re.MULTILINE
)


def resolved(file: str) -> str:
    """Return a kernel file, or a header, with the headers that it includes in their places."""
    return "".join(_pieces(path_of(file), set()))


def _pieces(path: Path, seen: set[Path]) -> Iterator[str]:
    """Yield the text of a file between its includes, and that of the headers, each header once.

    Includes name paths from the folder of kernels. One that is not there, the emulator's, stays.
    """
    text, end = path.read_text(), 0
    for found in _DIRECTIVE.finditer(text):
        header = None if found[1] is None else FOLDER / found[1]
        if header is not None and not header.exists():
            continue
        yield text[end : found.start()]
        end = found.end()
        if header is not None and header not in seen:
            seen.add(header)
            yield from _pieces(header, seen)
    yield text[end:]


# ---- digests ------------------------------------------------------------------------------------


@cache
def digest(file: str | None = None) -> str:
    """Return a SHA-256 of what is compiled: of one file, or of all variants of all files.

    That of all leaves out files that have not run on a GPU yet, and has no order.
    """
    if file is not None:
        return _text_digest(file)
    every = []
    for name, rows in VARIANTS.items():
        if not is_unrecorded(name):
            text = _text_digest(name)
            every += [f"{text} {_options(row)}" for row in rows]
    return hashlib.sha256("\n".join(sorted(every)).encode()).hexdigest()


def _text_digest(file: str) -> str:
    tokens = (normalized(piece) for piece in _pieces(path_of(file), set()))
    return hashlib.sha256("\n".join(filter(None, tokens)).encode()).hexdigest()


def _options(defines: Mapping[str, str | int]) -> list[tuple[str, Any]]:
    """Return the compiler options of a variant, without the folder of headers."""
    options = program_options(defines)
    del options["include_path"]
    return sorted(options.items())


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


@lru_cache(maxsize=256)  # all files have the same headers
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
