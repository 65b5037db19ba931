"""Arrays of other libraries: to NumPy, and back to where they came from.

DLPack carries memory between libraries without a copy; PyTorch, CuPy, JAX and others speak it. None
of them is imported here: an array that comes in has brought its library along.
"""

from __future__ import annotations

import sys
from typing import Any

import numpy as np
from numpy.typing import NDArray

__all__ = ["is_foreign", "to_library", "to_numpy"]

Array = NDArray[Any]

#: Kinds of memory, in DLPack's numbers, that the CPU reads as its own: plain and pinned.
_HOST_MEMORY = (1, 3)


def is_foreign(value: Any) -> bool:
    """Return whether this is an array of another library than NumPy."""
    return hasattr(value, "__dlpack__") and not isinstance(value, (np.ndarray, np.generic))


def _on_host(array: Any) -> bool:
    return int(array.__dlpack_device__()[0]) in _HOST_MEMORY


def to_numpy(value: Any) -> Any:
    """Return an array of any library as one of NumPy, without a copy if it is in host memory.

    Whatever is no array of another library is returned as it is.
    """
    if not is_foreign(value):
        return value
    array = value.detach() if hasattr(value, "detach") else value  # PyTorch's gradients stay there
    if _on_host(array):
        return np.from_dlpack(array)
    for download in ("get", "cpu"):  # CuPy's name for it, and PyTorch's
        if hasattr(array, download):
            return np.asarray(getattr(array, download)())
    return np.asarray(array)


def to_library(array: Array, like: Any) -> Any:
    """Return a NumPy array as an array of the library, and on the device, of ``like``."""
    if not is_foreign(like):
        return array
    library: Any = sys.modules.get(type(like).__module__.partition(".")[0])
    if hasattr(like, "__array_namespace__"):
        library = like.__array_namespace__()
    if _on_host(like):
        return library.from_dlpack(array) if hasattr(library, "from_dlpack") else array
    made = library.asarray(array)
    return made.to(like.device) if hasattr(made, "to") else made
