"""Run parts of the campaign; exit with 1 if anything failed."""

from __future__ import annotations

import argparse
import os
import sys
import time
from pathlib import Path

from torture import record
from torture.campaign import Budget
from torture.parts import PARTS


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m torture", description=__doc__)
    names = [part.name for part in PARTS]
    parser.add_argument("parts", nargs="*", help=f"of {', '.join(names)}; all if none is given")
    parser.add_argument("--minutes", type=float, default=5, help="for all parts together")
    parser.add_argument("--seed", type=int, help="random if not given; printed")
    parser.add_argument("--jobs", type=int, default=os.cpu_count() or 1, help="processes")
    parser.add_argument(
        "--record", type=Path, metavar="FILE", help="keep the numbers there, for docs/trust.md"
    )
    args = parser.parse_args()
    if unknown := sorted(set(args.parts) - set(names)):
        parser.error(f"no part is named {', '.join(unknown)}; there are {', '.join(names)}")
    chosen = [part for part in PARTS if part.name in args.parts or not args.parts]
    seed = int.from_bytes(os.urandom(4), "little") if args.seed is None else args.seed
    print(f"seed {seed}", flush=True)
    shares = sum(part.share for part in chosen)
    failed = 0
    for part in chosen:
        budget = Budget(60 * args.minutes * part.share / shares, seed, args.jobs)
        outcome = part.run(budget)
        seconds = time.monotonic() - budget.began
        failed += len(outcome.failures)
        facts = ", ".join(f"{name} {value}" for name, value in outcome.facts.items())
        print(f"{part.name}: {outcome.cases:,} cases in {seconds:.0f} s; {facts}", flush=True)
        for failure in outcome.failures:
            print(f"  FAILED {failure}", flush=True)
        if args.record is not None:
            record.keep(args.record, part, outcome, seed, seconds)
    print(f"{failed} failures" if failed else "no failure")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
