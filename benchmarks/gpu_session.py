"""What a run on a GPU has found so far, how much time is left, and the record of it."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from typing import Any

from kleene.cuda.runtime import Device

#: Seconds that one call of a slow method may take.
PATIENCE = 2.0


class Session:
    """What was found so far, part by part, and how much time is left."""

    def __init__(self, device: Device, seconds: float, quick: bool) -> None:
        self.device, self.quick = device, quick
        self._end = time.monotonic() + seconds
        self.results: list[dict[str, Any]] = []
        self.skipped: list[str] = []
        self.parts: dict[str, dict[str, Any]] = {}  # date, seconds and failures of each
        self._part = ""

    @property
    def left(self) -> float:
        """Seconds of the budget that are left."""
        return self._end - time.monotonic()

    @contextmanager
    def part(self, name: str) -> Iterator[None]:
        """Note what comes as one part."""
        self._part, began = name, time.monotonic()
        entry = {"date": f"{datetime.now(UTC):%Y-%m-%d}", "seconds": 0.0, "failed": 0}
        self.parts[name] = entry
        with self.attempt("all of it"):
            yield
        entry["seconds"] = round(time.monotonic() - began, 1)
        print(f"  ({name}: {entry['seconds']} s)", flush=True)

    def add(self, method: str, case: str, n: int, dtype: str, value: float, unit: str) -> None:
        """Note one result."""
        row = {"part": self._part, "method": method, "case": case, "n": n, "dtype": dtype}
        self.results.append({**row, "value": float(f"{value:.4g}"), "unit": unit})

    def skip(self, what: str, why: str) -> None:
        """Note what is not measured."""
        told = f"{self._part}: {what}: {why}"
        if told not in self.skipped:
            self.skipped.append(told)

    def fits(self, what: str, seconds: float) -> bool:
        """Is there time for something that may take so long? If not, it is listed as skipped."""
        if seconds <= self.left:
            return True
        self.skip(what, f"needs about {seconds:.0f} s, {max(0, self.left):.0f} s are left")
        return False

    @contextmanager
    def attempt(self, what: str) -> Iterator[None]:
        """Let one thing fail without the others, but not in silence."""
        try:
            yield
        except Exception as error:
            told = f"FAILED: {type(error).__name__}: {' '.join(str(error).split())[:300]}"
            self.skip(what, told)
            self.parts[self._part]["failed"] += 1
            print(f"  {what}: {told}", flush=True)


def shown(value: float) -> str:
    """Return three digits of a number.

    >>> shown(1234.5), shown(0.012345)
    ('1234', '0.0123')
    """
    return f"{value:.3g}" if value < 100 else f"{value:.0f}"
