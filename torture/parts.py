"""The parts of the campaign, in the order in which they run and are reported."""

from __future__ import annotations

from torture.campaign import Part

PARTS: tuple[Part, ...] = (
    Part(
        "differential",
        "Every method on every device gives the right answer, and the same one; csgraph answers as "
        "SciPy does, and the NetworkX backend as NetworkX.",
        "Random graphs of all shapes and weights are solved by every method and compared with a "
        "simple solver and with verify(), then changed in ways with a known effect and solved "
        "again; failures are made smaller and printed with their seed.",
    ),
)
