"""Digests of what every variant of every kernel is compiled from, and of the PTX that it becomes.

    python tests/cuda/kernel_digests.py                    # writes data/kernels.json: ten minutes
    python tests/cuda/kernel_digests.py --compare ../base  # the PTX of two checkouts, for moves
    python tests/cuda/kernel_digests.py --compare ../base --arch 70 90 --record <gpu>.jsonl

The last one keeps a GPU's record valid: it adds a line that says which digests of the loader are of
the same kernels, if all PTX is equal.

Two digests, since they prove different things:

- of the source, with includes resolved and without comments, as tokens. Equal digests: the compiler
  reads the same, so the kernels are the same. Different ones prove nothing: a macro may have got
  another name. They need no compiler.
- of the PTX, for the oldest and the newest architectures. Equal digests, by the same version of the
  compiler: the same instructions, whatever files and macros they came from. Different ones say that
  the kernels changed, or that their functions and constants are in another order.

Neither knows the names and the folders of files. ``test_kernels`` compares: PTX where the compiler
is of the version that the file names (other compilers must make machine code of every variant),
sources everywhere.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import os
import re
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from difflib import unified_diff
from importlib.machinery import PathFinder
from itertools import islice
from pathlib import Path
from typing import Any, NamedTuple

import nvrtc

FILE = Path(__file__).parents[1] / "data" / "kernels.json"


class Variant(NamedTuple):
    """A kernel file with macros, and what the compiler is given."""

    name: str
    path: str
    options: list[str]
    source: str  # its digest


def variants() -> list[Variant]:
    """Return the variants of this checkout."""
    from kleene.backends.cuda.runtime import loader
    from kleene.backends.cuda.variants import VARIANTS, variant_name

    found = []
    for file, rows in VARIANTS.items():
        path, whole = loader.path_of(file), loader.normalized(loader.resolved(file))
        for row in rows:
            options = list(nvrtc.command_line(loader.program_options(row)))
            fixed = [option for option in options if not option.startswith("--include-path")]
            name = f"{file} {variant_name(row)}".strip()
            found.append(Variant(name, str(path), options, digest("\n".join([*fixed, whole]))))
    return found


def digest(text: str) -> str:
    """Return the beginning of a SHA-256."""
    return hashlib.sha256(text.encode()).hexdigest()[:16]


def plain(ptx: str) -> str:
    """Return PTX without comments, which name the compiler, and without places in files."""
    lines = (line.partition("//")[0].rstrip() for line in ptx.splitlines())
    return "\n".join(line for line in lines if line and not re.match(r"\s*\.(file|loc)\b", line))


def target_name(package: str, arch: int) -> str:
    """Return the name of a target in the file."""
    return f"{package} sm_{arch}"


def ptx_of(variant: Variant, package: str, arch: int, assemble: bool = False) -> str:
    """Return the PTX of a variant, for comparison; if asked, only where it has machine code."""
    target = f"{'sm' if assemble else 'compute'}_{arch}"
    made = nvrtc.compiled(package, Path(variant.path), variant.options, target)
    if not (made.image if assemble else made.ptx):
        raise SystemExit(f"{variant.name} does not compile for {arch}:\n{made.messages}")
    return plain(made.ptx)


def document() -> dict[str, Any]:
    """Return what the file holds; compiles everything."""
    listed = variants()
    kernels = {variant.name: {"source": variant.source} for variant in listed}
    for package, arch in nvrtc.TARGETS:
        for variant, ptx in zip(listed, _all_ptx(listed, package, arch, True), strict=True):
            kernels[variant.name][target_name(package, arch)] = digest(ptx)
    versions = {package: nvrtc.version(package) for package in nvrtc.COMPILERS}
    return {"compilers": versions, "kernels": kernels}


def _all_ptx(listed: list[Variant], package: str, arch: int, assemble: bool = False) -> list[str]:
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        return list(pool.map(lambda each: ptx_of(each, package, arch, assemble), listed))


# ---- two checkouts ------------------------------------------------------------------------------


def variants_of(checkout: Path) -> dict[str, Variant]:
    """Return the variants of a checkout, as it lists them itself; it need not be built."""
    own = Path(__file__)
    program = next((checkout / "tests").rglob(own.name), own)
    command = [sys.executable, str(program), "--list", str(checkout / "src")]
    made = subprocess.run(command, capture_output=True, text=True, check=True)
    return {fields[0]: Variant(*fields) for fields in json.loads(made.stdout)}


def loader_digest(checkout: Path) -> str:
    """Return the digest of all kernels that the loader of a checkout gives to records."""
    program = (
        "import sys; from importlib.machinery import PathFinder; sys.path.insert(0, sys.argv[1]); "
        "sys.meta_path.insert(0, PathFinder); from kleene.backends.cuda.runtime import loader; "
        "print(loader.digest())"
    )
    command = [sys.executable, "-c", program, str(checkout / "src")]
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout.strip()


def note_same(other: Path, targets: list[tuple[str, int]], record: Path) -> None:
    """Add to a record that the kernels of another checkout, whose PTX is equal, are these."""
    from kleene_lab.harness.record import SameKernels, append

    here = Path(__file__).parents[2]
    ptx: dict[str, list[str]] = {}
    for package, arch in targets:
        ptx.setdefault(f"{package} {nvrtc.version(package)}", []).append(f"sm_{arch}")
    line = SameKernels(
        loader_digest(other), loader_digest(here), time.strftime("%Y-%m-%d", time.gmtime()),
        len(variants_of(here)), ptx,
    )  # fmt: skip
    with record.open("a", encoding="utf-8") as file:
        append(file, line)


def compare(other: Path, package: str, arch: int, only: str = "") -> int:
    """Print how the PTX of another checkout differs from that of this one; return how often.

    ``only`` is how the names of the variants begin.
    """
    before, after = (
        {name: variant for name, variant in variants_of(checkout).items() if name.startswith(only)}
        for checkout in (other, Path(__file__).parents[2])
    )
    lines = [f"- {name}: only there" for name in before.keys() - after.keys()]
    lines += [f"+ {name}: only here" for name in after.keys() - before.keys()]
    both = [name for name in after if name in before]
    pairs = zip(
        both,
        _all_ptx([before[name] for name in both], package, arch),
        _all_ptx([after[name] for name in both], package, arch),
        strict=True,
    )
    for name, there, here in pairs:
        if there != here:
            changed = unified_diff(there.splitlines(), here.splitlines(), lineterm="", n=0)
            lines += [f"! {name}: another PTX", *(f"    {line}" for line in islice(changed, 2, 8))]
    sources = sum(before[name].source == after[name].source for name in both)
    differ = sum(not line.startswith(" ") for line in lines)
    lines.append(
        f"{package} {nvrtc.version(package)}, sm_{arch}: {len(both)} variants in both, "
        f"{sources} of the same source; {differ} differ"
    )
    print("\n".join(lines))
    return differ


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--compare", type=Path, metavar="CHECKOUT", help="with that of a folder")
    known = [arch for _, arch in nvrtc.TARGETS]
    parser.add_argument("--arch", type=int, nargs="+", choices=known, default=[90])
    parser.add_argument("--only", default="", metavar="NAME", help="variants that begin so")
    parser.add_argument("--record", type=Path, metavar="FILE", help="add that all are equal")
    parser.add_argument("--list", metavar="SRC", help=argparse.SUPPRESS)
    args = parser.parse_args()
    if args.list:
        sys.path.insert(0, args.list)
        sys.meta_path.insert(0, PathFinder)  # before that of the package which is installed
        print(json.dumps(variants()))
        return 0
    if args.compare is not None:
        targets = [target for target in nvrtc.TARGETS if target[1] in args.arch]
        differ = [compare(args.compare, *target, args.only) for target in targets]
        if args.record is not None and not args.only and not any(differ):
            note_same(args.compare, targets, args.record)
        return int(any(differ))
    found = document()
    FILE.write_text(json.dumps(found, indent=1) + "\n")
    print(f"{FILE}: {len(found['kernels'])} variants")
    return 0


if __name__ == "__main__":
    sys.exit(main())
