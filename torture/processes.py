"""A part of the campaign in several processes, each with its own seed."""

from __future__ import annotations

import json
import subprocess
import sys
from collections import Counter
from pathlib import Path

from torture.campaign import Budget, Outcome

__all__ = ["HANG", "run_processes"]

HANG = 60.0  # seconds that no case takes


def run_processes(module: str, budget: Budget) -> Outcome:
    """Run a module as a program in every process, and add up the reports that they print."""
    root = Path(__file__).resolve().parent.parent
    seconds = max(5.0, budget.left() - 5)
    command = [sys.executable, "-m", module, "--seconds", str(seconds), "--seed"]
    workers = [
        subprocess.Popen(
            [*command, str(budget.seed + job)],
            stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, cwd=root,
        )
        for job in range(max(1, budget.jobs))
    ]  # fmt: skip
    cases, failures, facts = 0, [], Counter[str]()
    for job, worker in enumerate(workers):
        try:
            said, complained = worker.communicate(timeout=2 * seconds + 3 * HANG)
            report = json.loads(said.splitlines()[-1])
        except (subprocess.TimeoutExpired, IndexError, ValueError):
            worker.kill()
            _, complained = worker.communicate()
            print(complained, file=sys.stderr)  # stacks, where it was the watchdog
            last = " | ".join(complained.strip().splitlines()[-3:])
            failures.append(f"seed {budget.seed + job}: the campaign itself failed: {last}")
            continue
        cases += report["cases"]
        failures += report["failures"]
        facts.update(report["facts"])
    return Outcome(cases, failures, dict(sorted(facts.items())))
