"""The native core's tables of methods and the registry agree."""

from __future__ import annotations

import pytest

from kleene import _native, registry
from kleene.backends.cpu import bfs, closure, sssp

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


def test_other_attributes_of_the_modules_raise() -> None:
    for module in (bfs, closure, sssp):
        with pytest.raises(AttributeError, match="no attribute 'unknown'"):
            _ = module.unknown
