"""How long a call took."""

from __future__ import annotations

from dataclasses import dataclass

__all__ = ["Timings"]


@dataclass(frozen=True)
class Timings:
    """Seconds spent on a call, and on its parts.

    On a GPU the parts are timed by its own clock; a search of a small graph, with its copies, by
    the host's. Where several GPUs share a call, a part is that of the GPU where it took longest.
    They may overlap, and what is left of the total is memory taken and given back, or spent on the
    host.
    """

    copy_in: float = 0.0  # to the GPU
    compute: float = 0.0
    copy_out: float = 0.0  # from the GPU
    total: float = 0.0  # from the first array touched to the answer
