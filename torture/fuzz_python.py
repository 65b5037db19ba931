"""Fuzz one Python target in this process, or replay files: started by ``torture.fuzz``.

``python -m torture.fuzz_python TARGET FILE...`` replays files. With ``--seconds`` the file is a
folder: inputs come from it and new ones are kept there. Atheris guides the search by coverage;
where it is not installed, inputs are mutated at random.
"""

from __future__ import annotations

import argparse
import contextlib
import importlib.util
import os
import random
import resource
import signal
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from types import FunctionType

MEMORY = 2 << 30  # of address space, and so the budget of every reader
SECONDS = 60  # for one input, on a busy machine
LONGEST = 1 << 14  # bytes of an input

Check = Callable[[bytes], None]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("target")
    parser.add_argument("files", nargs="+", type=Path)
    parser.add_argument("--seconds", type=float)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--artifacts", type=Path, help="an input that fails is kept there")
    args = parser.parse_args()
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
    from torture.fuzz_targets import TARGETS

    check = TARGETS[args.target]
    if args.seconds is None:
        for file in args.files:
            check(file.read_bytes())
        print(f"{args.target}: {len(args.files)} files give a graph, a result or a KleeneError")
    elif importlib.util.find_spec("atheris") is not None:
        _fuzz_guided(check, args)
    else:
        _fuzz_at_random(check, args)


def _fuzz_guided(check: Check, args: argparse.Namespace) -> None:
    import atheris

    from torture.fuzz_mutations import mutate_file

    for function in _functions(("kleene.io", "kleene.results", "kleene.graph", "kleene.prepared")):
        atheris.instrument_func(function)

    def mutate(contents: bytes, longest: int, seed: int) -> bytes:
        def mutated(held: bytes) -> bytes:
            return bytes(atheris.Mutate(held, longest))

        return mutate_file(contents, mutated, random.Random(seed))[:longest]

    options = {
        "max_total_time": int(args.seconds),
        "seed": args.seed % 2**31 + 1,
        "timeout": SECONDS,
        "rss_limit_mb": MEMORY >> 20,
        "max_len": LONGEST,
        "print_final_stats": 1,
        "verbosity": 0,
        "artifact_prefix": f"{args.artifacts}/{args.target}-",
    }
    flags = [f"-{name}={value}" for name, value in options.items()]
    atheris.Setup([sys.argv[0], *flags, *map(str, args.files)], check, custom_mutator=mutate)
    atheris.Fuzz()  # ends the process


def _functions(packages: tuple[str, ...]) -> Iterator[FunctionType]:
    """Yield the functions and methods of imported modules.

    The import hook of Atheris does not see them: in an editable installation, another hook loads
    the modules.
    """
    for name, module in list(sys.modules.items()):
        if not name.startswith(packages):
            continue
        for held in list(vars(module).values()):
            if isinstance(held, FunctionType) and held.__module__ == name:
                yield held
            elif isinstance(held, type) and held.__module__ == name:
                for member in vars(held).values():
                    inner = getattr(member, "fget", None) or getattr(member, "func", None)
                    function = inner or getattr(member, "__func__", member)
                    if isinstance(function, FunctionType) and function.__module__ == name:
                        yield function


def _fuzz_at_random(check: Check, args: argparse.Namespace) -> None:
    from torture.fuzz_mutations import mutate_bytes, mutate_file

    chance = random.Random(args.seed)
    corpus = [file.read_bytes() for folder in args.files for file in sorted(folder.iterdir())]
    kept = args.artifacts / f"{args.target}-random-{args.seed}"
    end = time.monotonic() + args.seconds
    cases = 0
    while time.monotonic() < end:
        contents = mutate_file(
            chance.choice(corpus), lambda held: mutate_bytes(held, chance), chance
        )[:LONGEST]
        kept.write_bytes(contents)  # for the case that this process is killed
        signal.alarm(SECONDS)
        check(contents)
        cases += 1
    signal.alarm(0)
    with contextlib.suppress(FileNotFoundError):
        os.remove(kept)
    print(f"stat::number_of_executed_units: {cases}")


if __name__ == "__main__":
    main()
