"""Kernels that no GPU has run: no GPU is given them, and records are of the others."""

from __future__ import annotations

import ast
import importlib.util
import shutil
import sys
from dataclasses import replace
from pathlib import Path

import pytest

import kleene as kl
from kleene import registry
from kleene.backends.cuda import variants
from kleene.backends.cuda.runtime import loader
from kleene.planning.ask import Ask
from kleene.planning.facts import Facts
from kleene.planning.plan import make_plan
from kleene.registry import measures
from kleene.system.machine import Machine

sys.path.insert(0, str(Path(__file__).parents[2] / "benchmarks"))

import gpu_record


def kernel_files(entry: str) -> set[str]:
    """Return the kernel files that a method's module names, and the modules that it imports."""
    found: set[str] = set()
    modules, seen = [entry.partition(":")[0]], set()
    while modules:
        module = modules.pop()
        if module in seen or not module.startswith("kleene.backends.cuda."):
            continue
        if module == variants.__name__:  # the table of all
            continue
        seen.add(module)
        spec = importlib.util.find_spec(module)
        assert spec is not None
        assert spec.origin is not None
        for node in ast.walk(ast.parse(Path(spec.origin).read_text())):
            if isinstance(node, ast.Constant) and node.value in variants.VARIANTS:
                found.add(node.value)
            if isinstance(node, ast.ImportFrom) and node.module is not None:
                modules.append(node.module)
    return found


def test_no_gpu_runs_kernels_that_none_has_run() -> None:
    waiting = set(filter(variants.is_unrecorded, variants.VARIANTS))
    used = set()
    for row in kl.methods(device="emulated"):
        files = kernel_files(row.entry) & waiting
        used |= files
        assert row.unrecorded == bool(files), row
        assert (row.problem, row.name) not in {
            (other.problem, other.name) for other in kl.methods(device="cuda") if row.unrecorded
        }
    assert used == waiting


def test_a_gpu_says_that_betweenness_runs_elsewhere(monkeypatch: pytest.MonkeyPatch) -> None:
    rows = [replace(row, unrecorded=row.device == "cuda") for row in measures.BETWEENNESS]
    offered = registry._everywhere(tuple(rows))
    monkeypatch.setattr(registry, "_ROWS", offered)
    monkeypatch.setattr(registry, "_ROW_OF", {(r.problem, r.name, r.device): r for r in offered})
    monkeypatch.setattr(registry, "_offered", registry._offered.__wrapped__)  # not cached
    facts = Facts(100, 500, "int32", 1, 9, 900)
    box = Machine(cores=2, memory=2**30, simd="AVX2", devices=("cuda", "cpu", "reference"))
    for method in ("auto", "batched"):
        with pytest.raises(
            kl.RequestError, match="does not run on device 'cuda'; it runs on 'cpu'"
        ):
            make_plan(facts, Ask.of("betweenness", device="cuda", method=method), box)
    with pytest.raises(kl.RequestError, match="'brandes'; 'batched' is for device 'emulated'"):
        make_plan(facts, Ask.of("betweenness", method="batched"), box)
    placed = replace(facts, device="cuda")
    assert make_plan(placed, Ask.of("betweenness"), box).device == "cpu"


def test_records_are_of_the_other_kernels(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(variants, "UNRECORDED", ("betweenness",))
    folder = tmp_path / "kernels"
    shutil.copytree(loader.FOLDER, folder)
    monkeypatch.setattr(loader, "FOLDER", folder)
    digest = loader.digest.__wrapped__
    waiting = [path for path in folder.rglob("*.cu") if variants.is_unrecorded(path.stem)]
    before = digest(), digest("spmv"), [digest(path.stem) for path in waiting]
    for path in waiting:
        path.write_text(path.read_text() + "\nint more;\n")
    assert (digest(), digest("spmv")) == before[:2]
    assert all(digest(path.stem) not in before[2] for path in waiting)
    gpu_record.main()
    said = capsys.readouterr().out
    assert all(path.stem in said for path in waiting)
