"""Mutants: programs changed in one small way, which the tests must notice.

Of the native core (comparisons, logical operators, bounds by one, minima) and of the modules that
prove results (the same, and constants, calls, arithmetic). All mutants are in one build; a choice
at run time makes one of them real. See `cpp`, `python` and `server`.

A mutant that computes the same, only slower or faster, cannot be killed. Those that were looked at
are listed in ``torture/mutation_survivors.toml``, with the reason; they count as explained. All
others must be killed, up to the rate that is promised.
"""

from __future__ import annotations

import ctypes.util
import fnmatch
import hashlib
import json
import os
import random
import subprocess
import sys
import tomllib
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from torture.campaign import Budget, Outcome
from torture.mutation import native, python
from torture.mutation.sites import Mutant

__all__ = ["Mutants", "Verdict", "core_mutants", "run", "verdicts", "verifier_mutants"]

ROOT = Path(__file__).resolve().parents[2]
SURVIVORS = ROOT / "torture" / "mutation_survivors.toml"

#: The share of the mutants that tests must kill, those not counted that no test can kill.
PROMISED = 0.95

#: Builds of the mutated core take some minutes: only campaigns this long make one.
SECONDS_FOR_A_BUILD = 240

#: Tests of a mutant stop when the recorded times of them add up to this.
SECONDS_EACH = 15

#: Of src/kleene/results.
VERIFIER_FILES = (
    "claim.py", "result.py", "row_arcs.py", "row_checker.py", "saved.py", "tight_arcs.py",
    "verify.py",
)  # fmt: skip
VERIFIER_TESTS = (
    "test_verify*.py", "test_result*.py", "test_within.py", "test_nearest.py", "test_isochrones.py",
    "test_components.py", "test_k_shortest.py", "test_turns.py", "test_keep_device.py",
    "test_prepare.py", "test_prepare_results.py",
)  # fmt: skip
CORE_TESTS = (
    "test_*_native.py", "test_*_boundaries.py", "test_betweenness*.py", "test_components.py",
    "test_csgraph.py", "test_dense_graph.py", "test_diameter.py", "test_distance_measures.py",
    "test_encodings.py", "test_generate.py", "test_graph.py", "test_io_text.py",
    "test_k_shortest.py", "test_loads.py", "test_path_counts.py", "test_prepare*.py",
    "test_product.py", "test_product_types.py", "test_reduce_distances.py", "test_spmv.py",
    "test_trees.py",
)  # fmt: skip


@dataclass(frozen=True)
class Mutants:
    """All mutants of a part of the program, and the tests that should kill them."""

    name: str
    all: list[Mutant]
    modules: dict[str, str]  # files to load instead of the modules
    digest: str
    tests: tuple[str, ...]


@dataclass(frozen=True)
class Verdict:
    """What became of a mutant."""

    mutant: Mutant
    verdict: str  # killed, crashed, hung, survived, not executed
    explanation: str | None  # why it cannot be killed
    by: str | None  # the test

    @property
    def killed(self) -> bool:
        return self.verdict in ("killed", "crashed", "hung")


def run(budget: Budget) -> Outcome:
    """Run a random sample of the mutants, as many as there is time for."""
    facts: dict[str, Any] = {}
    found: list[Verdict] = []
    failures: list[str] = []
    core = core_mutants(budget)
    for mutants, share in ((verifier_mutants(), 0.3 if core else 1.0), (core, 1.0)):
        if mutants is None:
            continue
        order = random.Random(budget.seed).sample(mutants.all, len(mutants.all))
        seen, left_out = verdicts(mutants, _spread(order), share * budget.left(), budget.jobs)
        found += seen
        lost = [one for one in seen if not one.killed and one.explanation is None]
        killed = sum(one.killed for one in seen)
        facts[f"{mutants.name} mutants"] = len(seen)
        facts[f"{mutants.name} killed"] = killed
        facts[f"{mutants.name} explained"] = len(seen) - killed - len(lost)
        facts[f"{mutants.name} survived"] = len(lost)
        if left_out:  # in a short run: what survives might be killed by them
            facts[f"{mutants.name} tests left out"] = left_out
        elif not seen:
            failures.append(f"no mutant of the {mutants.name} was run")
        elif killed < PROMISED * (killed + len(lost)):
            failures += [f"{one.verdict}: {one.mutant}" for one in lost]
    _report(found)
    return Outcome(len(found), failures, facts)


def core_mutants(budget: Budget) -> Mutants | None:
    """Return the mutants of the native core; build it, if that is still to do and there is time."""
    kept = native.load_built(ROOT)
    if kept is None and budget.seconds >= SECONDS_FOR_A_BUILD:
        kept = native.built(ROOT, budget.jobs)
    if kept is None:
        return None
    modules = {"kleene._native": str(kept.module)}
    digest = hashlib.sha256(kept.module.read_bytes()).hexdigest()
    return Mutants("core", kept.mutants, modules, digest, CORE_TESTS)


