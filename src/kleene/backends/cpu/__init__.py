"""The native core's methods: buffers and calls here, the algorithms in ``native/core``.

The modules make one function for each entry of the core's method tables
(``native/core/*/methods.cpp``), so that a new native method needs its entry there and its row in
``kleene.registry``, and no Python.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

from kleene import _native

__all__ = ["method_functions"]

_Function = TypeVar("_Function", bound=Callable[..., object])


def method_functions(
    problem: str, make: Callable[[_native.Method], _Function]
) -> dict[str, _Function]:
    """Return ``make(method)`` for every native method of a problem, by name."""
    return {method.name: make(method) for method in _native.methods() if method.problem == problem}
