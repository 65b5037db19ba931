"""The rate of relaxations that a device's arithmetic allows, to compare dense methods with."""

from __future__ import annotations

from typing import Any

import numpy as np

from kleene.errors import Code, RequestError
from kleene.system.machine import as_threads, cores
from kleene.system.suggestions import no_such

__all__ = ["relaxation_ceiling"]


def relaxation_ceiling(
    semiring: str,
    dtype: Any,
    *,
    predecessors: bool = False,
    nonnegative: bool = True,
    device: str = "cpu",
    threads: int | None = None,
    seconds: float = 0.1,
) -> float:
    """Return relaxations per second of a dense method's inner loop, the ceiling of a device.

    Operands are in the nearest cache of a CPU, in registers of a GPU, so that nothing but
    arithmetic is measured. A method cannot be faster.

    Parameters
    ----------
    semiring : {"min_plus", "max_min", "max_times", "boolean"}
    dtype : dtype or str
        In which the method computes: float32, float64, int16, int32, int64; bool for bits.
    predecessors : bool
        Whether predecessors are kept; on a CPU only.
    nonnegative : bool
        Whether no weight is negative, which float32 on a GPU makes use of.
    device : {"cpu", "cuda", "emulated"}
    threads : int, optional
        Of the CPU; all cores unless given.
    seconds : float
        About how long to measure.

    Examples
    --------
    >>> from kleene.api import relaxation_ceiling
    >>> relaxation_ceiling("min_plus", "float32", threads=1, seconds=0.01) > 1e6
    True
    """
    kind = np.dtype(dtype)
    if device == "cpu":
        from kleene.backends.cpu.closure_ceiling import measure_ceiling

        count = as_threads(threads) or cores()
        return measure_ceiling(semiring, kind.name, predecessors, count, seconds)
    if device not in ("cuda", "emulated"):
        raise RequestError(no_such("device", device, ("cpu", "cuda", "emulated")), option="device")
    if predecessors:
        raise RequestError(
            Code("predecessors=True"), " has a ceiling on ", Code("device='cpu'"), " only"
        )
    from kleene.backends.cuda.closure_ceiling import measure_ceiling as on_gpu

    return on_gpu(device, semiring, kind, nonnegative, seconds)
