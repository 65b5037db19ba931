"""Square tiles of a matrix: which there are, which worker has which, and how large they should be.

Tile (i, j) has the rows of the i-th range of vertices and the columns of the j-th. Tiles are dealt
to the workers in a grid, cyclically, as in ScaLAPACK: all workers have a part of every round, and
a worker needs the tiles of one row and one column of the grid from others. The grid is as square
as the number of workers allows, and not higher than wide: the workers of a row of tiles share the
step that all others wait for. A round takes all tiles through some vertices of one range.

The side of a tile is a compromise. A task costs Dask's scheduler about a millisecond, whatever it
does, and the scheduler is one process: small tiles keep workers waiting for it. Large tiles leave
workers idle when there are few of them, and cost more when a worker is lost. The number of vertices
of a round is a compromise, too: a task copies its tile, which costs less with many; what is done
before other workers begin costs less with few.
"""

from __future__ import annotations

from collections.abc import Iterator
from math import ceil, isqrt
from typing import NamedTuple

__all__ = ["TILE_STEP", "Cluster", "Layout", "TileGrid", "choose_layout"]

#: Sides are multiples of this: columns of booleans are packed into words of 64 bits.
TILE_STEP = 64

#: Seconds of the scheduler for a task, and the part of the time that it may take. A LocalCluster of
#: two processes on two EPYC cores ran 1,000 tasks of no work in 2.1 s.
TASK_SECONDS, _SCHEDULER_PART = 2e-3, 0.05

#: Seconds that a task should take at most: what is lost with a worker, and what one waits for.
_LONGEST = 2.0

#: Bytes a second between workers: assumed, as of a 10-gigabit network. Of a tile that is copied:
#: into new memory, on one EPYC core.
_TRANSFER, _COPY = 1e9, 6e9

#: Rows of tiles, at most: a round has their square of tasks. Rounds for a row of tiles, at most.
_MOST_TILES, _MOST_PARTS = 96, 32

#: The part of a worker's memory that tiles may take: Dask writes data to disk above 60 %.
_MEMORY_PART = 0.55

#: Tiles beside those that stay: a new one, and an old one that is not forgotten yet. Rounds whose
#: columns and panels are there. At the end rows of tiles are brought together: as they are, side by
#: side, and as users see them.
_NEW_TILES, _ROUNDS, _BANDS = 2, 2, 3


