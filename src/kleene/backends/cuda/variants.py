"""The variants of every kernel file.

A kernel file is compiled once for each of its variants, with the macros of the variant defined. No
device offers a variant that is not listed here. The build runs this file to write one source for
each variant, so it imports the standard library only:

    python variants.py FOLDER     # writes FOLDER/<file>_<number>.cpp, prints their names
"""

from __future__ import annotations

import sys
from collections.abc import Iterable, Mapping
from itertools import product
from pathlib import Path

__all__ = ["FOLDER", "UNRECORDED", "VARIANTS", "is_unrecorded", "path_of", "variant_name"]

#: Kernel files and headers; includes name paths from here.
FOLDER = Path(__file__).parent / "kernels"

Variant = dict[str, str | int]


def _rows(**values: Iterable[str | int]) -> tuple[Variant, ...]:
    """Return every combination of the values of each macro."""
    return tuple(dict(zip(values, row, strict=True)) for row in product(*values.values()))


_TYPES = ("float", "double", "int", "long long")

#: Number formats of the tiled closure: see ``kernels/closure/closure_semiring.cuh``.
_NUMBERS = (
    "KL_MIN_PLUS_LENGTH", "KL_MIN_PLUS_FLOAT", "KL_MIN_PLUS_DOUBLE", "KL_MIN_PLUS_INT",
    "KL_MIN_PLUS_LONG", "KL_MAX_MIN_INT", "KL_MAX_MIN_LONG", "KL_MAX_TIMES_FLOAT",
    "KL_MAX_TIMES_DOUBLE",
)  # fmt: skip
_PACKED = ("KL_MIN_PLUS_SHORT", "KL_BOOLEAN")  # several columns per word; no predecessors

#: Numbers of the tiled closure, and of answers that they are converted to; "unsigned" is 32 bits.
_EXPORTED = (
    ("short", "int"), ("short", "long long"), ("short", "double"), ("int", "int"),
    ("int", "double"), ("int", "unsigned char"), ("long long", "long long"),
    ("unsigned", "unsigned char"),
)  # fmt: skip

#: Path algebras of prepared graphs: see ``kernels/prepared/prepared_algebra.cuh``.
_PATH_ALGEBRAS = (
    *_rows(KL_SEMIRING=("KL_MIN_PLUS",), KL_TYPE=_TYPES),
    *_rows(KL_SEMIRING=("KL_MAX_MIN",), KL_TYPE=(*_TYPES, "unsigned char")),
    *_rows(KL_SEMIRING=("KL_MAX_TIMES",), KL_TYPE=("float", "double")),
)

#: The variants of every file in ``kernels/``.
VARIANTS: dict[str, tuple[Variant, ...]] = {
    "apsp_naive": _rows(KL_TYPE=_TYPES, KL_PATHS=(0, 1)),
    "apsp_blocked_global": _rows(KL_TYPE=_TYPES, KL_PATHS=(0, 1)),
    "apsp_blocked_shared": _rows(KL_TYPE=_TYPES, KL_PATHS=(0, 1)),
    "apsp_blocked_multi": _rows(KL_TYPE=_TYPES, KL_PATHS=(0, 1)),
    "apsp_products": _rows(KL_TYPE=_TYPES, KL_PATHS=(0, 1)),
    "betweenness_rounds": _rows(KL_SCALED=(0, 1)),
    "betweenness_tight": _rows(KL_TYPE=("int", "long long", "double")),
    "bfs_direction": _rows(),
    "bfs_frontiers": _rows(),
    "bfs_scan": _rows(),
    "bfs_sweeps": _rows(),
    "bfs_multi": _rows(),
    "closure_ceiling": _rows(KL_ALGEBRA=(*_NUMBERS, *_PACKED)),
    "closure_export": tuple({"KL_WORD": word, "KL_TYPE": number} for word, number in _EXPORTED),
    "closure_predecessors": _rows(KL_TYPE=_TYPES),
    "prepared_customize": _PATH_ALGEBRAS,
    "prepared_reach": _rows(KL_SEMIRING=("KL_MIN_PLUS",), KL_TYPE=("int",)),
    "prepared_trees": _PATH_ALGEBRAS,
    "spmv": _rows(KL_TYPE=_TYPES),
    "sssp_batched": _rows(KL_TYPE=_TYPES),
    "sssp_bellman_ford": _rows(KL_TYPE=_TYPES),
    "sssp_llp": _rows(KL_TYPE=_TYPES),
    "sssp_near_far": _rows(KL_TYPE=("unsigned", "float", "long long", "double")),
    "sssp_near_far_narrow": _rows(KL_TYPE=("unsigned", "float", "long long", "double")),
    "sssp_predecessors": _rows(KL_TYPE=_TYPES),
    "closure_tiled": (
        *_rows(KL_ALGEBRA=_NUMBERS, KL_PATHS=(0, 1)),
        *_rows(KL_ALGEBRA=_PACKED, KL_PATHS=(0,)),
    ),
}

#: Kernel files that have never run on a GPU, by how their names begin. Records of GPUs are of the
#: others only, and methods that use these are offered for the emulator only: their rows in the
#: registry say ``unrecorded=True``. With a GPU: empty this, remove that, ``make gpu-check``.
UNRECORDED: tuple[str, ...] = ()


def is_unrecorded(file: str) -> bool:
    """Return whether a kernel file has not run on a GPU."""
    return file.startswith(UNRECORDED)


def path_of(file: str, folder: Path = FOLDER) -> Path:
    """Return where a kernel file is: folders only sort them, and no two have the same name."""
    return next(folder.rglob(f"{file}.cu"), folder / f"{file}.cu")


def variant_name(defines: Mapping[str, str | int]) -> str:
    """Return the name of a variant; the order of its macros does not matter.

    >>> variant_name({"KL_TYPE": "float", "KL_PATHS": 1})
    'KL_PATHS=1,KL_TYPE=float'
    """
    return ",".join(f"{name}={defines[name]}" for name in sorted(defines))


def _source(file: str, defines: Mapping[str, str | int]) -> str:
    lines = [
        f'#define KL_FILE "{file}"',
        f'#define KL_VARIANT "{variant_name(defines)}"',
        *(f"#define {name} {value}" for name, value in defines.items()),
        '#include "shim.hpp"',
        "namespace {  // variants share nothing",
        f'#include "{path_of(file).relative_to(FOLDER).as_posix()}"',
        "}",
    ]
    return "\n".join(lines) + "\n"


def _write(folder: Path, table: Mapping[str, Iterable[Variant]]) -> list[Path]:
    """Write one source per variant; unchanged files keep their modification time."""
    folder.mkdir(parents=True, exist_ok=True)
    written = []
    for file, rows in table.items():
        for number, row in enumerate(rows):
            path, text = folder / f"{file}_{number}.cpp", _source(file, row)
            if not path.exists() or path.read_text() != text:
                path.write_text(text)
            written.append(path)
    return written


if __name__ == "__main__":
    # Names after the folder are test kernels: one variant without macros each.
    chosen: dict[str, tuple[Variant, ...]] = {name: ({},) for name in sys.argv[2:]} or VARIANTS
    print(";".join(path.as_posix() for path in _write(Path(sys.argv[1]), chosen)), end="")
