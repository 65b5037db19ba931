"""Prefault large pageable arrays while the device computes.

The system maps the pages of a new array when they are first written. Page faults during a copy
from the device take several times as long as the copy itself. Host threads touch the pages while
the device searches. Answers in page-locked memory (``host_buffers``) do not need it.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import numpy as np

from kleene.backends.cuda.runtime.interface import HostArray
from kleene.backends.cuda.tuning import transfers
from kleene.system.threads import ThreadPool

__all__ = ["prefault"]


@contextmanager
def prefault(threads: int, *arrays: HostArray | None) -> Iterator[None]:
    """Touch all pages of contiguous arrays while the block runs; their contents are lost."""
    new = [array for array in arrays if array is not None]
    if sum(array.nbytes for array in new) < transfers.PREFAULT_LEAST:
        yield
        return
    with ThreadPool(min(threads, transfers.PREFAULT_THREADS)) as pool:
        for array in new:
            whole = array.reshape(-1).view(np.uint8)
            for first in range(0, whole.size, transfers.PREFAULT_PIECE):
                pool.submit(_touch_pages, whole[first : first + transfers.PREFAULT_PIECE])
        yield


def _touch_pages(piece: HostArray) -> None:
    piece[:: transfers.PAGE] = 0
