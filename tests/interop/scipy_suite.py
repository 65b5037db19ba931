"""A pytest plugin that runs SciPy's own tests of csgraph on Kleene's.

``pytest -p scipy_suite --pyargs scipy.sparse.csgraph`` with this folder on the path. Before
anything is collected, the package ``scipy.sparse.csgraph`` is replaced by ``kleene.csgraph``; what
SciPy has under the names that Kleene replaces is made to fail, wherever it is reached from. At the
end, the outcome of every test and the number of calls to every function go to the file that the
variable ``SCIPY_SUITE_REPORT`` names.
"""

from __future__ import annotations

import functools
import importlib
import json
import os
import sys
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

#: Tests of SciPy that Kleene is not to pass, and why a maintainer of SciPy would agree. A test that
#: passes all the same is a failure: take it off the list.
EXCUSED: dict[str, str] = {}

PACKAGE = "scipy.sparse.csgraph"

calls: Counter[str] = Counter()
outcomes: dict[str, str] = {}


def _counted(name: str, function: Callable[..., Any]) -> Callable[..., Any]:
    @functools.wraps(function)
    def count(*args: Any, **keywords: Any) -> Any:
        calls[name] += 1
        return function(*args, **keywords)

    return count


def _refused(name: str) -> Callable[..., Any]:
    def refuse(*args: Any, **keywords: Any) -> Any:
        raise AssertionError(f"SciPy's own {name} was called")

    return refuse


def swap() -> None:
    """Put Kleene's module in the place of SciPy's, for all imports to come."""
    theirs = importlib.import_module(PACKAGE)
    from kleene import csgraph
    from kleene.interop import csgraph as replaced

    ours = ModuleType(PACKAGE)
    vars(ours).update(
        {n: v for n, v in vars(theirs).items() if n.startswith("__") and n != "__all__"}
    )
    ours.__all__ = csgraph.__all__  # type: ignore[attr-defined]
    for name in csgraph.__all__:
        item = getattr(csgraph, name)
        if name in replaced.__all__ and not isinstance(item, type):
            assert item.__module__.startswith("kleene."), item
            item = _counted(name, item)
            for module in (theirs, *_modules_with(name)):
                setattr(module, name, _refused(name))
        setattr(ours, name, item)
    sys.modules[PACKAGE] = ours
    importlib.import_module("scipy.sparse").csgraph = ours  # type: ignore[attr-defined]


def _modules_with(name: str) -> list[ModuleType]:
    inside = [m for n, m in sys.modules.items() if n.startswith(f"{PACKAGE}.")]
    return [module for module in inside if hasattr(module, name)]


# ---- hooks --------------------------------------------------------------------------------------


def pytest_load_initial_conftests() -> None:
    swap()


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    for item in items:
        test = item.nodeid.rpartition("/")[2]
        if test in EXCUSED:
            item.add_marker(pytest.mark.xfail(reason=EXCUSED[test], strict=True))


def pytest_runtest_logreport(report: pytest.TestReport) -> None:
    test = report.nodeid.rpartition("/")[2]
    if report.when == "call" or report.outcome != "passed":
        expected = hasattr(report, "wasxfail") and report.outcome == "skipped"
        outcomes[test] = "excused" if expected and test in EXCUSED else report.outcome


def pytest_collectreport(report: pytest.CollectReport) -> None:
    if report.failed:
        outcomes[report.nodeid] = "failed"


def pytest_sessionfinish() -> None:
    path = os.environ.get("SCIPY_SUITE_REPORT")
    if path:
        Path(path).write_text(json.dumps({"calls": calls, "outcomes": outcomes}))
