"""Structs and constants that host and device share are read from the kernel sources."""

from __future__ import annotations

from importlib import util
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from kleene.backends.cuda.runtime import loader, structs
from kleene.backends.cuda.runtime.emulated_device import EmulatedDevice
from kleene.backends.cuda.runtime.interface import Array
from kleene.backends.cuda.runtime.structs import constant, signatures, struct_type
from kleene.backends.cuda.variants import VARIANTS, variant_name

CHECKED = util.find_spec("kleene._emulator_checked") is not None
MODULES = ["_emulator_tests", "_emulator_checked"] if CHECKED else ["_emulator_tests"]
SOURCES = Path(__file__).parents[2] / "native" / "emulator" / "tests"

pytestmark = pytest.mark.skipif(
    util.find_spec("kleene._emulator_tests") is None, reason="built without the emulator's tests"
)


@pytest.fixture
def test_sources(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(loader, "FOLDER", SOURCES)


@pytest.fixture
def add_params(test_sources: None) -> structs.StructType:
    return struct_type("structs", "AddParams")


def packed(device: EmulatedDevice, kind: structs.StructType) -> tuple[structs.Struct, Array]:
    record = device.zeros(1, struct_type("structs", "Record").dtype, "record")
    values = device.upload(np.arange(5, dtype=np.int32), "values")
    params = kind.pack(values=values, record=record, n=5, factor=0.5, twice=True, bias=2**40)
    return params, record


@pytest.mark.parametrize("module", MODULES)
def test_a_kernel_sees_what_the_host_packs(add_params: structs.StructType, module: str) -> None:
    device = EmulatedDevice(module=module)
    params, record = packed(device, add_params)
    kernel = device.kernels("structs")["structs_add"]
    kernel.launch((1,), (32,), (params, 3))
    found = device.download(record)[0]
    assert found["flag"] == 7
    assert found["total"] == 2**40 + 20
    assert found["inner"].item() == (0.5, True)
    assert found["counts"].tolist() == [10, 11, 12]
    assert (found["first"], found["second"]) == (3, -3)
    params.update(twice=False, bias=0)
    kernel.launch((1,), (32,), (params, 4))
    found = device.download(record)[0]
    assert (found["total"], found["first"]) == (10, 4)


def test_the_layout_is_that_of_the_compiler(add_params: structs.StructType) -> None:
    rows = EmulatedDevice(module="_emulator_tests").native.kernels()
    codes = next(codes for _, file, _, name, codes, _ in rows if name == "structs_add")
    assert codes == [f"V{add_params.dtype.itemsize}", "i4"]


def test_wrong_fields_are_refused(add_params: structs.StructType) -> None:
    device = EmulatedDevice(module="_emulator_tests")
    params, record = packed(device, add_params)
    wrong: list[dict[str, Any]] = [
        {"n": 1.5}, {"n": 2**31}, {"factor": 1}, {"values": record}, {"values": 3}, {"bias": -1},
    ]  # fmt: skip
    for fields in wrong:
        with pytest.raises(TypeError, match=rf"AddParams\.{next(iter(fields))}"):
            params.update(**fields)
    with pytest.raises(TypeError, match=r"missing or unknown fields.*values"):
        add_params.pack(n=1)
    kernel = device.kernels("structs")["structs_add"]
    with pytest.raises(TypeError, match=r"argument 0.* is V40, not Struct\(type=Inner of 16 bytes"):
        kernel.launch((1,), (1,), (struct_type("structs", "Inner").pack(weight=1.0, set=True), 1))
    with pytest.raises(TypeError, match="argument 0"):
        kernel.launch((1,), (1,), (5, 1))


def test_constants_are_evaluated(test_sources: None) -> None:
    assert constant("structs", "kEntries") == 3
    with pytest.raises(LookupError, match="no constant kNone"):
        constant("structs", "kNone")
    with pytest.raises(LookupError, match="no struct None"):
        struct_type("structs", "None")


def test_declarations_that_the_host_cannot_read(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(loader, "FOLDER", tmp_path)
    (tmp_path / "odd.cu").write_text(
        "using Word = int;\nstruct A { Word w; };\nstruct B { int w : 3; };\n"
        "struct C { KL_TYPE x; const KL_TYPE* const __restrict__ y; };\n"
    )
    with pytest.raises(LookupError, match="does not know type Word"):
        struct_type("odd", "A")
    with pytest.raises(LookupError, match="cannot read"):
        struct_type("odd", "B")
    assert struct_type("odd", "C", KL_TYPE="double").fields == {"x": ("f8", 0), "y": ("*f8", 8)}


@pytest.mark.parametrize("file", sorted(VARIANTS))
def test_every_struct_parameter_can_be_read(file: str) -> None:
    """The struct that a kernel takes by value has the size that the C++ compiler gives it."""
    text = structs._text(file)
    for row in VARIANTS[file]:
        sizes = {
            struct_type(file, found[1], **row).dtype.itemsize
            for found in structs._STRUCT.finditer(text)
            if found[1].endswith("Params")
        }
        for name, signature in signatures(file, variant_name(row)).items():
            by_value = {int(code[1:]) for code in signature.codes if code[0] == "V"}
            assert by_value <= sizes, (file, name)
