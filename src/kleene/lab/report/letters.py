"""How much room words take, without a font at hand."""

from __future__ import annotations

__all__ = ["fitting", "text_width"]


def text_width(words: str, size: float) -> float:
    """Return about how many pixels wide words are in a font without serifs."""
    return 1.04 * size * sum(map(_width, words))


def fitting(words: str, size: float, room: float) -> str:
    """Return words that fit, cut in the middle: names of a family differ at their ends.

    >>> fitting("direction_optimizing, whole call", 11, 130)
    'direction_op…whole call'
    """
    if text_width(words, size) <= room:
        return words
    kept = len(words)
    while kept > 2 and text_width(_cut(words, kept), size) > room:
        kept -= 1
    return _cut(words, kept)


def _cut(words: str, kept: int) -> str:
    head, tail = words[: (kept + 1) // 2], words[len(words) - kept // 2 :]
    return f"{head.rstrip(' ,')}…{tail.lstrip(' ,')}"


def _width(letter: str) -> float:
    if letter in "ijl.,:;|!' ":
        return 0.28
    if letter in "ftrI()[]-/·":
        return 0.36
    if letter in "mwMW%—":
        return 0.86
    return 0.68 if letter.isupper() else 0.56
