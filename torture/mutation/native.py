"""A build of kleene._native that holds every mutant of the core, and the list of them."""

from __future__ import annotations

import hashlib
import json
import os
import re
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

from torture.mutation.cpp import Rewriter, sources
from torture.mutation.sites import Mutant

__all__ = ["NativeMutants", "built", "load_built"]

_HERE = Path(__file__).parent
_ERROR = re.compile(r"(?:^|\s)\S*/(native/core/\S+?):(\d+)(?::\d+)?:\s+(.*)")
_ROUNDS = 12


@dataclass(frozen=True)
class NativeMutants:
    """The mutants, and the module that chooses between them."""

    module: Path
    mutants: list[Mutant]
    dropped: int  # lines whose mutants do not compile


def load_built(root: Path) -> NativeMutants | None:
    """Return the mutants of the last build, None if the sources have changed since."""
    folder = _folder(root)
    found = list((folder / "build").glob("_native.*.so"))
    texts, mutants = _mutated(root, dropped := _dropped(folder))
    digest = folder / "digest.txt"
    if not found or not digest.exists() or digest.read_text() != _digest(texts):
        return None
    return NativeMutants(found[0], mutants, len(dropped))


def built(root: Path, jobs: int) -> NativeMutants:
    """Build, or return what is built already."""
    if (found := load_built(root)) is not None:
        return found
    folder = _folder(root)
    dropped = _dropped(folder)
    for _ in range(_ROUNDS):
        texts, mutants = _mutated(root, dropped)
        _write(texts, folder / "source")
        errors = _compile(folder / "source", folder / "build", jobs)
        if errors is None:
            break
        dropped |= _lines_to_drop(errors, mutants)
        (folder / "dropped.json").write_text(json.dumps(sorted(dropped)))
    else:
        raise RuntimeError(f"the mutants do not compile; see {folder / 'log.txt'}")
    (folder / "digest.txt").write_text(_digest(texts))
    [module] = (folder / "build").glob("_native.*.so")
    return NativeMutants(module, mutants, len(dropped))


def _folder(root: Path) -> Path:
    folder = root / "build" / "mutants" / f"{sys.implementation.cache_tag}"
    folder.mkdir(parents=True, exist_ok=True)
    return folder


def _dropped(folder: Path) -> set[tuple[str, int]]:
    """Return the lines that did not compile the last time."""
    path = folder / "dropped.json"
    return {(name, line) for name, line in json.loads(path.read_text())} if path.exists() else set()


def _digest(texts: dict[str, str]) -> str:
    return hashlib.sha256(json.dumps(texts, sort_keys=True).encode()).hexdigest()


def _mutated(root: Path, dropped: set[tuple[str, int]]) -> tuple[dict[str, str], list[Mutant]]:
    """Return the text of every file that the build needs, by name, and the mutants in them."""
    rewriter = Rewriter(root, dropped)
    texts = {path: rewriter.rewrite(path) for path in sources(root / "native" / "core")}
    texts |= {path: path.read_text() for path in sources(root / "native" / "bindings")}
    cmake = (root / "CMakeLists.txt").read_text()
    texts[root / "CMakeLists.txt"] = cmake.replace("-O3", "-O1")
    for path in _HERE.glob("*.[ch]pp"):
        texts[root / "native" / "core" / path.name] = path.read_text()
    return {str(path.relative_to(root)): text for path, text in texts.items()}, rewriter.mutants


def _write(texts: dict[str, str], folder: Path) -> None:
    """Write the files; those that stay the same are not touched, and not compiled again."""
    for name, text in texts.items():
        path = folder / name
        if not path.exists() or path.read_text() != text:
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text)


def _compile(source: Path, build: Path, jobs: int) -> str | None:
    """Return None, or what the compiler said."""
    nanobind = subprocess.run(
        [sys.executable, "-m", "nanobind", "--cmake_dir"],
        capture_output=True,
        text=True,
        check=True,
    ).stdout.strip()
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    environment = {**os.environ, "PATH": path}
    flags = f"-w -O1 -include {source}/native/core/mutants.hpp"
    configure = ["cmake", "-S", str(source), "-B", str(build), "-G", "Ninja"]
    configure += ["-DKLEENE_EMULATOR=OFF", "-DCMAKE_DISABLE_PRECOMPILE_HEADERS=ON"]
    configure += [f"-DPython_EXECUTABLE={sys.executable}"]
    configure += [f"-Dnanobind_DIR={nanobind}", f"-DCMAKE_CXX_FLAGS={flags}"]
    subprocess.run(configure, env=environment, check=True, stdout=subprocess.DEVNULL)
    ninja = ["ninja", "-C", str(build), "-k", "0", "-j", str(jobs), "_native"]
    run = subprocess.run(ninja, env=environment, capture_output=True, text=True)
    (build.parent / "log.txt").write_text(run.stdout + run.stderr)
    return None if run.returncode == 0 else run.stdout


def _lines_to_drop(errors: str, mutants: list[Mutant]) -> set[tuple[str, int]]:
    """Return the lines that errors are about: where they are, or where templates are used."""
    mutated = {(mutant.file, mutant.line) for mutant in mutants}
    lines, context = set(), set()
    for text in errors.splitlines():
        if (match := _ERROR.search(text)) is None:
            if " error: " in text and context:  # in mutants.hpp: the place that uses it
                lines |= context
                context = set()
            continue
        place = match[1], int(match[2])
        if match[3].startswith("error:"):
            lines |= {place} & mutated or context & mutated
            context = set()
        elif "required from" in match[3]:
            context |= {place} & mutated
    if not lines & mutated:
        raise RuntimeError(f"the mutated sources do not compile:\n{errors[-4000:]}")
    return lines & mutated
