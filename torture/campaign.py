"""What a part of the campaign is given, and what it returns."""

from __future__ import annotations

import importlib
import time
from dataclasses import dataclass, field
from typing import Any

__all__ = ["Budget", "Outcome", "Part"]


@dataclass(frozen=True)
class Budget:
    """How long a part may run, on how many processes, and from which seed."""

    seconds: float
    seed: int
    jobs: int
    began: float = field(default_factory=time.monotonic)

    def left(self) -> float:
        """Seconds until no new case should be started."""
        return self.seconds - (time.monotonic() - self.began)


@dataclass(frozen=True)
class Outcome:
    """How many cases ran, which of them failed, and numbers for the report."""

    cases: int
    failures: list[str]
    facts: dict[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class Part:
    """One part of the campaign: the promise it tests, and the module whose ``run`` tests it."""

    name: str
    promise: str
    how: str
    share: float = 1.0  # of the time that all parts have together

    def run(self, budget: Budget) -> Outcome:
        outcome: Outcome = importlib.import_module(f"torture.{self.name}").run(budget)
        return outcome
