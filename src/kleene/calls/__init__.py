"""The calls that users make: arguments are checked here, once, then planned and run.

A call's module has its name. Types of arguments are imported at first use, so that a program waits
for the calls that it makes; what programs that measure ask for is in `programs`.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from kleene.calls.arguments import Out, Progress, Vertices

__all__ = ["Out", "Progress", "Vertices"]


def __getattr__(name: str) -> Any:
    if name not in __all__:
        raise AttributeError(f"module 'kleene.calls' has no attribute {name!r}")
    return getattr(import_module("kleene.calls.arguments"), name)
