"""How a matrix larger than the device memory is split into bands of rows, and their order.

``closure_streamed`` explains the rounds; here are the sizes of bands and panels, and the visits of
bands to the device.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from kleene.backends.cuda.closure_layout import BLOCK, TileLayout
from kleene.backends.cuda.runtime.interface import ceil_div
from kleene.backends.cuda.tuning import closure as tuning

__all__ = ["BandSplit", "Visit"]


class Visit(NamedTuple):
    """A visit of a band to the device: it joins the panel, leaves it, or passes through."""

    kind: str
    band: int
    first: int  # first band of the panel

    @property
    def enters(self) -> bool:
        """Whether it is copied from the host."""
        return self.kind != "leave"

    @property
    def leaves(self) -> bool:
        """Whether it is copied to the host."""
        return self.kind != "join"


class BandSplit(NamedTuple):
    """How a matrix is split into bands."""

    height: int  # rows of a band
    bands: int
    panel: int  # bands of a panel
    buffers: int  # for bands in transit

    @classmethod
    def fit(cls, layout: TileLayout, memory: int) -> BandSplit | None:
        """Return the split for so many bytes of device memory; None if they are too few.

        >>> from numpy import dtype
        >>> kind = dtype("f4")
        >>> layout = TileLayout("KL_MIN_PLUS_LENGTH", kind, kind, 1, 32768, False, False)
        >>> BandSplit.fit(layout, 2**30)
        BandSplit(height=256, bands=128, panel=26, buffers=4)
        """
        item = layout.word.itemsize
        row = layout.words * (item + (4 if layout.paths else 0))
        memory -= BLOCK * BLOCK * item + 2**12
        enough = ceil_div(tuning.BAND_TILES, layout.tile_columns)
        blocks = max(1, min(enough, memory // (16 * BLOCK * row), layout.rows // BLOCK))
        height = blocks * BLOCK
        for buffers, least in ((4, 8), (3, 4), (2, 1)):
            # Each band of the panel also needs two copies of its columns in another band.
            panel = (memory - buffers * height * row) // (height * (row + 2 * height * item))
            if panel >= least:
                bands = ceil_div(layout.rows, height)
                return cls(height, bands, ceil_div(bands, ceil_div(bands, panel)), buffers)
        return None

    def visits(self) -> Iterator[Visit]:
        """Yield all visits in order."""
        for first in range(0, self.bands, self.panel):
            yield from self.round_visits(first)

    def round_visits(self, first: int) -> Iterator[Visit]:
        """Yield the visits of the round whose panel begins with this band."""
        panel = range(first, min(first + self.panel, self.bands))
        yield from (Visit("join", band, first) for band in panel)
        # The next panel passes first, and is back on the host when its round begins. Bands that
        # leave need no computation: they go between bands that do.
        others = [*range(panel.stop, self.bands), *range(first)]
        left = 0
        for passed, band in enumerate(others, 1):
            yield Visit("pass", band, first)
            due = passed * len(panel) // len(others)
            yield from (Visit("leave", band, first) for band in panel[left:due])
            left = due
        yield from (Visit("leave", band, first) for band in panel[left:])
