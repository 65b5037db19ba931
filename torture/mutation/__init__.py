"""Mutants: programs changed in one small way, which the tests must notice.

Of the native core (comparisons, logical operators, bounds by one, minima) and of the modules that
prove results (the same, and constants, calls, arithmetic). All mutants are in one build; a choice
at run time makes one of them real. See `cpp`, `python` and `server`.

A mutant that computes the same, only slower or faster, cannot be killed. Where that was looked at,
a comment at the line says why (see `explained`), and the mutant counts as explained. All others
must be killed, up to the rate that is promised.
"""

from __future__ import annotations

import ctypes.util
import hashlib
import json
import os
import random
import subprocess
import sys
import time
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from torture.campaign import Budget, Outcome
from torture.mutation import native, python
from torture.mutation.explained import Explanations
from torture.mutation.sites import Mutant

__all__ = ["PROOFS", "Mutants", "Verdict", "core_mutants", "proof_mutants", "run", "verdicts"]

ROOT = Path(__file__).resolve().parents[2]

#: The share of the mutants that tests must kill, those not counted that no test can kill.
PROMISED = 0.95

#: Builds of the mutated core take some minutes: only campaigns this long make one.
SECONDS_FOR_A_BUILD = 240

#: Another proof is begun only with so much time left.
SECONDS_FOR_A_PROOF = 30

#: Tests of a mutant stop when the recorded times of them add up to this.
SECONDS_EACH = 15

#: The modules of src/kleene that prove answers or check what is proved, and the tests of each that
#: should kill its mutants. They run module by module, so that a short run has all tests of some.
PROOFS: dict[str, tuple[str, ...]] = {
    "backends/common/walks.py": ("test_proof_boundaries.py", "test_result*.py"),
    "proofs/claim.py": (
        "test_verify*.py", "test_result_archives.py", "test_measure_proofs.py",
    ),
    "proofs/counts.py": (
        "test_proof_boundaries.py", "test_count_bounds.py", "test_reduce_distances.py",
        "test_distance_measures.py", "test_verify_no_path.py",
    ),
    "results/distance_reduction.py": (
        "test_measure_boundaries.py", "test_reduce_distances.py", "test_verify_no_path.py",
    ),
    "results/nearest.py": (
        "test_proof_boundaries.py", "test_prepare.py", "test_prepare_results.py",
        "test_prepared_nearest.py", "test_prepared_nearest_labels.py", "test_verify_no_path.py",
    ),
    "results/paths.py": ("test_proof_boundaries.py", "test_result*.py"),
    "results/result.py": (
        "test_proof_boundaries.py", "test_result*.py", "test_verify*.py", "test_keep_device.py",
    ),
    "proofs/row_checker.py": ("test_verify*.py",),
    "results/saved.py": (
        "test_proof_boundaries.py", "test_verify_hostile.py", "test_result*.py",
        "test_verify_no_path.py",
    ),
    "engine/searched_rows.py": (
        "test_measure_boundaries.py", "test_reduce_distances.py", "test_result_archives.py",
        "test_matrix.py", "test_measure_proofs.py",
    ),
    "proofs/row_arcs.py": ("test_measure_boundaries.py", "test_verify*.py"),
    "proofs/paths.py": ("test_verify*.py", "test_result.py"),
    "proofs/nearest.py": (
        "test_proof_boundaries.py", "test_nearest.py", "test_verify_no_path.py",
    ),
    "proofs/pairs.py": (
        "test_proof_boundaries.py", "test_result_pairs.py", "test_verify_no_path.py",
        "test_verify_rounding.py",
    ),
    "proofs/reach.py": (
        "test_proof_boundaries.py", "test_within.py", "test_verify_no_path.py",
    ),
    "proofs/rows.py": (
        "test_proof_boundaries.py", "test_measure_proofs.py", "test_verify_no_path.py",
        "test_verify_rounding.py", "test_reduce_distances.py", "test_prepare_results.py",
    ),
    "measures/betweenness.py": (
        "test_measure_boundaries.py", "test_betweenness*.py", "test_measure_proofs.py",
        "test_verify_no_path.py",
    ),
    "measures/distance_histogram.py": (
        "test_measure_boundaries.py", "test_distance_measures.py", "test_measure_proofs.py",
        "test_verify_no_path.py",
    ),
    "measures/distance_measure.py": (
        "test_measure_boundaries.py", "test_distance_measures.py", "test_measure_proofs.py",
        "test_verify_no_path.py",
    ),
    "measures/eccentricity.py": (
        "test_measure_boundaries.py", "test_diameter.py", "test_measure_proofs.py",
        "test_verify_no_path.py",
    ),
    "measures/loads_proof.py": (
        "test_proof_boundaries.py", "test_loads_proof.py", "test_loads.py",
        "test_verify_no_path.py",
    ),
    "measures/path_counts.py": (
        "test_proof_boundaries.py", "test_path_counts.py", "test_measure_proofs.py",
        "test_verify_no_path.py",
    ),
    "clusters/mpi/verify.py": ("test_mpi_verify.py",),
}  # fmt: skip
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
    """Run the mutants of some proofs, and of the core where there is a build, as time allows."""
    core = core_mutants(budget)
    outcome = _run_proofs(budget, (0.3 if core else 1.0) * budget.left())
    if core is None:
        return outcome
    order = random.Random(budget.seed).sample(core.all, len(core.all))
    seen, left_out = verdicts(core, _spread(order), budget.left(), budget.jobs)
    failures = [] if left_out else _beyond_promise(core.name, seen, len(seen))
    _report(seen, "core")
    return Outcome(
        outcome.cases + len(seen),
        outcome.failures + failures,
        outcome.facts | _facts(core.name, seen, left_out),
    )


