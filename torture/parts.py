"""The parts of the campaign, in the order in which they run and are reported."""

from __future__ import annotations

from torture.campaign import Part

PARTS: tuple[Part, ...] = (
    Part(
        "fuzz",
        "A damaged or hostile file gives a graph or a KleeneError, and a saved result that is "
        "proved right is right.",
        "Coverage-guided fuzzing of every text parser, reader and Result.load, from a corpus that "
        "is kept; text is parsed whole and in small pieces, and must give the same.",
    ),
)
