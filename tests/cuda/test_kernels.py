"""Every kernel compiles for every GPU, by NVIDIA's own compiler and without a warning.

The compiler comes from PyPI and needs no GPU and no driver.
"""

from __future__ import annotations

import json
import re
import shutil
import subprocess
import sys
from functools import cache
from pathlib import Path
from typing import Any

import kernel_digests
import nvrtc
import pytest

from kleene.backends.cuda.runtime import loader
from kleene.backends.cuda.runtime.structs import signatures
from kleene.backends.cuda.variants import VARIANTS, variant_name

KERNEL = re.compile(r"KL_KERNEL(?:_BOUNDS\([^,]+,[^,]+,|\()\s*(\w+)")


KEPT = json.loads(kernel_digests.FILE.read_text())
RENEW = "python tests/cuda/kernel_digests.py renews data/kernels.json"


ROWS = [(file, row) for file, rows in VARIANTS.items() for row in rows]


@pytest.mark.parametrize(
    ("file", "row"), ROWS, ids=[f"{file}-{variant_name(row)}" for file, row in ROWS]
)
def test_every_kernel_compiles(file: str, row: dict[str, Any]) -> None:
    """Every row for one target, and every file, over its rows, for all: there are many rows.

    When the file of digests was written, the compilers made machine code of its rows for all
    targets. By the same compiler, one row of a kernel file whose rows are all in there will do.
    """
    number = VARIANTS[file].index(row)
    package, arch = nvrtc.TARGETS[number % len(nvrtc.TARGETS)]
    known = KEPT["compilers"][package] == nvrtc.version(package)
    if known and number and all(name not in changed() for name in names_of(file)):
        return
    names = set(signatures(file, variant_name(row)))
    (ptx,) = require_clean(package, (arch,), loader.path_of(file), row, names, assemble=not known)
    if known:
        kept = KEPT["kernels"][names_of(file)[number]]
        found = kernel_digests.digest(kernel_digests.plain(ptx))
        assert kept[kernel_digests.target_name(package, arch)] == found, RENEW


@cache
def changed() -> set[str]:
    """Return the names of variants whose source is not that of the file."""
    found = {variant.name: variant.source for variant in kernel_digests.variants()}
    kept = {name: digests["source"] for name, digests in KEPT["kernels"].items()}
    return {name for name, source in found.items() if kept.get(name) != source}


def names_of(file: str) -> list[str]:
    """Return the names of the variants of a kernel file."""
    return [f"{file} {variant_name(row)}".strip() for row in VARIANTS[file]]


def test_sources_of_kernels_are_those_of_the_file() -> None:
    """The same text for the compiler, wherever it stands; PTX is compared where it is compiled."""
    found = {variant.name: variant.source for variant in kernel_digests.variants()}
    kept = {name: digests["source"] for name, digests in KEPT["kernels"].items()}
    assert found == kept, RENEW