def verifier_mutants() -> Mutants:
    """Return the mutants of the modules that load and prove results."""
    folder = ROOT / "build" / "mutants" / "python"
    folder.mkdir(parents=True, exist_ok=True)
    mutants: list[Mutant] = []
    modules, digest = {}, hashlib.sha256()
    results = ROOT / "src" / "kleene" / "results"
    for path in sorted(path for files in VERIFIER_FILES for path in results.glob(files)):
        text, found = python.mutate(ROOT, path, len(mutants) + 1)
        mutants += found
        (folder / path.name).write_text(text)
        name = ".".join(path.relative_to(ROOT / "src").with_suffix("").parts)
        modules[name] = str(folder / path.name)
        digest.update(text.encode())
    return Mutants("verifier", mutants, modules, digest.hexdigest(), VERIFIER_TESTS)


def verdicts(
    mutants: Mutants,
    chosen: Iterable[Mutant],
    seconds: float,
    jobs: int,
    seconds_each: float = SECONDS_EACH,
) -> tuple[list[Verdict], int]:
    """Run the chosen mutants in order, until the time is up.

    Returns what became of them, and how many tests were left out for lack of time.
    """
    by_number = {mutant.number: mutant for mutant in chosen}
    folder = ROOT / "build" / "mutants"
    results = folder / f"{mutants.name}-results.jsonl"
    results.write_text("")
    task = {
        "mutants": [(mutant.number, mutant.file) for mutant in by_number.values()],
        "count": mutants.all[-1].number,
        "native": mutants.modules.get("kleene._native"),
        "digest": mutants.digest,
        "jobs": jobs,
        "seconds": seconds,
        "seconds_recording": 0.4 * seconds,
        "seconds_each": seconds_each,
        "results": str(results),
        "recorded": str(folder / f"{mutants.name}-recorded.json"),
    }
    (folder / "task.json").write_text(json.dumps(task))
    (folder / "modules.json").write_text(json.dumps(mutants.modules))
    _run_server(folder, mutants.tests)
    rows = [json.loads(line) for line in results.read_text().splitlines()]
    explanations = _Explanations(SURVIVORS)
    found = [
        Verdict(mutant, row["verdict"], explanations.of(mutant), row.get("by"))
        for row in rows
        if "number" in row and (mutant := by_number[row["number"]])
    ]
    return found, sum(row.get("left_out", 0) for row in rows)


def _run_server(folder: Path, patterns: tuple[str, ...]) -> None:
    tests = sorted({path for pattern in patterns for path in ROOT.glob(f"tests/{pattern}")})
    inject = Path(__file__).parent / "inject"
    environment = {
        **os.environ,
        **_checked_allocation(),
        "OPENBLAS_NUM_THREADS": "1",
        "PYTHONPATH": f"{inject}{os.pathsep}{ROOT}",
        "KLEENE_MUTATION": str(folder / "modules.json"),
        "KLEENE_MUTATION_TASK": str(folder / "task.json"),
    }
    command = [sys.executable, "-m", "pytest", "-q", "-s", "-p", "no:cacheprovider"]
    command += ["-p", "no:faulthandler", "-p", "torture.mutation.server"]
    command += ["--continue-on-collection-errors", "-k", "not emulated and not on_a_device"]
    with (folder / "server.txt").open("w") as log:
        subprocess.run(
            [*command, *map(str, tests)], cwd=ROOT, env=environment, stdout=log, stderr=log
        )


def _checked_allocation() -> dict[str, str]:
    """Return variables that fill memory with other than zeros, and look for writes beyond it."""
    variables = {"MALLOC_PERTURB_": "165"}
    if ctypes.util.find_library("c_malloc_debug"):
        variables |= {"LD_PRELOAD": "libc_malloc_debug.so.0", "MALLOC_CHECK_": "3"}
    return variables


def _spread(order: list[Mutant]) -> list[Mutant]:
    """Take turns between folders, so that a short run sees all of them."""
    seen: dict[str, int] = {}
    ranks = []
    for mutant in order:
        folder = str(Path(mutant.file).parent)
        seen[folder] = seen.get(folder, 0) + 1
        ranks.append(seen[folder])
    return [
        mutant for _, mutant in sorted(zip(ranks, order, strict=True), key=lambda pair: pair[0])
    ]


def _report(found: list[Verdict]) -> None:
    """Write what became of each mutant to build/mutants/report.txt."""
    lines = []
    for one in sorted(found, key=lambda one: one.mutant.number):
        reason = f" by {one.by}" if one.by else f" ({one.explanation or 'NOT EXPLAINED'})"
        lines.append(f"{one.verdict}: {one.mutant}{reason}")
    (ROOT / "build" / "mutants" / "report.txt").write_text("\n".join(lines) + "\n")


class _Explanations:
    """The reviewed list of mutants that compute the same."""

    def __init__(self, path: Path) -> None:
        self.rows: list[dict[str, Any]] = tomllib.loads(path.read_text())["survivor"]

    def of(self, mutant: Mutant) -> str | None:
        """Return why the mutant cannot be killed, None if it should be."""
        for row in self.rows:
            change = row.get("change")
            if (
                fnmatch.fnmatch(mutant.file, row["file"])
                and row["text"] in mutant.text
                and (change is None or mutant.change.startswith(change))
            ):
                return str(row["why"])
        return None
