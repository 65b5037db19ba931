"""Fuzz every parser, and ``Result.load``, from the corpus in the repository.

Native text parsers run under libFuzzer with AddressSanitizer and UBSan; readers in Python run under
Atheris. Where clang or Atheris is missing, fuzzers built elsewhere (``build/fuzzers``) and random
mutations of the corpus take their place; the facts say which ran. ``python -m torture.fuzz`` adds
to the corpus what long runs found: see torture/corpus/README.md.
"""

from __future__ import annotations

import base64
import importlib.util
import os
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from types import FrameType

from torture.campaign import Budget, Outcome
from torture.fuzz_native import BUILD, NATIVE_TARGETS, ROOT, build, clang
from torture.fuzz_targets import TARGETS

__all__ = ["CORPUS", "run"]

CORPUS = ROOT / "torture/corpus"
WORK = ROOT / "build/fuzz"  # what long runs find is kept here, and used by the next

LONGEST_KEPT = 4096  # bytes of an input that joins the corpus

_CASES = re.compile(r"stat::number_of_executed_units:\s*(\d+)")
_GRACE = 60  # seconds for a process to start, and to end by itself
_REASONS = re.compile(
    r"^broken: .*|^SUMMARY: .*|^[\w.]*(?:Error|Contract|Exception)\b.*|.*runtime error:.*", re.M
)


@dataclass(frozen=True)
class Fuzzer:
    """One target and how to run it: ``command(seconds, seed, folder of inputs)``."""

    name: str
    command: Callable[[int, int, Path], list[str]]