class TileGrid(NamedTuple):
    """The tiles of a matrix of n vertices, and the rounds that close it.

    >>> grid = TileGrid(300, 128, 64)
    >>> grid.tiles, grid.rounds, grid.vertices(2), grid.round(1), grid.round(4)
    (3, 5, range(256, 300), (0, range(64, 128)), (2, range(0, 44)))
    """

    n: int
    side: int
    depth: int  # vertices of a round, at most

    @property
    def tiles(self) -> int:
        """How many rows of tiles there are."""
        return -(-self.n // self.side)

    def vertices(self, i: int) -> range:
        """Return the vertices of the i-th row or column of tiles."""
        return range(i * self.side, min((i + 1) * self.side, self.n))

    @property
    def rounds(self) -> int:
        """How many rounds there are."""
        whole, left = divmod(self.n, self.side)
        return whole * self._parts + -(-left // self.depth)

    @property
    def _parts(self) -> int:
        """Rounds of the vertices of a whole tile."""
        return -(-self.side // self.depth)

    def round(self, k: int) -> tuple[int, range]:
        """Return the row of tiles whose vertices round k takes, and which of them it takes."""
        i, part = divmod(k, self._parts)
        first = part * self.depth
        return i, range(first, min(first + self.depth, len(self.vertices(i))))


class Cluster(NamedTuple):
    """What the side of a tile depends on: workers, their memory and their speed."""

    slots: tuple[str, ...]  # the address of a worker for each task that it runs at once
    memory: int | None  # bytes of the worker with the least for each of its slots; None: no limit
    rate: float  # relaxations a second of the slowest slot

    @property
    def shape(self) -> tuple[int, int]:
        """Rows and columns of the grid of slots."""
        rows = next(r for r in range(isqrt(len(self.slots)), 0, -1) if len(self.slots) % r == 0)
        return rows, len(self.slots) // rows

    def owner(self, i: int, j: int) -> str:
        """Return the worker that a tile belongs to."""
        rows, columns = self.shape
        return self.slots[i % rows * columns + j % columns]


class Layout(NamedTuple):
    """A choice of tiles, and what to expect of it."""

    grid: TileGrid
    seconds: float
    scheduler: float  # seconds of these that the scheduler works
    moved: int  # bytes between workers, about
    task: float  # seconds of a task

    @property
    def tasks(self) -> int:
        """How many tasks the rounds have."""
        return self.grid.rounds * self.grid.tiles * (self.grid.tiles + 2)


def choose_layout(
    n: int, pair_bytes: float, cluster: Cluster, grid: TileGrid | None = None
) -> Layout | None:
    """Return the fastest tiles for which the scheduler takes a small part of the time.

    None if the matrix does not fit into the memory of the workers. A ``grid`` that is given is
    taken, as when a run is resumed.

    >>> two = Cluster(("a", "b"), 4 * 2**30, 40e9)
    >>> layout = choose_layout(8192, 4, two)
    >>> layout.grid.side, layout.grid.depth, layout.scheduler < 0.05 * layout.seconds
    (4096, 832, True)
    """
    grids = {grid} if grid is not None else set(_grids(n))
    layouts = [_expect(grid, pair_bytes, cluster) for grid in sorted(grids)]
    fitting = [layout for layout in layouts if _fits(layout.grid, pair_bytes, cluster)]
    light = [layout for layout in fitting if _is_light(layout)]
    # Where none is large enough for the scheduler, the largest is best: one, if it fits.
    heaviest = max(fitting, key=lambda layout: layout.grid[1:], default=None)
    return min(light, key=_rank, default=heaviest)


def _rank(layout: Layout) -> tuple[bool, float]:
    """Short tasks first; the scheduler may share a core with a worker."""
    return layout.task > _LONGEST, layout.seconds + layout.scheduler


def _grids(n: int) -> Iterator[TileGrid]:
    for count in range(1, min(_MOST_TILES, -(-n // TILE_STEP)) + 1):
        side = _steps(ceil(n / count))
        for parts in range(1, _MOST_PARTS + 1 if count > 1 else 2):
            yield TileGrid(n, side, _steps(ceil(side / parts)))


def _steps(vertices: int) -> int:
    return max(1, -(-vertices // TILE_STEP)) * TILE_STEP


def _is_light(layout: Layout) -> bool:
    return layout.scheduler <= _SCHEDULER_PART * layout.seconds


def _expect(grid: TileGrid, pair_bytes: float, cluster: Cluster) -> Layout:
    count, (rows, columns) = grid.tiles, cluster.shape
    side = grid.n / count  # of a tile in the mean; the last ones are smaller
    depth = grid.n / grid.rounds
    if count == 1:
        return Layout(grid, side**3 / cluster.rate, TASK_SECONDS, 0, side**3 / cluster.rate)
    task = side**2 * (depth / cluster.rate + pair_bytes / _COPY)
    # The worker with the most tiles, and one that closes the diagonal. It sends its columns while
    # others have tiles of the round before, by half or so.
    share = ceil(count / rows) * ceil(count / columns)
    sent = depth * side * pair_bytes / _TRANSFER + 3 * TASK_SECONDS
    turn = share * task + depth**3 / cluster.rate + max(0, sent - (share - 1) * task / 2)
    moved = round(grid.n**2 * pair_bytes * (rows + columns - 2))
    layout = Layout(grid, grid.rounds * turn, 0, moved, task)
    return layout._replace(scheduler=layout.tasks * TASK_SECONDS)


def _fits(grid: TileGrid, pair_bytes: float, cluster: Cluster) -> bool:
    if cluster.memory is None:
        return True
    count, (rows, columns) = grid.tiles, cluster.shape
    high, wide = ceil(count / rows), ceil(count / columns)
    factors = _ROUNDS * (high + wide) * grid.depth / grid.side if count > 1 else 1
    tiles = high * wide + max(_NEW_TILES + factors, _BANDS * count)
    return tiles * grid.side**2 * pair_bytes <= _MEMORY_PART * cluster.memory
