"""Arrays of other libraries: to NumPy, and back to where they came from.

DLPack carries memory between libraries without a copy; PyTorch, CuPy, JAX and others speak it. None
of them is imported here: an array that comes in has brought its library along.
"""

from __future__ import annotations

import sys
from typing import Any

import numpy as np
from numpy.typing import NDArray

__all__ = ["give_back", "is_foreign", "to_numpy"]

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


def give_back(result: Array, model: Any) -> Any:
    """Return a NumPy array as an array of the library, and on the device, of ``model``."""
    if not is_foreign(model):
        return result
    library: Any = sys.modules.get(type(model).__module__.partition(".")[0])
    if hasattr(model, "__array_namespace__"):
        library = model.__array_namespace__()
    if _on_host(model):
        return library.from_dlpack(result) if hasattr(library, "from_dlpack") else result
    made = library.asarray(result)
    return made.to(model.device) if hasattr(made, "to") else made