def run(budget: Budget) -> Outcome:
    failures: list[str] = []
    native = build(budget.jobs)
    fuzzers = [_native(name, binary) for name, binary in native.items()]
    fuzzers += [_python(name) for name in TARGETS]
    copies = max(1, budget.jobs // len(fuzzers))  # of each, which exchange what they find
    runs = [(fuzzer, copy) for copy in range(copies) for fuzzer in fuzzers]
    waves = -(-len(runs) // budget.jobs)
    seconds = max(2, int(budget.left() / waves))
    with ThreadPoolExecutor(budget.jobs) as pool:
        counts = list(
            pool.map(lambda run: _fuzz(run[0], seconds, budget.seed + run[1], failures), runs)
        )
    cases = sum(counts)
    parsed = sum(n for (fuzzer, _), n in zip(runs, counts, strict=True) if fuzzer.name in native)
    guided = importlib.util.find_spec("atheris") is not None
    facts = {
        "targets": len(fuzzers),
        "native parsers": f"{parsed:,} inputs by {_how_native(native)}",
        "readers and results": f"{cases - parsed:,} inputs by "
        + ("Atheris" if guided else "random mutation (no Atheris)"),
        "corpus": f"{sum(1 for _ in CORPUS.glob('*/*'))} files",
        "process hours": round(seconds * len(runs) / 3600, 2),
    }
    return Outcome(cases, failures, facts)


def _how_native(native: dict[str, Path]) -> str:
    if not native:
        return "nothing: no clang, and no fuzzer in build/fuzzers"
    return "libFuzzer" if clang() else "libFuzzer, built elsewhere"


# ---- one fuzzer ---------------------------------------------------------------------------------


def _native(name: str, binary: Path) -> Fuzzer:
    options = ("-timeout=20", "-rss_limit_mb=2048", "-print_final_stats=1", "-max_len=4096")
    quiet = ("-verbosity=0", "-reload=10", f"-artifact_prefix={WORK}/failures/{name}-")
    return Fuzzer(
        name,
        lambda seconds, seed, folder: [
            str(binary),
            *options,
            *quiet,
            f"-max_total_time={seconds}",
            f"-seed={seed % 2**31 + 1}",
            str(folder),
            str(CORPUS / name),
        ],
    )


def _python(name: str) -> Fuzzer:
    return Fuzzer(
        name,
        lambda seconds, seed, folder: [
            sys.executable,
            *("-m", "torture.fuzz_python", name, str(folder), str(CORPUS / name)),
            *("--seconds", str(seconds), "--seed", str(seed)),
            *("--artifacts", str(WORK / "failures")),
        ],
    )


def _fuzz(fuzzer: Fuzzer, seconds: int, seed: int, failures: list[str]) -> int:
    """Run one process; return how many inputs it tried."""
    folder = WORK / fuzzer.name
    folder.mkdir(parents=True, exist_ok=True)
    kept = WORK / "failures"
    kept.mkdir(exist_ok=True)
    before = set(kept.iterdir())
    with tempfile.TemporaryDirectory(prefix="kleene-fuzz-") as scratch:
        try:
            ended = subprocess.run(
                fuzzer.command(seconds, seed, folder),
                stdout=subprocess.PIPE,
                stderr=subprocess.STDOUT,
                timeout=seconds + _GRACE,
                cwd=ROOT,
                env={**os.environ, "TMPDIR": scratch, "PYTHONFAULTHANDLER": "1"},
            )
            code, output = ended.returncode, ended.stdout.decode("utf-8", "replace")
        except subprocess.TimeoutExpired as late:
            code, output = -1, (late.stdout or b"").decode("utf-8", "replace") + "\nerror: hangs"
    cases = _CASES.search(output)
    if code != 0 or cases is None:
        reasons = _REASONS.findall(output) or output.splitlines()[-1:]
        found = [path for path in set(kept.iterdir()) - before if path.name.startswith(fuzzer.name)]
        failures.append(f"{fuzzer.name}: {reasons[:2]}, exit {code}; {_describe(found)}")
    return int(cases[1]) if cases else 0


def _describe(found: list[Path]) -> str:
    if not found:
        return "no input was kept"
    path = min(found, key=lambda path: path.stat().st_size)
    contents = base64.b64encode(path.read_bytes()).decode()
    return f"{path.relative_to(ROOT)}, in base64 {contents[:400]}"


# ---- the corpus ---------------------------------------------------------------------------------


def minimise() -> None:
    """Add to the corpus, from what long runs found, the inputs that reach more code."""
    for name in (*NATIVE_TARGETS, *TARGETS):
        found, corpus = WORK / name, CORPUS / name
        corpus.mkdir(exist_ok=True)
        before = sum(1 for _ in corpus.iterdir())
        if name in NATIVE_TARGETS and found.is_dir():
            merge = [str(BUILD / name), "-merge=1", "-use_counters=0", str(corpus), str(found)]
            subprocess.run(merge, check=True, capture_output=True)
        elif found.is_dir():
            _add_reaching(TARGETS[name], corpus, found)
        print(f"{name}: {before} inputs, then {sum(1 for _ in corpus.iterdir())}")


def _add_reaching(check: Callable[[bytes], None], corpus: Path, found: Path) -> None:
    """Copy the inputs, small ones first, that reach lines of Kleene in an order not yet seen."""
    reached: set[tuple[str, int, int]] = set()
    small = [file for file in found.iterdir() if file.stat().st_size <= LONGEST_KEPT]
    for file in [*corpus.iterdir(), *sorted(small, key=lambda file: file.stat().st_size)]:
        steps = _steps(check, file.read_bytes())
        if file.parent == found and not steps <= reached:
            shutil.copy(file, corpus / file.name)
        reached |= steps


def _steps(check: Callable[[bytes], None], contents: bytes) -> set[tuple[str, int, int]]:
    """Return the steps from line to line that a check takes in Kleene's own files."""
    steps = set()

    def trace(frame: FrameType, event: str, _: object) -> Callable[..., object] | None:
        file = frame.f_code.co_filename
        if "/kleene/" not in file:
            return None
        last = frame.f_code.co_firstlineno

        def step(frame: FrameType, event: str, _: object) -> Callable[..., object]:
            nonlocal last
            steps.add((file, last, frame.f_lineno))
            last = frame.f_lineno
            return step

        return step

    sys.settrace(trace)
    try:
        check(contents)
    finally:
        sys.settrace(None)
    return steps


if __name__ == "__main__":
    minimise()
