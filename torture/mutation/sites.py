"""A place where the program is changed in one small way, and what the change is."""

from __future__ import annotations

from dataclasses import dataclass

__all__ = ["Mutant"]


@dataclass(frozen=True)
class Mutant:
    """One change: at run time the program behaves so when this number is chosen."""

    number: int
    file: str  # below the root of the repository
    line: int
    column: int
    text: str  # the line, without indentation
    change: str  # as in "< to <="

    def __str__(self) -> str:
        return f"{self.file}:{self.line}:{self.column}: {self.change} in `{self.text}`"
