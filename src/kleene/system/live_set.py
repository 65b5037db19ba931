"""A set of objects as long as they live, which any thread may read and add to at any moment.

A ``WeakSet`` raises RuntimeError where one thread reads it while another one adds to it, and Ctrl-C
while it is read makes it keep what is dead forever. Here each step is one operation of a dict.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Generic, TypeVar
from weakref import ReferenceType, ref

__all__ = ["LiveSet"]

Item = TypeVar("Item")


class LiveSet(Generic[Item]):
    """Objects that are compared by identity; a reading is of those that are there at its start.

    >>> class Town: ...
    >>> towns, rome = LiveSet(), Town()
    >>> towns.add(rome)
    >>> towns.add(Town())
    >>> [town is rome for town in towns]
    [True]
    """

    def __init__(self) -> None:
        self._refs: dict[int, ReferenceType[Item]] = {}  # by id: not every object has a hash

    def add(self, item: Item) -> None:
        """Add an object, which goes from the set when it ends."""
        refs, key = self._refs, id(item)
        refs[key] = ref(item, lambda _: refs.pop(key, None))  # before another object has the id

    def __iter__(self) -> Iterator[Item]:
        found = [each() for each in self._refs.copy().values()]
        return iter([item for item in found if item is not None])
