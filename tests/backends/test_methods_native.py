"""Rows name functions that a reader finds; the native core's tables and the registry agree."""

from __future__ import annotations

import ast
from functools import cache
from pathlib import Path

import pytest

import kleene
from kleene import _native, registry

#: Native methods that are steps of others, not methods of their own.
STEPS = {"potentials"}  # of Johnson's algorithm

#: Methods of the CPU that combine native methods of other problems, or steps.
COMBINED = {"batched", "johnson", "prepared"}


def native(problem: str, **properties: bool) -> set[str]:
    return {
        method.name
        for method in _native.methods()
        if method.problem == problem
        and all(getattr(method, name) == value for name, value in properties.items())
    }


def rows(problem: str) -> set[str]:
    return {row.name for row in registry.methods(problem, "cpu")}


@pytest.mark.parametrize("problem", ["bfs", "sssp"])
def test_every_row_has_a_native_method_and_every_method_a_row(problem: str) -> None:
    assert rows(problem) - COMBINED == native(problem) - STEPS


def test_closure_methods_are_rows_of_all_pairs_and_of_closures() -> None:
    assert rows("apsp") - COMBINED == native("closure")
    assert rows("closure") - COMBINED == native("closure", any_semiring=True)


@cache
def functions(module: str) -> dict[str, ast.FunctionDef]:
    """Return the functions of a module by name, read from its source."""
    file = Path(kleene.__file__).parent.parent / f"{module.replace('.', '/')}.py"
    body = ast.parse(file.read_text()).body
    return {made.name: made for made in body if isinstance(made, ast.FunctionDef)}


@pytest.mark.parametrize("row", registry.methods(), ids=lambda row: row.entry)
def test_a_reader_finds_the_function_of_every_row(row: registry.Method) -> None:
    for entry in filter(None, (row.entry, row.in_place, row.rounds, row.tiles)):
        module, name = entry.split(":")
        assert ast.get_docstring(functions(module)[name]), entry


@pytest.mark.parametrize("problem", ["bfs", "sssp", "closure"])
def test_every_native_method_has_a_function_of_its_name(problem: str) -> None:
    assert functions(f"kleene.backends.cpu.{problem}").keys() >= native(problem) - STEPS
