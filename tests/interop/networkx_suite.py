"""A pytest plugin for NetworkX's own tests: counts the calls of the backend.

Used by test_networkx_suite.py in a process of its own. ``KLEENE_SUITE_REPORT`` names the file for
the counts: calls that were answered (a result, or an error that NetworkX specifies), and refused.
"""

from __future__ import annotations

import functools
import inspect
import json
import os
from collections import Counter
from pathlib import Path
from typing import Any

import _kleene_networkx
import kleene.interop.networkx as backend

answered: Counter[str] = Counter()
refused: Counter[str] = Counter()
outcomes: Counter[str] = Counter()


def counted(name: str, function: Any) -> Any:
    """Wrap a function to count its calls; a generator counts at its first item."""

    def stream(*args: Any, **kwargs: Any) -> Any:
        try:
            yield from function(*args, **kwargs)
        except NotImplementedError:
            refused[name] += 1
            raise
        finally:
            answered[name] += 1

    def call(*args: Any, **kwargs: Any) -> Any:
        answered[name] += 1
        try:
            return function(*args, **kwargs)
        except NotImplementedError:
            refused[name] += 1
            raise

    wrapper = stream if inspect.isgeneratorfunction(function) else call
    return functools.wraps(function)(wrapper)


for each in _kleene_networkx.get_info()["functions"]:
    setattr(backend, each, counted(each, getattr(backend, each)))


def pytest_runtest_logreport(report: Any) -> None:
    if report.when == "call" or report.outcome == "skipped":
        xfailed = hasattr(report, "wasxfail") and report.outcome == "skipped"
        outcomes["excused" if xfailed else report.outcome] += 1


def pytest_sessionfinish() -> None:
    for name, count in refused.items():
        answered[name] -= count
    report = {"outcomes": outcomes, "answered": +answered, "refused": refused}
    Path(os.environ["KLEENE_SUITE_REPORT"]).write_text(json.dumps(report))
