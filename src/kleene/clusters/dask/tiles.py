"""Closures of matrices on a Dask cluster: tiles are data of workers, and stay where they were made.

A round is a task for every tile, and a few that prepare it (``backends/common/tiles``). The
client submits a round while the one before runs, and what the next round begins with comes first,
so that no worker waits between rounds. Workers send each other the columns and panels of a round;
old tiles go when the last task that needs them is done. The client holds names only.

A worker that is lost takes its tiles with it, and Dask computes them again from what they were made
of: back to the last checkpoint, or to the graph. A checkpoint is made every half minute or so; then
the run continues from the file, as a later run would. When all workers are lost at once, nothing is
left to compute from, and Dask keeps tasks that were meant for them: the run begins again from the
last checkpoint, on the workers that are there then.
"""

from __future__ import annotations

import secrets
import time
from collections import defaultdict
from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from typing import Any
from weakref import WeakSet

from kleene.backends.task import Progress as Report
from kleene.clusters.dask.client import (
    PATIENCE,
    POLL,
    Workers,
    asking,
    scheduler_lost,
    task_failed,
    worker_threads,
)
from kleene.clusters.dask.graphs import SharedGraph, send_graph
from kleene.clusters.dask.tile_tasks import (
    CycleFoundError,
    NoGraphError,
    TileDevices,
    TileWork,
    check_diagonal,
    fill_tile,
    find_cycle,
    finish_band,
    has_graph,
    keep_tile,
    load_tile,
    measure_slot,
    relax_round_panel,
    relax_round_tile,
    search_band,
    take_round_column,
)
from kleene.errors import ClusterError, KleeneError
from kleene.stores.checkpoints import Checkpoint, Checkpoints
from kleene.stores.store import Piece, Receipt
from kleene.stores.tile_grid import Cluster

__all__ = [
    "TaskRun",
    "Tiles",
    "WorkersLostError",
    "close_on_cluster",
    "is_done",
    "measure_cluster",
]


# ---- Tasks for tiles ----------------------------------------------------------------------------
# Sent to the workers that tiles belong to, awaited, and forgotten when done.
#
# Dask keeps what a future stands for as long as the client holds the future. Here each is forgotten
# as soon as it is done, so that workers let go of a tile when the last task that needs it is done.

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


# ---- the closure --------------------------------------------------------------------------------

#: Enters a piece into the ledger of its store.
Record = Callable[[Piece, Receipt], None]

#: Seconds between two checkpoints, at least, and how many times as long as one takes.
CHECKPOINT_SECONDS, _CHECKPOINT_TIMES = 30.0, 20.0

#: Tasks that read or write files are tried so often again.
_RETRIES = 2

#: How often a run begins again from the last checkpoint, on new workers or with the graph sent.
_RESTARTS = 20


def measure_cluster(client: Any, devices: TileDevices) -> Cluster:
    """Return the workers, their memory and their speed, for tiles of this kind.

    Waits for workers where there are none: they may be restarting.
    """
    found: dict[str, Any] = {}
    end = time.monotonic() + PATIENCE
    while not found:
        threads = worker_threads(client)
        answers = {}
        if threads:
            with asking("the workers do not say how fast they are"):
                answers = client.run(
                    measure_slot, devices, workers=list(threads), on_error="return"
                )
        found = {worker: slot for worker, slot in answers.items() if isinstance(slot, tuple)}
        refused = [error for error in answers.values() if isinstance(error, KleeneError)]
        if refused:
            raise refused[0]
        if not found:
            if time.monotonic() > end:
                raise ClusterError(f"no worker of the cluster has answered for {PATIENCE:.0f} s")
            time.sleep(POLL)
    limits = [memory for memory, _ in found.values() if memory]
    slots = tuple(worker for worker in sorted(found) for _ in range(threads[worker]))
    rate = min(rate for _, rate in found.values())
    return Cluster(slots, min(limits) if limits else None, rate)


def close_on_cluster(
    client: Any,
    shared: SharedGraph,
    work: TileWork,
    cluster: Cluster,
    pieces: Sequence[Piece],
    record: Record,
    checkpoints: Checkpoints,
    report: Report | None,
) -> None:
    """Close a matrix and write the pieces of its rows that a store lacks: each a band of tiles.

    Raises NegativeCycleError, with vertices by position, where there is such a cycle.
    """
    left = dict.fromkeys(pieces)

    def done(piece: Piece, receipt: Receipt) -> None:
        record(piece, receipt)
        del left[piece]

    for _ in range(_RESTARTS):
        run = _Run(client, shared, work, cluster, report)
        try:
            if work.devices.form.method == "tiled":  # else sums could wrap
                with suppress(CycleFoundError):
                    run.finish(run.close(checkpoints), list(left), done)
                    break
                run.wait([run.submit("search", find_cycle, shared, work)])
            run.search(list(left), done)  # the cycle is one of rounding
            break
        except WorkersLostError:
            cluster = measure_cluster(client, work.devices)
        except NoGraphError:
            with asking("the workers do not say whether they have the graph"):
                found = client.run(has_graph, shared, on_error="return")
            send_graph(client, shared, [worker for worker, has in found.items() if has is False])
            cluster = measure_cluster(client, work.devices)
        finally:
            run.cancel()
    else:
        raise ClusterError(
            "the cluster keeps losing workers; finished rounds are kept, and the same call resumes"
        )
    checkpoints.remove()


