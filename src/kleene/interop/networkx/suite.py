"""What NetworkX's own tests need to know when they run over this backend."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

__all__ = ["EXCUSED", "on_start_tests"]

#: Tests of NetworkX that look at something which this backend does not promise, and why.
EXCUSED: dict[str, str] = {}


def on_start_tests(items: Sequence[Any]) -> None:
    """Mark the excused among NetworkX's tests; NetworkX calls this before it runs them."""
    import pytest

    for item in items:
        for name, reason in EXCUSED.items():
            if item.nodeid.endswith(name):
                item.add_marker(pytest.mark.xfail(reason=reason, strict=True))
