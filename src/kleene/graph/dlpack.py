"""Conversion of arrays of other libraries to NumPy, and back.

DLPack shares memory between libraries without a copy; PyTorch, CuPy, JAX and others support it. No
library is imported here: the library of an existing array is imported already.
"""

from __future__ import annotations

import sys
from typing import Any

import numpy as np
from numpy.typing import NDArray

from kleene.graph.foreign_columns import as_numpy, require_plain

__all__ = ["is_foreign", "library_of", "on_gpu", "to_library", "to_numpy"]

Array = NDArray[Any]

_OF_NUMPY = (np.ndarray, np.generic)

#: DLPack's device types of host memory: pageable and pinned.
_HOST_MEMORY = (1, 3)


def is_foreign(value: Any) -> bool:
    """Return whether this is an array of a library other than NumPy; a column is not one."""
    column = type(value).__module__.startswith("pyarrow.")
    return hasattr(value, "__dlpack__") and not (column or isinstance(value, _OF_NUMPY))


def _on_host(array: Any) -> bool:
    return int(array.__dlpack_device__()[0]) in _HOST_MEMORY


def on_gpu(value: Any) -> bool:
    """Return whether this is an array in the memory of a GPU."""
    require_plain(value, "the array")
    return hasattr(value, "__cuda_array_interface__")


def library_of(array: Any) -> Any:
    """Return the library of an array as a module, or None."""
    if hasattr(array, "__array_namespace__"):
        return array.__array_namespace__()
    return sys.modules.get(type(array).__module__.partition(".")[0])


def to_numpy(value: Any) -> Any:
    """Return an array or column of any library as a NumPy array, without a copy where possible.

    Anything else is returned unchanged.
    """
    array = as_numpy(value, "the array")
    if not is_foreign(array):
        return array
    if _on_host(array):
        return np.from_dlpack(array)
    for download in ("get", "cpu"):  # CuPy, PyTorch
        if hasattr(array, download):
            return np.asarray(getattr(array, download)())
    return np.asarray(array)


def to_library(array: Array, like: Any) -> Any:
    """Return a NumPy array as an array of the library, and on the device, of ``like``."""
    if not is_foreign(like):
        return array
    library = library_of(like)
    if _on_host(like):
        return library.from_dlpack(array) if hasattr(library, "from_dlpack") else array
    result = library.asarray(array)
    return result.to(like.device) if hasattr(result, "to") else result