class _Run(TaskRun):
    """The tasks of a closure, from a checkpoint or from the graph on."""

    def __init__(
        self,
        client: Any,
        shared: SharedGraph,
        work: TileWork,
        cluster: Cluster,
        report: Report | None,
    ) -> None:
        super().__init__(client, cluster, work.work.plan.problem)
        self._shared, self._work = shared, work
        self._report, self._done = report, 0

    def count(self, tasks: int) -> None:
        """Report that so many more tasks are done."""
        self._done += tasks
        if tasks and self._report is not None:
            grid = self._work.grid
            self._report(self._done, grid.rounds * grid.tiles**2)

    # ---- rounds -----------------------------------------------------------------------------

    def close(self, checkpoints: Checkpoints) -> Tiles:
        """Return the tiles after all rounds."""
        count, last = self._work.grid.rounds, checkpoints.last
        begin = 0 if last is None else last.rounds
        tiles = self._fill() if last is None else self._load(last)
        self._done = begin * self._work.grid.tiles**2
        began, cost = time.monotonic(), 0.0
        before: list[Any] = []
        for k in range(begin, count):
            following = self._round(k, tiles)
            tiles = following  # the client lets go of the tiles before
            self.wait(before)
            before = list(following.values())
            interval = max(CHECKPOINT_SECONDS, _CHECKPOINT_TIMES * cost)
            if k + 1 < count and time.monotonic() - began >= interval:
                self.wait(before)
                began = time.monotonic()
                last = self._keep(checkpoints, k + 1, tiles)
                tiles = following = {}
                tiles = self._load(last)
                cost = time.monotonic() - began
        self.wait(before)
        return tiles

    def _round(self, k: int, tiles: Tiles) -> Tiles:
        """Submit a round; return the tiles after it."""
        grid, count = self._work.grid, range(self._work.grid.tiles)
        own, following = grid.round(k)[0], grid.round(min(k + 1, grid.rounds - 1))[0]
        # What the next round begins with comes before the rest, and its preparation before both.
        rank, name, work = -10 * k, f"round {k} tile", self._work
        column = [(i, own) for i in count]
        columns = self.map(
            "column", take_round_column, column, name, rank + 15,
            count, [tiles[at] for at in column], k=k, work=work,
        )  # fmt: skip
        panel = [(own, j) for j in count]
        panels = self.map(
            "panel", relax_round_panel, panel, name, rank + 14,
            count, [tiles[at] for at in panel], [columns[own, own] for _ in panel], k=k, work=work,
        )  # fmt: skip
        found: Tiles = {}
        for first in (3, 2, 1, 0):
            part = [(i, j) for i, j in tiles if 2 * (i == following) + (j == following) == first]
            found |= self.map(
                "relax", relax_round_tile, part, name, rank + first,
                [i for i, _ in part], [tiles[at] for at in part],
                [columns[i, own] for i, _ in part], [panels[own, j] for _, j in part],
                k=k, work=work,
            )  # fmt: skip
        return found

    # ---- checkpoints --------------------------------------------------------------------------

    def _fill(self) -> Tiles:
        places = self._places()
        return self.map(
            "arcs", fill_tile, places, "tile", 0, *zip(*places, strict=True),
            shared=self._shared, work=self._work, retries=_RETRIES,
        )  # fmt: skip

    def _load(self, checkpoint: Checkpoint) -> Tiles:
        places = self._places()
        name = f"after round {checkpoint.rounds - 1} tile"
        return self.map(
            "load", load_tile, places, name, 0, *zip(*places, strict=True),
            checkpoint=checkpoint, retries=_RETRIES,
        )  # fmt: skip

    def _places(self) -> list[tuple[int, int]]:
        count = range(self._work.grid.tiles)
        return [(i, j) for i in count for j in count]

    def _keep(self, checkpoints: Checkpoints, rounds: int, tiles: Tiles) -> Checkpoint:
        """Write a checkpoint; it counts when this returns."""
        checkpoint = checkpoints.start(rounds)
        kept = self.map(
            "checkpoint", keep_tile, list(tiles), f"round {rounds - 1} tile", 0,
            *zip(*tiles, strict=True), list(tiles.values()), checkpoint=checkpoint,
            retries=_RETRIES,
        )  # fmt: skip
        self.wait(list(kept.values()), counted=False)
        checkpoints.record(checkpoint)
        return checkpoint

    # ---- the answer -----------------------------------------------------------------------------

    def finish(self, tiles: Tiles, pieces: list[Piece], record: Record) -> None:
        """Write some rows, if no cycle shows."""
        diagonal = [at for at in tiles if at[0] == at[1]]
        checked = self.map(
            "cycles", check_diagonal, diagonal, "tile", 0, [tiles[at] for at in diagonal],
            work=self._work,
        )  # fmt: skip
        self.wait(list(checked.values()), counted=False)
        columns = range(self._work.grid.tiles)
        rows = {
            piece: self.submit(
                "rows", finish_band, piece, [tiles[piece.index, j] for j in columns], self._shared,
                self._work, name=f"{piece.first}-{piece.stop - 1}",
                place=self._cluster.slots[piece.index % len(self._cluster.slots)], retries=_RETRIES,
            )
            for piece in pieces
        }  # fmt: skip
        tiles.clear()
        self._record(rows, record)

    def search(self, pieces: list[Piece], record: Record) -> None:
        """Search for some rows."""
        rows = {
            piece: self.submit(
                "search rows", search_band, piece, self._shared, self._work,
                name=f"{piece.first}-{piece.stop - 1}", retries=_RETRIES,
            )
            for piece in pieces
        }  # fmt: skip
        self._record(rows, record)

    def _record(self, rows: dict[Piece, Any], record: Record) -> None:
        while rows:
            done = [piece for piece, future in rows.items() if is_done(future)]
            for piece in done:
                record(piece, rows.pop(piece).result())
            if not done:
                self.pause()
