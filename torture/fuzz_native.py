"""Build the fuzzers of the native text parsers: torture/fuzzers/*.cpp and the core, by clang."""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Iterable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

__all__ = ["NATIVE_TARGETS", "build", "clang"]

ROOT = Path(__file__).resolve().parent.parent
FUZZERS = ROOT / "torture/fuzzers"
CORE = ROOT / "native/core"
BUILD = ROOT / "build/fuzzers"

NATIVE_TARGETS = ("arcs", "names", "rows", "numbers")

_SMALLEST = b'extern "C" int LLVMFuzzerTestOneInput(const char*, unsigned long) { return 0; }'
_SANITIZERS = "-fsanitize=fuzzer,address,undefined"
# Nothing but the C library is needed to run them: a binary may be carried to another machine.
_FLAGS = ("-std=c++20", "-O1", "-g1", _SANITIZERS, "-fno-sanitize-recover=undefined")
_LINK = (_SANITIZERS, "-static-libstdc++", "-static-libgcc", "-pthread")


def clang() -> str | None:
    """Return a clang++ that can build fuzzers, None if there is none."""
    names = ["clang++", *(f"clang++-{version}" for version in range(30, 13, -1))]
    for compiler in filter(None, map(shutil.which, names)):
        trial = [compiler, "-x", "c++", "-", _SANITIZERS, "-o", os.devnull]
        if subprocess.run(trial, input=_SMALLEST, capture_output=True).returncode == 0:
            return compiler
    return None


def build(jobs: int) -> dict[str, Path]:
    """Return the fuzzers by name, built again where a source is newer; {} if that is impossible.

    Without clang, those that are there are used as they are.
    """
    binaries = {name: BUILD / name for name in NATIVE_TARGETS}
    compiler = clang()
    if compiler is not None:
        cores = sorted([*CORE.glob("text/*.cpp"), *CORE.glob("parallel/*.cpp")])
        sources = [*(FUZZERS / f"{name}.cpp" for name in NATIVE_TARGETS), *cores]
        headers = [*CORE.rglob("*.hpp"), *FUZZERS.glob("*.hpp")]
        newest = max(file.stat().st_mtime for file in [*headers, Path(__file__)])
        BUILD.mkdir(parents=True, exist_ok=True)

        def compiled(source: Path) -> Path:
            made = BUILD / f"{source.parent.name}-{source.stem}.o"
            if _older(made, max(newest, source.stat().st_mtime)):
                include = (f"-I{CORE}", f"-I{FUZZERS}")
                _run([compiler, *_FLAGS, *include, "-c", str(source), "-o", str(made)])
            return made

        with ThreadPoolExecutor(jobs) as pool:
            objects = dict(zip(sources, pool.map(compiled, sources), strict=True))
        core = [objects[source] for source in cores]
        for name, binary in binaries.items():
            parts = [objects[FUZZERS / f"{name}.cpp"], *core]
            if _older(binary, max(part.stat().st_mtime for part in parts)):
                _run([compiler, *_LINK, *map(str, parts), "-o", str(binary)])
    return {name: binary for name, binary in binaries.items() if binary.exists()}


def _older(made: Path, time: float) -> bool:
    return not made.exists() or made.stat().st_mtime < time


def _run(command: Iterable[str]) -> None:
    subprocess.run(list(command), check=True)


if __name__ == "__main__":
    print(*build(2).values(), sep="\n")