def test_moves_of_files_change_no_digest(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """The digest of a record does not know where a kernel lies, nor in how many files."""
    folder = tmp_path / "kernels"
    shutil.copytree(loader.FOLDER, folder)
    monkeypatch.setattr(loader, "FOLDER", folder)
    digest = loader.digest.__wrapped__
    before = {variant.name: variant.source for variant in kernel_digests.variants()}
    whole, one = digest(), digest("spmv")
    header, kernel = folder / "algebra" / "semiring.cuh", folder / "algebra" / "spmv.cu"
    header.parent.mkdir()
    (folder / "spmv.cu").rename(kernel)
    (folder / "spmv_semiring.cuh").rename(header)
    kernel.write_text(kernel.read_text().replace("spmv_semiring.cuh", "algebra/semiring.cuh"))
    assert {variant.name: variant.source for variant in kernel_digests.variants()} == before
    assert (digest(), digest("spmv")) == (whole, one)
    include, text = '#include "algebra/semiring.cuh"', header.read_text()
    header.write_text(text + "\nint more;\n")
    after = {variant.name: variant.source for variant in kernel_digests.variants()}
    changed = [name for name in before if before[name] != after[name]]
    assert changed == [name for name in before if name.startswith("spmv ")]
    assert digest() != whole
    kernel.write_text(kernel.read_text().replace(include, text))  # joined
    assert (digest(), digest("spmv")) == (whole, one)


def test_the_ptx_of_two_checkouts_is_compared(tmp_path: Path) -> None:
    """Comments and places do not count, and a constant does; neither checkout is built."""
    if nvrtc.version("nvidia-cuda-nvrtc") is None:
        pytest.skip("nvidia-cuda-nvrtc is not installed")
    package = loader.FOLDER.parents[2]
    unbuilt = shutil.ignore_patterns("*.so", "*.pyd", "__pycache__")
    shutil.copytree(package, tmp_path / "src" / "kleene", ignore=unbuilt)
    copied = tmp_path / "src" / "kleene" / loader.FOLDER.relative_to(package)
    program = [sys.executable, kernel_digests.__file__, "--compare", tmp_path, "--only", "bfs_scan"]
    assert kernel_digests.loader_digest(tmp_path) == loader.digest()

    def compared() -> tuple[int, str]:
        made = subprocess.run(program, capture_output=True, text=True, timeout=600)
        return made.returncode, made.stdout + made.stderr

    kernel, tuning = copied / "classic" / "bfs_scan.cu", copied / "tuning" / "bfs.cuh"
    kernel.write_text("\n\n// moved\n" + kernel.read_text())
    status, said = compared()
    assert (status, "1 variants in both, 1 of the same source; 0 differ" in said) == (0, True), said
    text = tuning.read_text()
    tuning.write_text(text.replace("kSerialArcs = 32", "kSerialArcs = 64"))
    assert tuning.read_text() != text
    status, said = compared()
    assert status == 1
    assert "! bfs_scan: another PTX" in said
    assert "+.global .align 4 .u32 kSerialArcs = 32;" in said
    assert kernel_digests.loader_digest(tmp_path) != loader.digest()


def require_clean(
    package: str,
    archs: tuple[int, ...],
    path: Path,
    row: dict[str, Any],
    names: set[str],
    assemble: bool = True,
) -> list[str]:
    """Require these kernels, as machine code or PTX, without a warning; return the PTX."""
    if nvrtc.version(package) is None:
        pytest.skip(f"{package} is not installed")
    options, found = list(nvrtc.command_line(loader.program_options(row))), []
    for arch in archs:
        target = f"{'sm' if assemble else 'compute'}_{arch}"
        image, ptx, messages = nvrtc.compiled(package, path, options, target)
        assert image if assemble else ptx, f"{target}: {messages}"
        others = [m for m in messages.splitlines() if "Architectures prior to" not in m]
        assert not others, f"{target}: {messages}"
        for name in names:
            assert name in ptx
            assert not assemble or name.encode() in image
        found.append(ptx)
    return found


TESTS = Path(__file__).parents[2] / "native" / "emulator" / "tests"


@pytest.mark.parametrize("path", sorted(TESTS.glob("*.cu")), ids=lambda path: path.stem)
@pytest.mark.parametrize("package", nvrtc.COMPILERS)
def test_the_emulator_promises_nothing_that_a_gpu_does_not_have(package: str, path: Path) -> None:
    require_clean(
        package, nvrtc.COMPILERS[package], path, {}, set(KERNEL.findall(path.read_text()))
    )


def test_every_file_has_rows_and_every_row_a_file() -> None:
    assert sorted(path.stem for path in loader.FOLDER.rglob("*.cu")) == sorted(VARIANTS)
    for file, rows in VARIANTS.items():
        assert len({variant_name(row) for row in rows}) == len(rows), file


def test_the_emulator_has_every_kernel() -> None:
    for file, rows in VARIANTS.items():
        known = [set(signatures(file, variant_name(row))) for row in rows]
        assert all(known), file
        assert set.union(*known) >= set(KERNEL.findall(loader.source(file)))


def test_includes_are_seen_by_the_digest() -> None:
    """The compiler also looks beside the file that includes; the loader does not."""
    for path in loader.FOLDER.rglob("*.cu*"):
        for name in re.findall(r'^\s*#\s*include\s*"([^"]+)"', path.read_text(), re.MULTILINE):
            assert (loader.FOLDER / name).exists() or name == "shim.hpp", (path.name, name)


def test_only_one_header_knows_the_emulator() -> None:
    for path in loader.FOLDER.rglob("*.cu*"):
        text = path.read_text()
        assert ("KLEENE_EMULATED" in text) == (path.name == "kleene.cuh"), path.name
        if path.suffix == ".cu":
            assert re.findall(r"^\s*#\s*include\s*<", text, re.MULTILINE) == [], path.name


def test_the_cache_of_compiled_kernels(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("KLEENE_CACHE_DIR", str(tmp_path / "new"))
    calls: list[tuple[str, int]] = []

    def compile_(source: str, name: str, defines: Any, arch: int) -> bytes:
        calls.append((name, arch))
        return f"{name} {arch} {len(calls)}".encode()

    file, row = ROWS[0]
    first = loader.compiled(file, row, 90, "nvrtc 1", compile_)
    assert loader.compiled(file, row, 90, "nvrtc 1", compile_) == first
    assert len(calls) == 1
    assert loader.compiled(file, row, 80, "nvrtc 1", compile_) != first
    assert loader.compiled(file, row, 90, "nvrtc 2", compile_) != first
    assert loader.compiled(file, ROWS[1][1], 90, "nvrtc 1", compile_) != first
    assert loader.compiled(file, row, 90, "nvrtc 1", compile_, recompile=True) != first
    assert len(calls) == 5
    assert len(list((tmp_path / "new").iterdir())) == 4
    monkeypatch.setenv("KLEENE_CACHE_DIR", "/proc/nowhere")  # cannot be written
    assert loader.compiled(file, row, 90, "nvrtc 1", compile_)


@pytest.mark.parametrize(
    ("one", "other", "same"),
    [
        ("int f();  // a comment", "int f();", True),
        ("int f(/* none */);", "int f ( ) ;", True),
        ("a +\n    b", "a + b", True),
        ("a + +b", "a ++b", False),
        ('f("a  b");', 'f("a b");', False),
        ('f("// a");', 'f("// b");', False),
        ('f("\\"//");  // a', 'f("\\"//");', True),
        ("f('\"'); // '", "f('\"');", True),
        ("#define F(x) \\\n    x  // a", "#define F(x) x", True),
        ("#define F(x) x", "#define F (x) x", False),
        ('#define S "a  b"', '#define S "a b"', False),
        ("#if A\nb", "#if A b", False),
    ],
)
def test_the_digest_ignores_comments_and_white_space(one: str, other: str, same: bool) -> None:
    assert (loader.normalized(one) == loader.normalized(other)) == same


def test_a_comment_needs_no_new_record(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    folder = tmp_path / "kernels"
    shutil.copytree(loader.FOLDER, folder)
    monkeypatch.setattr(loader, "FOLDER", folder)
    digest = loader.digest.__wrapped__
    before = digest(), digest("spmv"), digest("apsp_naive")
    header, kernel = folder / "common" / "kleene.cuh", folder / "spmv.cu"
    header.write_text("// More.\n" + header.read_text())
    kernel.write_text(kernel.read_text() + "\n\n/* end */\n")
    assert (digest(), digest("spmv"), digest("apsp_naive")) == before
    kernel.write_text(kernel.read_text() + "\nint more;\n")
    after = digest(), digest("spmv"), digest("apsp_naive")
    assert [a == b for a, b in zip(before, after, strict=True)] == [False, False, True]
    header.write_text(header.read_text() + "\nint more;\n")
    assert digest("apsp_naive") != before[2]
