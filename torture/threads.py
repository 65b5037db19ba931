"""Random public calls from several threads, on objects that all of them share and that are new.

What a graph, a prepared graph or a result derives and keeps is made at its first use; so every
round begins with new objects, whose first uses meet. Threads take turns as often as Python can.
Answers are those of one thread. A round makes a number of calls that its seed decides, and a run
with the same seed repeats the rounds; how many there are follows from the time.
"""

from __future__ import annotations

import argparse
import faulthandler
import json
import random
import sys
import tempfile
import threading
import time
import traceback
from collections import Counter
from pathlib import Path
from typing import Any

from torture.campaign import Budget, Outcome
from torture.processes import HANG, run_processes
from torture.public_calls import Call, all_calls

__all__ = ["make_round", "run"]

SWITCH_INTERVAL = 1e-5  # seconds
MOST_THREADS = 6
CALLS = 300  # of a round, by all threads together
ROUND_SECONDS = 0.5  # after which they make no more
KINDS = 8  # of calls in every second round; in the others all threads make the same one


def run(budget: Budget) -> Outcome:
    """Run rounds in every process."""
    return run_processes("torture.threads", budget)


def make_round(
    calls: list[Call], right: dict[str, Any], number: int, seed: int
) -> tuple[int, list[str]]:
    """Make calls from some threads at once; return how many, and what was wrong."""
    chance = random.Random(f"{seed}-{number}")
    if number % 2:
        chosen = chance.sample(calls, min(KINDS, len(calls)))
    else:  # each call in its turn
        turn, place = divmod(number // 2, len(calls))
        chosen = [random.Random(f"{seed} turn {turn}").sample(calls, len(calls))[place]]
    made: list[Call] = []
    failures: list[str] = []

    def work(own: list[Call], together: threading.Barrier) -> None:
        together.wait()
        until = time.monotonic() + ROUND_SECONDS
        for call in own:
            if time.monotonic() > until:
                return
            made.append(call)
            try:
                answer = call.do()
            except BaseException:
                what = " | ".join(traceback.format_exc().strip().splitlines()[-4:])
                failures.append(f"{call.name}: {what}")
            else:
                if answer != right[call.name]:
                    wrong = f"{str(answer)[:80]} is not {str(right[call.name])[:80]}"
                    failures.append(f"{call.name}: {wrong}")

    count = chance.randint(2, MOST_THREADS)
    together = threading.Barrier(count)
    threads = [
        threading.Thread(target=work, args=(chance.choices(chosen, k=CALLS // count), together))
        for _ in range(count)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return len(made), failures


def rounds(seconds: float, seed: int, folder: Path) -> Outcome:
    """Run rounds as long as the seconds last."""
    began = time.monotonic()
    faulthandler.enable()
    right = {call.name: call.do() for call in all_calls(folder)}
    sys.setswitchinterval(SWITCH_INTERVAL)
    failures: list[str] = []
    counts = Counter[str]()
    end = max(began + seconds, time.monotonic() + seconds / 2)  # also where imports take long
    while time.monotonic() < end:
        faulthandler.dump_traceback_later(HANG, exit=True)
        number = counts["rounds"]
        made, found = make_round(all_calls(folder), right, number, seed)
        failures += [f"seed {seed}, round {number}: {what}" for what in found[:3]]
        counts["rounds"] += 1
        counts["calls"] += made
    faulthandler.cancel_dump_traceback_later()
    return Outcome(counts["calls"], failures[:20], {"rounds": counts["rounds"]})


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seconds", type=float, required=True)
    parser.add_argument("--seed", type=int, required=True)
    args = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="kleene-threads-") as folder:
        tempfile.tempdir = folder
        outcome = rounds(args.seconds, args.seed, Path(folder))
    print(json.dumps(vars(outcome)))


if __name__ == "__main__":
    main()
