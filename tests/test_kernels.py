"""Every kernel compiles for every GPU, by NVIDIA's own compiler and without a warning.

The compiler comes from PyPI and needs no GPU and no driver.
"""

from __future__ import annotations

import ctypes
import re
import shutil
from collections.abc import Iterator
from functools import cache
from importlib import metadata
from pathlib import Path
from typing import Any

import pytest

from kleene.backends.cuda.runtime import loader
from kleene.backends.cuda.runtime.signature import signatures
from kleene.backends.cuda.variants import VARIANTS, variant_name

#: For CUDA 12 and 13: the package, and the architectures that kernels are tried for. The oldest,
#: the first with asynchronous copies, the first with combined additions and minima, the newest.
COMPILERS = {"nvidia-cuda-nvrtc-cu12": (70, 80), "nvidia-cuda-nvrtc": (90, 120)}
TARGETS = [(package, arch) for package, archs in COMPILERS.items() for arch in archs]
KERNEL = re.compile(r"KL_KERNEL(?:_BOUNDS\([^,]+,[^,]+,|\()\s*(\w+)")


@cache
def nvrtc(package: str) -> ctypes.CDLL:
    try:
        files = metadata.files(package) or []
    except metadata.PackageNotFoundError:
        pytest.skip(f"{package} is not installed")
    paths = [Path(str(file.locate())) for file in files]
    library = next(p for p in paths if re.fullmatch(r"libnvrtc\.so\.\d+", p.name))
    builtins = next(p for p in paths if p.name.startswith("libnvrtc-builtins.so"))
    ctypes.CDLL(str(builtins))
    return ctypes.CDLL(str(library))


def command_line(options: dict[str, Any]) -> Iterator[str]:
    """Yield the options as NVRTC takes them; cuda.core, which does the same, has one NVRTC only."""
    assert options.pop("device_as_default_execution_space")
    yield "--device-as-default-execution-space"
    for name, value in options.pop("define_macro") or ():
        yield f"--define-macro={name}={value}"
    for name, value in options.items():
        yield f"--{name.replace('_', '-')}={value}"


def compiled(package: str, path: Path, defines: dict[str, Any], arch: int) -> tuple[bytes, str]:
    """Return (machine code, messages); no code when it does not compile."""
    library = nvrtc(package)
    program = ctypes.c_void_p()
    source = path.read_bytes()
    assert not library.nvrtcCreateProgram(
        ctypes.byref(program), source, path.name.encode(), 0, None, None
    )
    options = [*command_line(loader.program_options(defines)), f"-arch=sm_{arch}"]
    given = (ctypes.c_char_p * len(options))(*(option.encode() for option in options))
    failed = library.nvrtcCompileProgram(program, len(options), given)
    size = ctypes.c_size_t()
    library.nvrtcGetProgramLogSize(program, ctypes.byref(size))
    log = ctypes.create_string_buffer(size.value)
    library.nvrtcGetProgramLog(program, log)
    image = b""
    if not failed:
        library.nvrtcGetCUBINSize(program, ctypes.byref(size))
        room = ctypes.create_string_buffer(size.value)
        library.nvrtcGetCUBIN(program, room)
        image = room.raw
    library.nvrtcDestroyProgram(ctypes.byref(program))
    return image, log.value.decode()


ROWS = [(file, row) for file, rows in VARIANTS.items() for row in rows]


@pytest.mark.parametrize(
    ("file", "row"), ROWS, ids=[f"{file}-{variant_name(row)}" for file, row in ROWS]
)
def test_every_kernel_compiles(file: str, row: dict[str, Any]) -> None:
    """Every row for one target, and every file, over its rows, for all: there are many rows."""
    package, arch = TARGETS[VARIANTS[file].index(row) % len(TARGETS)]
    names = set(signatures(file, variant_name(row)))
    require_clean(package, (arch,), loader.FOLDER / f"{file}.cu", row, names)


def require_clean(
    package: str, archs: tuple[int, ...], path: Path, row: dict[str, Any], names: set[str]
) -> None:
    for arch in archs:
        image, messages = compiled(package, path, row, arch)
        assert image, f"sm_{arch}: {messages}"
        others = [m for m in messages.splitlines() if "Architectures prior to" not in m]
        assert not others, f"sm_{arch}: {messages}"
        for name in names:
            assert name.encode() in image


TESTS = Path(__file__).parent.parent / "native" / "emulator" / "tests"


@pytest.mark.parametrize("path", sorted(TESTS.glob("*.cu")), ids=lambda path: path.stem)
@pytest.mark.parametrize("package", COMPILERS)
def test_the_emulator_promises_nothing_that_a_gpu_does_not_have(package: str, path: Path) -> None:
    require_clean(package, COMPILERS[package], path, {}, set(KERNEL.findall(path.read_text())))


def test_every_file_has_rows_and_every_row_a_file() -> None:
    assert {path.stem for path in loader.FOLDER.glob("*.cu")} == set(VARIANTS)
    for file, rows in VARIANTS.items():
        assert len({variant_name(row) for row in rows}) == len(rows), file


def test_the_emulator_has_every_kernel() -> None:
    for file, rows in VARIANTS.items():
        known = [set(signatures(file, variant_name(row))) for row in rows]
        assert all(known), file
        assert set.union(*known) >= set(KERNEL.findall(loader.source(file)))


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
