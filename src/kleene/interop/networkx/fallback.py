"""Refusals of generator functions.

NetworkX's dispatcher tries the next backend when a function raises NotImplementedError. A generator
function raises only when its caller asks for the first item, which is too late.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import wraps
from typing import Any

import networkx as nx

from kleene.interop.networkx.convert import convert_to_nx
from kleene.interop.networkx.graph import KleeneGraph

__all__ = ["with_fallback"]

Generator = Callable[..., Iterator[Any]]


def with_fallback(function: Generator) -> Generator:
    """Make a generator function run NetworkX's where the graph's weights are refused."""

    @wraps(function)
    def generator(G: KleeneGraph, *args: Any, **kwargs: Any) -> Iterator[Any]:
        items = function(G, *args, **kwargs)
        try:
            first = next(items)
        except NotImplementedError:
            theirs = getattr(nx, function.__name__)
            yield from theirs(convert_to_nx(G), *args, backend="networkx", **kwargs)
        except StopIteration:
            return
        else:
            yield first
            yield from items

    return generator
