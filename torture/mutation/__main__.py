"""Run all mutants of some files, and print those that survive."""

from __future__ import annotations

import argparse
import os
import sys

from torture.campaign import Budget
from torture.mutation import core_mutants, verdicts, verifier_mutants


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m torture.mutation", description=__doc__)
    parser.add_argument("files", nargs="+", help="or folders, or FILE:LINE")
    parser.add_argument("--minutes", type=float, default=60)
    parser.add_argument("--jobs", type=int, default=os.cpu_count() or 1)
    args = parser.parse_args()
    budget = Budget(60 * args.minutes, 0, args.jobs)
    found = []
    for mutants in (verifier_mutants(), core_mutants(budget)):
        chosen = [
            mutant
            for mutant in (mutants.all if mutants else ())
            if any(f"{mutant.file}:{mutant.line}:".startswith(prefix) for prefix in args.files)
        ]
        if mutants and chosen:
            found += verdicts(mutants, chosen, budget.left(), args.jobs)[0]
    for one in found:
        if not one.killed:
            print(f"{one.verdict}: {one.mutant} ({one.explanation or 'not explained'})")
    print(f"{sum(one.killed for one in found)} of {len(found)} killed")
    return 0


if __name__ == "__main__":
    sys.exit(main())
