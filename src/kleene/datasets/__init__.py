"""Example graphs that come with Kleene."""

from __future__ import annotations

from importlib.resources import as_file, files

from kleene.graph import Graph
from kleene.io import read

__all__ = ["rome"]


def rome() -> Graph:
    """Return the road network of Rome in 1999; weights are lengths in metres.

    Junctions are labelled 1 to 3353, as in the file.

    From the 9th DIMACS Implementation Challenge, contributed by Gianni Storchi, Paolo Dell'Olmo
    and Monica Gentili.

    Examples
    --------
    >>> import kleene as kl
    >>> g = kl.datasets.rome()
    >>> g.n, g.m, g.labels[:3].tolist()
    (3353, 8859, [1, 2, 3])
    """
    with as_file(files("kleene") / "datasets" / "rome99.gr") as path:
        return read(path)


def __dir__() -> list[str]:
    return __all__
