"""The parts of the campaign, in the order in which they run and are reported."""

from __future__ import annotations

from torture.campaign import Part

PARTS: tuple[Part, ...] = (
    Part(
        "faults",
        "A call for which memory, a thread or the disk does not suffice ends in an error or does "
        "without; nothing crashes, hangs or leaks, and the same call succeeds afterwards.",
        "The k-th allocation fails, for k = 1, 2, ... until the call succeeds, in every method, "
        "native function, reader and writer, and on the emulated device; so do thread starts, "
        "write, fsync, mmap, fallocate, rename and read.",
    ),
)