def _run_proofs(budget: Budget, seconds: float) -> Outcome:
    """Run the mutants of one proof after another; every day begins with another one.

    A module fails where more of its mutants survive than may of all it has, which says something
    also if only a part of them was run, but nothing if a part of its tests was left out. Mutants
    that are explained are not run: a survivor takes longer than ten that are killed.
    """
    found: list[Verdict] = []
    failures: list[str] = []
    left_out, explained = 0, 0
    tried: list[str] = []
    until = time.monotonic() + seconds
    for proof in _rotated(list(PROOFS)):
        left = until - time.monotonic()
        if left < min(SECONDS_FOR_A_PROOF, 0.9 * seconds):
            break
        mutants = proof_mutants(proof)
        explanations = Explanations(ROOT, mutants.all)
        open_ = [mutant for mutant in mutants.all if explanations.of(mutant) is None]
        order = random.Random(budget.seed).sample(open_, len(open_))
        seen, missed = verdicts(mutants, order, left, budget.jobs)
        found += seen
        tried.append(Path(proof).stem)
        left_out, explained = left_out + missed, explained + len(mutants.all) - len(open_)
        failures += [] if missed else _beyond_promise(proof, seen, len(open_))
    _report(found, "proofs")
    facts = {"proofs": " ".join(tried), **_facts("verifier", found, left_out)}
    return Outcome(len(found), failures, facts | {"verifier explained": explained})


def _rotated(names: list[str]) -> list[str]:
    """Return the names, from another one on every day."""
    first = int(time.time()) // 86400 % len(names)
    return names[first:] + names[:first]


def _lost(seen: list[Verdict]) -> list[Verdict]:
    return [one for one in seen if not one.killed and one.explanation is None]


def _beyond_promise(name: str, seen: list[Verdict], of: int) -> list[str]:
    """Return the survivors among some of so many mutants, where they are more than may be."""
    if not seen:
        return [f"no mutant of {name} was run"]
    lost = _lost(seen)
    if len(lost) <= (1 - PROMISED) * of:
        return []
    return [f"{one.verdict}: {one.mutant}" for one in lost]


def _facts(name: str, seen: list[Verdict], left_out: int) -> dict[str, Any]:
    lost, killed = _lost(seen), sum(one.killed for one in seen)
    facts = {
        f"{name} mutants": len(seen),
        f"{name} killed": killed,
        f"{name} explained": len(seen) - killed - len(lost),
        f"{name} survived": len(lost),
    }
    # In a short run: what survives might be killed by them.
    return facts | ({f"{name} tests left out": left_out} if left_out else {})


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


def proof_mutants(proof: str) -> Mutants:
    """Return the mutants of one of the modules that prove results."""
    folder = ROOT / "build" / "mutants" / "python"
    folder.mkdir(parents=True, exist_ok=True)
    path = ROOT / "src" / "kleene" / proof
    text, mutants = python.mutate(ROOT, path, 1)
    module = ".".join(path.relative_to(ROOT / "src").with_suffix("").parts)
    mutated = folder / f"{module}.py"
    mutated.write_text(text)
    digest = hashlib.sha256(text.encode()).hexdigest()
    return Mutants(module, mutants, {module: str(mutated)}, digest, PROOFS[proof])


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
    explanations = Explanations(ROOT, mutants.all)
    found = [
        Verdict(mutant, row["verdict"], explanations.of(mutant), row.get("by"))
        for row in rows
        if "number" in row and (mutant := by_number[row["number"]])
    ]
    return found, sum(row.get("left_out", 0) for row in rows)


def _run_server(folder: Path, patterns: tuple[str, ...]) -> None:
    tests = sorted({path for pattern in patterns for path in ROOT.glob(f"tests/*/{pattern}")})
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


def _report(found: list[Verdict], name: str) -> None:
    """Write what became of each mutant to a file in build/mutants."""
    lines = []
    for one in sorted(found, key=lambda one: (one.mutant.file, one.mutant.number)):
        reason = f" by {one.by}" if one.by else f" ({one.explanation or 'NOT EXPLAINED'})"
        lines.append(f"{one.verdict}: {one.mutant}{reason}")
    (ROOT / "build" / "mutants" / f"report-{name}.txt").write_text("\n".join(lines) + "\n")
