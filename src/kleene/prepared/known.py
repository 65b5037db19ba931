"""What is known of the elimination of a graph before a call, and all that its plan needs of it."""

from __future__ import annotations

from typing import NamedTuple

__all__ = ["Known"]


class Known(NamedTuple):
    """How large the elimination of a graph is, and how far it was made."""

    pairs: int
    triangles: int
    step: str  # "expected", "counted" or "eliminated"
    customized: frozenset[tuple[str, str]] = frozenset()  # semirings and types with values
    refused: str = ""  # why it is not made
