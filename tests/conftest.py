"""Shared set-up: Hypothesis runs the same examples every time, and without a deadline; a GPU."""

from __future__ import annotations

import gc
import os
import signal
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import settings

settings.register_profile("kleene", deadline=None, derandomize=True, max_examples=60)
settings.load_profile("kleene")

# A shell starts what it puts into the background with Ctrl-C ignored, and nohup ignores SIGHUP;
# tests that send them, here and to programs that they start, want them to work.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)
if signal.getsignal(signal.SIGHUP) is signal.SIG_IGN:
    signal.signal(signal.SIGHUP, signal.SIG_DFL)


def pytest_collection_finish() -> None:
    """Let tests that collect garbage not look through what pytest collected: half a second each."""
    gc.collect()
    gc.freeze()


@pytest.fixture(autouse=True)
def own_emulator(monkeypatch: pytest.MonkeyPatch) -> None:
    """Give each test emulated devices of its own: what others hold there does not count as used."""
    from kleene.backends.cuda.runtime import emulated_device

    monkeypatch.setattr(emulated_device, "_opened", {})


@pytest.fixture(autouse=True)
def own_settings() -> Iterator[None]:
    """Take back what a test sets for the process: parts of the campaign do."""
    before = {name: text for name, text in os.environ.items() if name.startswith("KLEENE_")}
    yield
    for name in [name for name in os.environ if name.startswith("KLEENE_")]:
        if name not in before:
            del os.environ[name]
    os.environ.update(before)


@pytest.fixture
def cuda(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Iterator[Any]:
    """Yield a GPU of the driver that the tests provide, for device "cuda"."""
    pytest.importorskip("kleene._emulator")
    from fake_driver import installed_gpu

    with installed_gpu(monkeypatch, tmp_path) as fake:
        yield fake


@pytest.fixture
def gpu_machine(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Let plans see a GPU."""
    from kleene.planning import machine as planning_machine
    from kleene.planning import plan as planning
    from kleene.system import devices, machine

    def forget() -> None:
        machine.this_machine.cache_clear()
        planning_machine.live_machine.cache_clear()
        planning_machine._gpu_opens.cache_clear()
        planning_machine._visible_gpus.cache_clear()
        planning._PLANS.clear()

    forget()
    monkeypatch.setattr(devices, "missing", lambda: None)
    yield
    forget()


@pytest.fixture(params=[1, 3, 16, 1 << 20])
def grain(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> int:
    """Cut text into chunks of about this size: smaller than a line, and the default."""
    from kleene.io import text

    monkeypatch.setattr(text, "GRAIN", request.param)
    return int(request.param)


@pytest.fixture(scope="module")
def client() -> Iterator[Any]:
    """Yield a client of a Dask cluster with two workers."""
    dask = pytest.importorskip("dask.distributed")
    with (
        dask.LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=":0") as cluster,
        dask.Client(cluster, set_as_default=False) as made,
    ):
        yield made
