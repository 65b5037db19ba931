"""NVIDIA's compiler for kernels, from its packages on PyPI: it needs no GPU and no driver.

cuda.core calls the same library, but one version of it in a process.
"""

from __future__ import annotations

import ctypes
import re
from collections.abc import Iterator, Sequence
from functools import cache
from importlib import metadata
from pathlib import Path
from typing import Any, NamedTuple

__all__ = ["COMPILERS", "TARGETS", "Compiled", "command_line", "compiled", "library", "version"]

#: For CUDA 12 and 13: the package, and the architectures that kernels are tried for. The oldest,
#: the first with asynchronous copies, the first with combined additions and minima, the newest.
COMPILERS = {"nvidia-cuda-nvrtc-cu12": (70, 80), "nvidia-cuda-nvrtc": (90, 120)}
TARGETS = [(package, arch) for package, archs in COMPILERS.items() for arch in archs]


@cache
def version(package: str) -> str | None:
    """Return the version of a package, None where it is not installed."""
    try:
        return metadata.version(package)
    except metadata.PackageNotFoundError:
        return None


@cache
def library(package: str) -> ctypes.CDLL:
    """Return the compiler of a package that is installed."""
    files = metadata.files(package) or []
    paths = [Path(str(file.locate())) for file in files]
    found = next(p for p in paths if re.fullmatch(r"libnvrtc\.so\.\d+", p.name))
    builtins = next(p for p in paths if p.name.startswith("libnvrtc-builtins.so"))
    ctypes.CDLL(str(builtins))
    return ctypes.CDLL(str(found))


def command_line(options: dict[str, Any]) -> Iterator[str]:
    """Yield ``loader.program_options`` as NVRTC takes them."""
    assert options.pop("device_as_default_execution_space")
    yield "--device-as-default-execution-space"
    for name, value in options.pop("define_macro") or ():
        yield f"--define-macro={name}={value}"
    for name, value in options.items():
        yield f"--{name.replace('_', '-')}={value}"


class Compiled(NamedTuple):
    """What a compiler made of a kernel file; nothing where it does not compile."""

    image: bytes  # machine code, for a real architecture
    ptx: str
    messages: str


def compiled(package: str, path: Path, options: Sequence[str], arch: str) -> Compiled:
    """Compile a file for ``sm_90``, or for ``compute_90``: without machine code."""
    compiler = library(package)
    program = ctypes.c_void_p()
    source = path.read_bytes()
    assert not compiler.nvrtcCreateProgram(
        ctypes.byref(program), source, path.name.encode(), 0, None, None
    )
    asked = [*options, f"-arch={arch}"]
    given = (ctypes.c_char_p * len(asked))(*(option.encode() for option in asked))
    failed = compiler.nvrtcCompileProgram(program, len(asked), given)

    def fetch(what: str) -> bytes:
        size = ctypes.c_size_t()
        getattr(compiler, f"nvrtcGet{what}Size")(program, ctypes.byref(size))
        room = ctypes.create_string_buffer(max(1, size.value))
        getattr(compiler, f"nvrtcGet{what}")(program, room)
        return room.raw[: size.value]

    messages = fetch("ProgramLog").rstrip(b"\0").decode()
    image = b"" if failed or arch.startswith("compute") else fetch("CUBIN")
    ptx = "" if failed else fetch("PTX").rstrip(b"\0").decode()
    compiler.nvrtcDestroyProgram(ctypes.byref(program))
    return Compiled(image, ptx, messages)
