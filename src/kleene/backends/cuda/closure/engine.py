"""The rounds of the tiled closure of a matrix that is on one or several devices.

The kernels are in ``kernels/closure/closure_tiled.cu``. A round eliminates some blocks of vertices,
on two streams. The urgent one computes the tiles that the next round starts with, then prepares
that round (its columns, diagonal blocks and rows). The other computes the rest, almost all of the
work, and waits only for that preparation.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace

from kleene.backends.cuda.closure.bands import DeviceBand, make_bands, note_rows, share_rows
from kleene.backends.cuda.closure.kernels import TileLayout
from kleene.backends.cuda.runtime.interface import Device, Event, HostArray
from kleene.backends.cuda.tuning import closure as tuning
from kleene.backends.task import Progress, Task
from kleene.system.threads import for_each

__all__ = ["TiledClosure"]


class TiledClosure:
    """A matrix on one or several devices, and the rounds that close it."""

    def __init__(self, devices: Sequence[Device], layout: TileLayout) -> None:
        self.layout = layout
        self.bands = make_bands(devices, layout)
        self.device, self.kernels = self.bands[0].device, self.bands[0].kernels
        self._rounds = layout.rounds()  # the vertices of each

    # ---- copies ---------------------------------------------------------------------------------

    def upload(self, task: Task, matrix: HostArray, predecessors: HostArray | None) -> None:
        """Copy matrix and predecessors to the devices."""
        share = self._share(task)
        self._each_band("copy_in", lambda band: band.upload(share, matrix, predecessors))

    def download(self, task: Task, matrix: HostArray, predecessors: HostArray | None) -> None:
        """Copy matrix and predecessors to the host."""
        share = self._share(task)
        self._each_band("copy_out", lambda band: band.download(share, matrix, predecessors))

    def _share(self, task: Task) -> Task:
        """Return the task with the threads that each band may use."""
        return replace(task, threads=max(1, task.threads // len(self.bands)))

    def _each_band(self, part: str, copy: Callable[[DeviceBand], None]) -> None:
        """Copy all bands at once, each in a thread."""
        if len(self.bands) == 1:
            copy(self.bands[0])
            return
        with self.device.timer.host_span(part):
            for_each(copy, self.bands, len(self.bands))
            self._synchronize()

    def _synchronize(self) -> None:
        """Wait for all devices; the first one last, so that this thread uses it afterwards."""
        for band in reversed(self.bands):
            band.device.synchronize()

    # ---- rounds ---------------------------------------------------------------------------------

    def run(self, report: Progress) -> bool:
        """Close the matrix; False on a negative cycle, which leaves it unusable."""
        if len(self.bands) > 1:
            note_rows([(band.device, len(band.matrix_rows)) for band in self.bands])
        try:
            with self.device.timer.span("compute", self.device.main):
                return self._run(report)
        finally:
            if len(self.bands) > 1:  # after an error no device may use memory that is freed then
                self._synchronize()

    def _run(self, report: Progress) -> bool:
        rounds = len(self._rounds)
        done: deque[list[Event]] = deque()
        for completed, events in enumerate(self.launch_rounds(), 1 - tuning.ROUNDS_AHEAD):
            done.append(events)
            if len(done) > tuning.ROUNDS_AHEAD:  # Ctrl-C is handled here too
                for event in done.popleft():
                    event.synchronize()
                report(completed, rounds)
        if self.shows_cycle():
            return False
        report(rounds, rounds)
        return True

    def launch_rounds(self) -> Iterator[list[Event]]:
        """Launch round after round; yield the events after each. Nothing waits for the device."""
        bands = self.bands
        for band in bands:
            band.begin()
        self._prepare(0)
        for current, vertices in enumerate(self._rounds):
            last = current + 1 == len(self._rounds)
            following = None if last else self._rounds[current + 1]
            events = [band.multiply(current, vertices, following) for band in bands]
            if not last:
                self._prepare(current + 1)
            yield events
        for band in bands:
            band.end(self.device.main)

    def shows_cycle(self) -> bool:
        """Return whether the rounds met a negative cycle; waits for them."""
        return bool(self.device.download(self.kernels.cycle)[0])

    def _prepare(self, current: int) -> None:
        """Close the rows of a round over its vertices, and share them."""
        vertices = self._rounds[current]
        for band in self.bands:
            band.transpose(current, vertices)
            if band.owns(vertices):
                band.close_rows(current, vertices)
        if len(self.bands) > 1:
            share_rows(self.bands, current, vertices)
