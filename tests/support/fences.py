"""Memory whose ends may not be overstepped."""

from __future__ import annotations

import ctypes
import mmap
import sys
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

PAGE = mmap.PAGESIZE


def fenced(array: NDArray[Any], *, at_the_end: bool = True) -> NDArray[Any]:
    """Return a copy at one end of pages whose neighbours may not be read."""
    if sys.platform == "win32":
        pytest.skip("pages are protected by mprotect")
    inside = -(-array.nbytes // PAGE) * PAGE
    pages = np.frombuffer(mmap.mmap(-1, inside + 2 * PAGE), np.uint8)
    for page in (0, PAGE + inside):
        address = ctypes.c_void_p(pages.ctypes.data + page)
        assert ctypes.CDLL(None).mprotect(address, ctypes.c_size_t(PAGE), 0) == 0
    begin = PAGE + (inside - array.nbytes if at_the_end else 0)
    copy = pages[begin : begin + array.nbytes].view(array.dtype).reshape(array.shape)
    copy[...] = array
    return copy
