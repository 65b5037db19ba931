"""Tasks for tiles: sent to the workers that tiles belong to, awaited, and forgotten when done.

Dask keeps what a future stands for as long as the client holds the future. Here each is forgotten
as soon as it is done, so that workers let go of a tile when the last task that needs it is done.
"""

from __future__ import annotations

import secrets
import time
from collections import defaultdict
from collections.abc import Callable, Iterable
from contextlib import suppress
from typing import Any
from weakref import WeakSet

from kleene.distributed.dask_client import POLL, Workers, asking, scheduler_lost, task_failed
from kleene.distributed.tile_grid import Cluster
from kleene.errors import KleeneError

__all__ = ["TaskRun", "Tiles", "WorkersLostError", "is_done"]

Tiles = dict[tuple[int, int], Any]  # futures


class WorkersLostError(KleeneError):
    """All workers that a run began with are gone, and others are there."""


class TaskRun:
    """Tasks on the workers of a cluster; no other run has tasks of the same names."""

    def __init__(self, client: Any, cluster: Cluster, what: str) -> None:
        self._client, self._cluster, self._what = client, cluster, what
        self._name = secrets.token_hex(4)
        self._futures: WeakSet[Any] = WeakSet()
        self._workers = Workers(client, known=True)

    def submit(
        self,
        step: str,
        function: Callable[..., Any],
        *arguments: Any,
        name: str = "",
        place: str | None = None,
        priority: int = 0,
        retries: int = 0,
    ) -> Any:
        """Send one task to the scheduler."""
        where = {} if place is None else {"workers": [place], "allow_other_workers": True}
        with asking(f"{self._what} {step} cannot be sent"):
            future = self._client.submit(
                function, *arguments, key=self._key(step, name), pure=False, priority=priority,
                retries=retries, **where,
            )  # fmt: skip
        self._futures.add(future)
        return future

    def map(
        self,
        step: str,
        function: Callable[..., Any],
        places: list[tuple[int, int]],
        name: str,
        priority: int,
        *arguments: Iterable[Any],
        retries: int = 0,
        **constants: Any,
    ) -> Tiles:
        """Send a task for each tile to the worker that it belongs to, or to another if need be."""
        groups: dict[str, list[tuple[Any, ...]]] = defaultdict(list)
        for at, *values in zip(places, *arguments, strict=True):
            groups[self._cluster.owner(*at)].append((at, *values))
        found: Tiles = {}
        for owner, group in groups.items():
            own, *columns = zip(*group, strict=True)
            keys = [self._key(step, f"{name} {i},{j}") for i, j in own]
            with asking(f"{self._what} {step} cannot be sent"):
                futures = self._client.map(
                    function, *columns, key=keys, workers=[owner], allow_other_workers=True,
                    pure=False, priority=priority, retries=retries, **constants,
                )  # fmt: skip
            self._futures.update(futures)
            found.update(zip(own, futures, strict=True))
        return found

    def _key(self, step: str, name: str) -> str:
        # Dask takes the letters before the first dash for the kind of a task.
        return f"{self._what} {step}-{name}-{self._name}"

    def wait(self, futures: list[Any], counted: bool = True) -> None:
        """Wait for tasks, forget each when it is done, and raise the first error."""
        while futures:
            left = [future for future in futures if not is_done(future)]
            if counted:
                self.count(len(futures) - len(left))
            futures[:] = left
            if left:
                self.pause()

    def count(self, tasks: int) -> None:
        """Report that so many more tasks are done."""

    def pause(self) -> None:
        """Wait a little; give up where no worker has been there for a while."""
        time.sleep(POLL)
        present = self._workers.threads()
        if present and not present.keys() & set(self._cluster.slots):
            raise WorkersLostError

    def cancel(self) -> None:
        """Take back what is not done."""
        with suppress(Exception):  # the cluster may be gone
            self._client.cancel([future for future in self._futures if not future.done()])


def is_done(future: Any) -> bool:
    """Return whether a task is done; raise its error."""
    if not future.done() or future.status in ("finished", "lost", "pending"):
        return bool(future.status == "finished")
    name = future.key.rpartition("-")[0]
    if future.status != "error":
        raise scheduler_lost(name)
    error = future.exception()
    if isinstance(error, KleeneError):
        raise error
    raise task_failed(name, error) from error
