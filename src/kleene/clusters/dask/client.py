"""A Dask cluster: the client, and what its workers are.

Dask is imported when a call asks for a cluster, never before.
"""

from __future__ import annotations

import math
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from importlib import import_module
from importlib.metadata import version
from typing import Any

from kleene.errors import ClusterError, Code, KleeneError, RequestError
from kleene.system.formatting import type_name

__all__ = [
    "LOOK", "PATIENCE", "POLL", "RESUMED", "Workers", "asking", "import_dask", "open_client",
    "scheduler_lost", "task_failed", "worker_threads",
]  # fmt: skip

#: Seconds between two looks at tasks; how long to wait for a worker where none is.
POLL, PATIENCE = 0.02, 60.0

#: Seconds between two looks at the workers.
LOOK = 1.0

#: What to do after an error of the cluster.
RESUMED = "finished parts are kept; the same call resumes"


def import_dask() -> Any:
    """Return the module ``dask.distributed``, or say how to install it."""
    try:
        return import_module("dask.distributed")
    except ImportError:
        raise RequestError(
            Code("on="),
            ' needs dask.distributed: pip install "kleene[dask]", here and on the workers',
        ) from None


@contextmanager
def asking(what: str) -> Iterator[None]:
    """Raise ClusterError for whatever a client raises while it asks the cluster for something.

    That is an OSError where a connection closes, TimeoutError, ClosedClientError, CancelledError
    and others, some of them of classes that Dask does not export.
    """
    try:
        yield
    except KleeneError:
        raise
    except Exception as error:
        raise ClusterError(f"{what}: {type(error).__name__}: {error}; {RESUMED}") from error


def scheduler_lost(name: str) -> ClusterError:
    """Return the error of a task that the scheduler does not have any more."""
    return ClusterError(f"{name}: the scheduler is lost, or it cancelled the task; {RESUMED}")


def task_failed(name: str, error: BaseException) -> ClusterError:
    """Return the error of a task that raised one, or that ended its workers."""
    if isinstance(error, import_dask().KilledWorker):
        return ClusterError(
            f"{name}: {error.allowed_failures + 1} workers ended while they ran it, the last was "
            f"{error.last_worker.address}; they may lack memory. Otherwise {RESUMED}"
        )
    return ClusterError(f"{name}: {type(error).__name__}: {error}; {RESUMED}")


@contextmanager
def open_client(on: Any) -> Iterator[Any]:
    """Yield a client of the cluster that ``on`` names; one that is opened here is closed again.

    Parameters
    ----------
    on : dask.distributed.Client or str
        A client, or the address of a scheduler.
    """
    dask = import_dask()
    if isinstance(on, dask.Client):
        if on.asynchronous:
            raise RequestError(Code("on"), " must be a synchronous client")
        if on.status in ("closing", "closed") or on.scheduler is None:
            raise ClusterError("the client in ", Code("on="), " is closed: open another one")
        _check_workers(on)
        yield on
        return
    if not isinstance(on, str):
        raise RequestError(
            Code("on"),
            " must be a dask.distributed.Client or the address of a scheduler "
            f"('tcp://10.0.0.1:8786'), not {type_name(on)}",
        )
    try:
        client = dask.Client(on, set_as_default=False)
    except (OSError, ValueError) as error:  # a timeout is an OSError
        raise ClusterError(f"no Dask scheduler answers at {on!r}: {error}") from None
    with client:
        _check_workers(client)
        yield client


def worker_threads(client: Any) -> dict[str, int]:
    """Return how many threads each worker has, by address; none where the scheduler is gone."""
    with suppress(Exception):
        return dict(client.nthreads())
    return {}


class Workers:
    """The workers of a cluster, which may come and go; all of them may be gone for a while only.

    Unless workers are known to be there, calls wait for the first one as long as Dask does: a
    cluster may grow on demand.
    """

    def __init__(self, client: Any, known: bool = False) -> None:
        self._client = client
        self._next, self._seen = -math.inf, time.monotonic() if known else math.inf
        self._threads: dict[str, int] = {}

    def threads(self) -> dict[str, int]:
        """Return the threads of each worker as of a moment ago, or raise where none came back."""
        now = time.monotonic()
        if now >= self._next:
            self._threads, self._next = worker_threads(self._client), now + LOOK
            if self._threads:
                self._seen = now
            elif now - self._seen > PATIENCE:
                raise ClusterError(
                    f"the cluster has had no worker for {PATIENCE:.0f} s; finished parts are kept, "
                    "and the same call resumes"
                )
        return self._threads


def _installed(dask_worker: Any) -> str:
    """Return the version of Kleene on a worker."""
    return version("kleene")


def _check_workers(client: Any) -> None:
    """Refuse workers without Kleene, or with another version of it."""
    with asking("the cluster does not answer"):
        found = client.run(_installed, on_error="return")
    own = version("kleene")
    for worker, there in found.items():
        if isinstance(there, ImportError):
            raise ClusterError(
                f"worker {worker} cannot import kleene ({there}): install version {own} there"
            )
        if isinstance(there, str) and there != own:
            raise ClusterError(
                f"worker {worker} has kleene {there}, but this process has {own}: install the same "
                "version"
            )
