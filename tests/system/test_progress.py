"""Progress: a bar in notebooks and terminals, a function, or nothing."""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path
from types import ModuleType, SimpleNamespace
from typing import Any

import pytest

import kleene as kl
from kleene.system import progress
from kleene.system.progress import reporter

Bundle = dict[str, str]


class Screen:
    """Stands for IPython: keeps what the cell's output showed, one bundle after the other."""

    def __init__(self) -> None:
        self.shown: list[Bundle] = []

    def display(self, bundle: Bundle, raw: bool, display_id: bool) -> Screen:
        assert (raw, display_id) == (True, True)
        assert not self.shown, "a bar is displayed once, then updated"
        self.shown.append(bundle)
        return self

    def update(self, bundle: Bundle, raw: bool) -> None:
        assert raw
        assert self.shown
        self.shown.append(bundle)


@pytest.fixture
def notebook(monkeypatch: pytest.MonkeyPatch) -> Callable[[object], Screen]:
    """Return a function that puts this process under a shell, and returns its screen."""

    def start(shell: object) -> Screen:
        screen = Screen()
        ipython, display = ModuleType("IPython"), ModuleType("IPython.display")
        ipython.get_ipython = lambda: shell  # type: ignore[attr-defined]
        display.display = screen.display  # type: ignore[attr-defined]
        monkeypatch.setitem(sys.modules, "IPython", ipython)
        monkeypatch.setitem(sys.modules, "IPython.display", display)
        monkeypatch.setattr(progress, "_PATIENCE", 0.0)
        monkeypatch.setattr(progress, "_UPDATE_SECONDS", 0.0)
        return screen

    return start


KERNEL = SimpleNamespace(kernel=object())


def test_a_notebook_shows_a_bar_that_goes_away(notebook: Callable[[object], Screen]) -> None:
    screen = notebook(KERNEL)
    with reporter(True, "a <b> search") as report:
        assert report is not None
        report(0, 0)
        report(1, 4)
        report(4, 4)
    unknown, quarter, full, end = screen.shown
    assert "a &lt;b&gt; search" in unknown["text/html"]
    assert "value=" not in unknown["text/html"]
    assert 'value="0.2500"' in quarter["text/html"]
    assert quarter["text/plain"] == "a <b> search 25%"
    assert "100%" in full["text/html"]
    assert not any(end.values())


def test_a_bar_goes_away_after_an_error(notebook: Callable[[object], Screen]) -> None:
    screen = notebook(KERNEL)

    def interrupted() -> None:
        with reporter(True, "work") as report:
            assert report is not None
            report(1, 4)
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        interrupted()
    assert len(screen.shown) == 2
    assert not any(screen.shown[-1].values())


def test_updates_are_few(
    notebook: Callable[[object], Screen], monkeypatch: pytest.MonkeyPatch
) -> None:
    screen = notebook(KERNEL)
    now = iter(range(10**6))
    monkeypatch.setattr(progress, "_PATIENCE", 500.0)
    monkeypatch.setattr(progress, "_UPDATE_SECONDS", 100.0)
    monkeypatch.setattr(progress.time, "monotonic", lambda: float(next(now)))
    with reporter(True, "work") as report:
        assert report is not None
        for done in range(1000):
            report(done, 1000)
    assert len(screen.shown) == 7  # at 500, 600 .. 1000, and the end
    with reporter(True, "work"):
        pass  # what is done at once shows nothing
    assert len(screen.shown) == 7


@pytest.mark.parametrize("shell", [None, SimpleNamespace()])
def test_ipython_in_a_terminal_is_no_notebook(
    shell: Any, notebook: Callable[[object], Screen], capsys: pytest.CaptureFixture[str]
) -> None:
    screen = notebook(shell)
    with reporter(True, "work") as report:
        assert report is None  # standard error is no terminal here
    assert not screen.shown
    assert capsys.readouterr() == ("", "")


def test_calls_report_to_the_notebook(notebook: Callable[[object], Screen]) -> None:
    screen = notebook(KERNEL)
    graph = kl.generate.grid(40, 40, weights=(1, 9))
    kl.apsp(graph, progress=True)
    assert "apsp by " in screen.shown[0]["text/plain"]
    assert screen.shown[-1]["text/html"] == ""


def test_files_report_to_the_notebook(notebook: Callable[[object], Screen], tmp_path: Path) -> None:
    screen = notebook(KERNEL)
    graph = kl.Graph.from_edges([0, 1], [1, 2], progress=True)
    assert not screen.shown  # built at once
    path = tmp_path / "g.mtx"
    kl.write(graph, path, progress=True)
    assert screen.shown[0]["text/plain"] == f"writing {path} 100%"
    screen.shown.clear()
    kl.read(path, progress=True)
    assert screen.shown[0]["text/plain"].startswith(f"reading {path}")
    assert not any(screen.shown[-1].values())


@pytest.mark.parametrize("progress", [5, "yes"])
def test_what_is_no_function(progress: Any, tmp_path: Path) -> None:
    graph = kl.generate.cycle(3)
    with pytest.raises(kl.RequestError, match="progress must be True, False or a function"):
        kl.Graph.from_edges([0], [1], progress=progress)
    with pytest.raises(kl.RequestError, match="progress must be True, False or a function"):
        kl.write(graph, tmp_path / "g.gr", progress=progress)
    with pytest.raises(kl.RequestError, match="progress must be a function"):
        kl.generate.cycle(3, progress=progress)
    assert not list(tmp_path.iterdir())
