"""Prefault large output arrays while the device computes.

The system maps the pages of a new array when they are first written. Page faults during a copy
from the device take several times as long as the copy itself. Host threads touch the pages while
the device searches: 67 MB leave an H200 in 13 ms instead of 49.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import numpy as np

from kleene.backends.cuda.runtime.device import HostArray
from kleene.system.threads import ThreadPool

__all__ = ["prefault"]

_WORTH = 2**25  # bytes in all; smaller arrays usually reuse mapped memory
_PIECE, _PAGE = 2**21, 2**12
_THREADS = 4  # at most; more are not faster


@contextmanager
def prefault(threads: int, *arrays: HostArray | None) -> Iterator[None]:
    """Touch all pages of contiguous arrays while the block runs; their contents are lost."""
    new = [array for array in arrays if array is not None]
    if sum(array.nbytes for array in new) < _WORTH:
        yield
        return
    with ThreadPool(min(threads, _THREADS), "kleene-prefault") as pool:
        for array in new:
            whole = array.reshape(-1).view(np.uint8)
            for first in range(0, whole.size, _PIECE):
                pool.submit(_touch_pages, whole[first : first + _PIECE])
        yield


def _touch_pages(piece: HostArray) -> None:
    piece[::_PAGE] = 0
