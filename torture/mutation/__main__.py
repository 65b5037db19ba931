"""Run all mutants of some files, and print those that survive."""

from __future__ import annotations

import argparse
import os
import sys

from torture.campaign import Budget
from torture.mutation import PROOFS, core_mutants, proof_mutants, verdicts


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m torture.mutation", description=__doc__)
    parser.add_argument("files", nargs="+", help="or folders, or FILE:LINE")
    parser.add_argument("--minutes", type=float, default=60)
    parser.add_argument("--jobs", type=int, default=os.cpu_count() or 1)
    args = parser.parse_args()
    budget = Budget(60 * args.minutes, 0, args.jobs)
    found = []
    core = any(prefix.startswith("native") for prefix in args.files)  # which takes a build
    for mutants in (*map(proof_mutants, PROOFS), core_mutants(budget) if core else None):
        chosen = [
            mutant
            for mutant in (mutants.all if mutants else ())
            if any(f"{mutant.file}:{mutant.line}:".startswith(prefix) for prefix in args.files)
        ]
        if mutants and chosen:
            seen, left_out = verdicts(mutants, chosen, budget.left(), args.jobs)
            found += seen
            killed = sum(one.killed for one in seen)
            explained = sum(not one.killed and one.explanation is not None for one in seen)
            without = f", {left_out} tests left out" if left_out else ""
            print(
                f"{mutants.name}: {killed} of {len(seen)} killed, {explained} explained; "
                f"{len(chosen)} chosen{without}",
                flush=True,
            )
    for one in found:
        if not one.killed:
            print(f"{one.verdict}: {one.mutant} ({one.explanation or 'not explained'})")
    print(f"{sum(one.killed for one in found)} of {len(found)} killed")
    return 0


if __name__ == "__main__":
    sys.exit(main())
