"""The parts of the campaign, in the order in which they run and are reported."""

from __future__ import annotations

from torture.campaign import Part

PARTS: tuple[Part, ...] = ()
